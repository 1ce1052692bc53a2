"""The encoder layer of the classifier and the translators."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from common.attention import attention
from common.four_bits import reads


def sinusoids(length, d_model):
    """Returns the table [length, d_model] with PE[p, 2i] = sin(p / 10000^(2i/D)) and PE[p, 2i+1] = cos of the same."""
    position = torch.arange(length, dtype=torch.float64)[:, None]
    rate = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    table = torch.stack([torch.sin(position * rate), torch.cos(position * rate)], dim=-1)
    return table.reshape(length, d_model).float()


class SelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x):
        """Maps x [B, n, D], in the compute type, to [B, n, D]."""
        reads(x, self.q_proj, self.k_proj, self.v_proj)
        batch, length, d_model = x.shape
        d_head = d_model // self.n_heads
        scale = d_head**-0.5  # part of q's weights: cheaper than scaling the n x n scores
        weight = torch.cat([self.q_proj.weight * scale, self.k_proj.weight, self.v_proj.weight])
        bias = torch.cat([self.q_proj.bias * scale, self.k_proj.bias, self.v_proj.bias])
        qkv = F.linear(x, weight.to(x.dtype), bias.to(x.dtype))
        mixed = attention(qkv.view(batch, length, 3, self.n_heads, d_head))
        mixed = mixed.reshape(batch, length, d_model)
        return linear(self.out_proj, mixed)


def linear(layer, x):
    reads(x, layer)
    return F.linear(x, layer.weight.to(x.dtype), layer.bias.to(x.dtype))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, eps):
        super().__init__()
        self.self_attn = SelfAttention(d_model, n_heads)
        self.self_attn_layer_norm = nn.LayerNorm(d_model, eps=eps)
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.final_layer_norm = nn.LayerNorm(d_model, eps=eps)

    def forward(self, x, compute, drop=lambda update: update):
        x = x + drop(self.self_attn(self.self_attn_layer_norm(x).to(compute)))
        hidden = torch.relu(linear(self.fc1, self.final_layer_norm(x).to(compute)))
        return x + drop(linear(self.fc2, hidden))
