import torch
from torch.nn import functional as F

def full_mask(n):                                        # BERT, ViT, the encoder of T5
    return torch.ones(n, n, dtype=torch.bool)

def causal_mask(n):                                      # GPT, the decoder of T5
    return full_mask(n).tril()

def local_mask(n, window=32):                            # Longformer and others
    i = torch.arange(n)
    return (i[:, None] - i[None, :]).abs() <= window

def attention(q, k, v, mask):                            # q, k, v: [B, H, T, d_head]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)    # 2 T² d products

def linear_attention(q, k, v):                           # the order of the products is changed
    q, k = F.elu(q) + 1, F.elu(k) + 1
    state = k.transpose(-2, -1) @ v                      # [B, H, d_head, d_head], whatever T is
    norm = q @ k.sum(dim=-2).unsqueeze(-1)               # [B, H, T, 1]
    return q @ state / norm                              # 2 T d (d_head + 1)
