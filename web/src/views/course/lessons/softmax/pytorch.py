import math
import torch

def attention_weights(q, k):                        # q, k: [B, H, T, d_head]
    scores = q @ k.transpose(-2, -1)                # [B, H, T, T]
    scores = scores / math.sqrt(q.size(-1))         # d_head = 16, so ÷ 4
    return torch.softmax(scores, dim=-1)            # every row sums to 1
