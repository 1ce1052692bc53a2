import math
import torch

def parts_of_row(parts, norm):                       # parts: [a, d_model], what was added to a row
    x = parts.sum(0)                                 # the row of the stream
    spread = x.std(unbiased=False)                   # frozen: that of this run
    centered = parts - parts.mean(-1, keepdim=True)
    return centered / spread * norm.weight           # norm.bias is a part of its own

def parts_of_score(query_parts, key_parts, w_q, w_k):
    q = query_parts @ w_q.T                          # [a, d_head]: each part of the query
    k = key_parts @ w_k.T                            # [b, d_head]: each part of the key
    return q @ k.T / math.sqrt(q.size(-1))           # [a, b]: sums to the score

def above_the_others(cells, weights, own):           # cells: [keys, a, b], weights: [keys]
    others = weights.clone()
    others[own] = 0                                  # softmax sees only differences
    return cells[own] - torch.einsum('k,kab->ab', others / others.sum(), cells)
