import math
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model=128, n_heads=8):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)               # W_O

    def forward(self, x):                                    # x: [B, T, d_model]
        B, T, _ = x.shape
        split = lambda y: y.view(B, T, self.n_heads, self.d_head).transpose(1, 2)
        q, k, v = map(split, self.qkv(x).chunk(3, dim=-1))   # each [B, H, T, d_head]
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d_head), dim=-1)
        z = weights @ v                                      # [B, H, T, d_head]
        z = z.transpose(1, 2).reshape(B, T, -1)              # concatenated: [B, T, d_model]
        return self.out(z)
