import math
import torch
from torch import nn

class Head(nn.Module):                          # one head
    def __init__(self, d_model=128, d_head=16):
        super().__init__()
        self.q = nn.Linear(d_model, d_head)
        self.k = nn.Linear(d_model, d_head)
        self.v = nn.Linear(d_model, d_head)

    def forward(self, x):                       # x: [B, T, d_model]
        q, k, v = self.q(x), self.k(x), self.v(x)         # each [B, T, d_head]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # [B, T, T]
        weights = torch.softmax(scores, dim=-1)           # rows sum to 1
        return weights @ v                                # [B, T, d_head]
