import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)             # [max_len, 1]
        rate = torch.exp(torch.arange(0, d_model, 2) * -math.log(10000) / d_model)
        table = torch.zeros(max_len, d_model)
        table[:, 0::2] = torch.sin(position * rate)
        table[:, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)                      # not learned

    def forward(self, x):                                         # x: [B, T, d_model]
        return x + self.table[: x.size(1)]

# Learned instead: self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
