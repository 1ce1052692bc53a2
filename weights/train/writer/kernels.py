"""Parts of the writer's training step: GELU, causal attention, residual sums with norms, the loss of the next token. On
a CPU with a C++ compiler and with bfloat16, kernels.cpp computes them, which makes a step three times as fast.
Elsewhere PyTorch's operations compute them.
"""
import ctypes
from pathlib import Path

import torch
from torch.nn import functional as F

from common.compiled import build

LANES = 16
BLOCK = 256  # queries per block of attention: most scores of later keys are never computed
CHUNK = 512  # tokens whose logits are in memory at once
LIBRARY = None


def use_compiled():
    """Compiles kernels.cpp and turns it on. Returns whether that worked."""
    global LIBRARY
    LIBRARY = LIBRARY or build(Path(__file__).with_name("kernels.cpp"))
    return LIBRARY is not None


def fits(x):
    return LIBRARY and x.dtype == torch.bfloat16 and x.device.type == "cpu" and x.shape[-1] % LANES == 0


def call(name, *arguments):
    """Calls a function of kernels.cpp. Tensors are passed as addresses, numbers as 64-bit integers."""
    getattr(LIBRARY, name)(*(ctypes.c_void_p(a.data_ptr()) if torch.is_tensor(a) else ctypes.c_int64(a)
                             for a in arguments))


class CompiledGelu(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        out = torch.empty_like(x)
        call("gelu_forward", x, out, x.numel())
        return out

    @staticmethod
    def backward(context, grad):
        x, = context.saved_tensors
        out = torch.empty_like(x)
        call("gelu_backward", x, grad.contiguous(), out, x.numel())
        return out


def gelu(x):
    """Computes gelu_new: GELU with tanh."""
    return CompiledGelu.apply(x.contiguous()) if fits(x) else F.gelu(x, approximate="tanh")


class CompiledAttention(torch.autograd.Function):
    @staticmethod
    def forward(context, q, k, v):
        out, weights = torch.empty_like(v), []
        for start in range(0, q.shape[1], BLOCK):
            end = start + BLOCK
            scores = torch.bmm(q[:, start:end], k[:, :end].transpose(1, 2))
            call("causal_softmax", scores, *scores.shape)
            out[:, start:end] = torch.bmm(scores, v[:, :end])
            weights.append(scores)
        context.save_for_backward(q, k, v, *weights)
        return out

    @staticmethod
    def backward(context, grad):
        q, k, v, *weights = context.saved_tensors
        q_grad, k_grad, v_grad = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for start, p in zip(range(0, q.shape[1], BLOCK), weights):
            end = start + BLOCK
            own = grad[:, start:end].contiguous()
            v_grad[:, :end] += torch.bmm(p.transpose(1, 2), own)
            slopes = torch.bmm(own, v[:, :end].transpose(1, 2))
            call("causal_softmax_backward", p, slopes, *p.shape)
            q_grad[:, start:end] = torch.bmm(slopes, k[:, :end])
            k_grad[:, :end] += torch.bmm(slopes.transpose(1, 2), q[:, start:end])
        return q_grad, k_grad, v_grad


def attend(q, k, v):
    """Computes causal attention softmax(q k^T) v, all [B H, n, d]. q already contains the scale."""
    length = q.shape[1]
    if fits(q) and length % LANES == 0:
        return CompiledAttention.apply(q, k, v)
    ahead = torch.full((length, length), float("-inf"), dtype=q.dtype, device=q.device).triu(1)
    return torch.bmm(torch.softmax(torch.bmm(q, k.transpose(1, 2)) + ahead, dim=-1), v)


class CompiledAddNorm(torch.autograd.Function):
    @staticmethod
    def forward(context, x, added, gain, shift):
        total, normal, moments = torch.empty_like(x), torch.empty_like(added), torch.empty(*x.shape[:-1], 2)
        call("add_norm", x, added, gain, shift, total, normal, moments, moments.numel() // 2, x.shape[-1])
        context.save_for_backward(total, moments, gain)
        return total, normal

    @staticmethod
    def backward(context, grad, normal_grad):
        total, moments, gain = context.saved_tensors
        grad, added_grad = grad.clone(), torch.empty_like(normal_grad)
        gain_grad, shift_grad = torch.zeros_like(gain), torch.zeros_like(gain)
        call("add_norm_backward", total, moments, gain, normal_grad, grad, added_grad, gain_grad, shift_grad,
             moments.numel() // 2, gain.numel())
        return grad, added_grad, gain_grad, shift_grad


def add_norm(x, added, norm):
    """Returns (x + added, norm of that sum in the type of `added`). x is the residual stream [..., D]."""
    if fits(added) and norm.eps == 1e-5:
        return CompiledAddNorm.apply(x, added.contiguous(), norm.weight, norm.bias)
    total = x + added
    return total, norm(total).to(added.dtype)


def slopes_of(logits, targets):
    """Returns (softmax - onehot [N, V], the sum of -log p(target)) of logits [N, V], which it overwrites, and targets
    [N].
    """
    if fits(logits):
        losses = torch.empty(len(logits))
        call("loss_slopes", logits, targets.contiguous(), losses, *logits.shape)
        return logits, losses.sum()
    log_p = torch.log_softmax(logits.float(), dim=1)
    loss = -log_p.gather(1, targets[:, None]).sum()
    ones = torch.ones_like(log_p[:, :1])
    return log_p.exp_().scatter_add_(1, targets[:, None], -ones).to(logits.dtype), loss


class NextTokenLoss(torch.autograd.Function):
    """Computes the sum of -log p(target) of hidden [N, D], embedding [V, D], targets [N]. Forward also computes
    gradients.
    """

    @staticmethod
    def forward(context, hidden, embedding, targets):
        weight = embedding.to(hidden.dtype)
        hidden_grad, weight_grad, total = torch.empty_like(hidden), torch.zeros_like(embedding), 0.0
        for start in range(0, len(hidden), CHUNK):
            rows = slice(start, start + CHUNK)
            slopes, loss = slopes_of(hidden[rows] @ weight.T, targets[rows])
            total = total + loss
            hidden_grad[rows] = slopes @ weight
            weight_grad += slopes.T @ hidden[rows]
        context.save_for_backward(hidden_grad, weight_grad)
        return total

    @staticmethod
    def backward(context, grad):
        hidden_grad, weight_grad = context.saved_tensors
        return hidden_grad * grad, weight_grad * grad, None
