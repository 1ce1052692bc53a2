import torch
from torch.nn import functional as F

def masked_attention_weights(q, k):                       # q, k: [B, H, T, d_head]
    T = q.size(-2)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5  # [B, H, T, T]
    later = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    scores = scores.masked_fill(later, float('-inf'))     # e^(−∞) = 0
    return torch.softmax(scores, dim=-1)

def training_step(model, source, target, start_id):       # target: [B, T], ends with </s>
    start = torch.full_like(target[:, :1], start_id)
    shifted = torch.cat([start, target[:, :-1]], dim=1)   # shifted right by one
    logits = model(source, shifted)                       # [B, T, vocabulary], one pass
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())
