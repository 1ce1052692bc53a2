import torch
from torch import nn

class FeedForward(nn.Module):
    def __init__(self, d_model=128, d_ff=512):
        super().__init__()
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)

    def forward(self, x):                 # x: [B, T, d_model], each token by itself
        hidden = torch.relu(self.fc1(x))  # [B, T, d_ff], mostly zeros
        return self.fc2(hidden)           # [B, T, d_model]
