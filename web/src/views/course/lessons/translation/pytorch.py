import math
import torch

def cross_attention(decoder, encoder, w_q, w_k, w_v):     # [T, d], [S, d]
    q, k, v = decoder @ w_q, encoder @ w_k, encoder @ w_v
    weights = torch.softmax(q @ k.T / math.sqrt(q.size(-1)), dim=-1)  # [T, S]
    return weights @ v, weights

def beam_search(log_probs, start, end, beams=4, max_length=48):
    # log_probs(tokens): log-probabilities of the next token, [vocabulary]
    live, finished = [(0.0, [start])], []
    for _ in range(max_length):
        found = []
        for total, tokens in live:
            scores, ids = log_probs(tokens).topk(2 * beams)
            found += [(total + s.item(), tokens + [i.item()]) for s, i in zip(scores, ids)]
        found.sort(key=lambda each: each[0], reverse=True)
        finished += [each for each in found[:beams] if each[1][-1] == end]
        live = [each for each in found if each[1][-1] != end][:beams]
        if len(finished) >= beams:
            break
    return max(finished or live, key=lambda each: each[0] / (len(each[1]) - 1))
