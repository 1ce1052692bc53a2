"""Attention for training. On a CPU with a C++ compiler, it uses attention.cpp, which takes a third of the time of
PyTorch's operations at 256 tokens. Elsewhere it uses PyTorch's operations.
"""
import ctypes
from pathlib import Path

import torch

from common.compiled import build

HEAD_SIZE = 16  # the only one that attention.cpp supports
TYPES = {torch.float32: "f32", torch.bfloat16: "bf16"}


LIBRARY = None


def use_compiled():
    """Turns attention.cpp on, and returns whether that worked."""
    global LIBRARY
    LIBRARY = LIBRARY or build(Path(__file__).with_name("attention.cpp"))
    return LIBRARY is not None


def compiled(direction, dtype):
    """Returns the function of attention.cpp for a direction ("forward", "backward") and a type."""
    return getattr(LIBRARY, f"attention_{direction}_{TYPES[dtype]}")


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class CompiledAttention(torch.autograd.Function):
    @staticmethod
    def forward(context, qkv):
        qkv = qkv.contiguous()
        batch, length, _, heads, d_head = qkv.shape
        out = qkv.new_empty(batch, length, heads, d_head)
        log_sums = torch.empty(batch, heads, length)
        compiled("forward", qkv.dtype)(pointer(qkv), batch, length, heads, pointer(out), pointer(log_sums))
        context.save_for_backward(qkv, out, log_sums)
        return out

    @staticmethod
    def backward(context, grad):
        qkv, out, log_sums = context.saved_tensors
        grad = grad.contiguous()
        batch, length, _, heads, _ = qkv.shape
        qkv_grad = torch.empty_like(qkv)
        compiled("backward", qkv.dtype)(pointer(qkv), pointer(out), pointer(grad), pointer(log_sums), batch,
                                        length, heads, pointer(qkv_grad))
        return qkv_grad


def attention(qkv):
    """Maps qkv [B, n, 3, H, d] to softmax(q k^T) v [B, n, H, d]. q already contains the scale 1 / sqrt(d)."""
    if LIBRARY and qkv.dtype in TYPES and qkv.device.type == "cpu" and qkv.shape[-1] == HEAD_SIZE:
        return CompiledAttention.apply(qkv)
    batch, length, _, heads, d_head = qkv.shape
    q, k, v = qkv.permute(2, 0, 3, 1, 4).reshape(3, batch * heads, length, d_head).unbind(0)
    mixed = torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1), v)
    return mixed.view(batch, heads, length, d_head).transpose(1, 2)
