import torch
from torch import nn

class Classifier(nn.Module):
    def __init__(self, embed, layers, d_model=128, n_labels=2):
        super().__init__()
        self.embed, self.layers = embed, nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.out = nn.Linear(d_model, n_labels)

    def forward(self, ids, pad_id=0):                     # ids: [B, T]
        mask = ids != pad_id                              # [B, T], True for real tokens
        x = self.embed(ids)                               # [B, T, d_model]
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])          # scores of padding become −∞
        x = self.norm(x)
        weight = mask.float()[:, :, None]                 # [B, T, 1]
        pooled = (x * weight).sum(1) / weight.sum(1)      # mean of the real tokens
        return self.out(pooled)                           # logits: [B, n_labels]
