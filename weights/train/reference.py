"""The encoder classifier in plain PyTorch, to be read beside the paper: what the engine must compute.

A batch of texts of different lengths is padded to the longest and masked, whatever config.json may choose is here, and
every step has a name. Nothing is optimised. Weights are a dict of tensors, named as in the file, of torch's default dtype.
goldens.py checks it against torch's own modules and writes the tests' expected values with it.

Shapes: B texts, S tokens of the longest, D d_model, H heads, d = D / H, F d_ff, V vocabulary, C labels.
"""

import math

import torch
import torch.nn.functional as F


def linear(weights, name, x):
    y = x @ weights[f"{name}.weight"].T
    bias = weights.get(f"{name}.bias")
    return y if bias is None else y + bias


def layer_norm(config, weights, name, x):
    centred = x - x.mean(-1, keepdim=True)
    eps = config["layer_norm_eps"]
    if config["layer_norm"] == "standard":
        normed = centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + eps)
    else:  # the tutorial's: std over n - 1, eps outside the root
        normed = centred / (torch.sqrt((centred**2).sum(-1, keepdim=True) / (x.shape[-1] - 1)) + eps)
    return normed * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def sinusoids(positions, d_model):
    """[positions, D]: even columns sin, odd columns cos of position / 10000^(2i/D)."""
    angle = torch.arange(positions)[:, None] / 10000 ** (2 * (torch.arange(d_model) // 2) / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, torch.sin(angle), torch.cos(angle))


def position_table(config, weights):
    if config["positions"] == "learned":
        return weights["encoder.embed_positions.weight"]
    return sinusoids(config["max_source_length"], config["d_model"])


def embed(config, weights, ids, slip=None):
    """[B, S] -> [B, S, D]. The position is that of the token in its text, the same in every text of a batch."""
    x = weights["encoder.embed_tokens.weight"][ids]
    if config["scale_embedding"]:
        x = x * math.sqrt(config["d_model"])
    table = position_table(config, weights)
    if slip == "positions_index_the_batch":  # what `x + pe[: x.size(0)]` does to a batch-first x
        return x + table[: ids.shape[0], None, :]
    return x + table[: ids.shape[1]]


def attention_weights(config, q, k, keys):
    """q, k [B, H, S, d], keys [B, S]: tokens that may be read -> [B, H, S, S]; a row with nothing to read is 0."""
    allowed = keys[:, None, None, :]
    if config["attention"] == "local":
        position = torch.arange(q.shape[2])
        allowed = allowed & ((position[:, None] - position[None, :]).abs() <= config["attention_window"])
    if config["attention"] == "linear":
        similarity = (F.elu(q) + 1) @ (F.elu(k) + 1).transpose(-1, -2) * allowed
        return similarity / similarity.sum(-1, keepdim=True)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return torch.nan_to_num(torch.softmax(scores.masked_fill(~allowed, -math.inf), -1))


def self_attention(config, weights, name, x, keys, ablated):
    """[B, S, D] -> [B, S, D] and the weights [B, H, S, S]."""
    batch, length, d_model = x.shape
    heads = lambda y: y.view(batch, length, config["n_heads"], -1).transpose(1, 2)  # [B, H, S, d]
    q, k, v = (heads(linear(weights, f"{name}.{part}_proj", x)) for part in "qkv")
    a = attention_weights(config, q, k, keys)
    context = a @ v  # [B, H, S, d]
    for head in ablated:
        context[:, head] = 0
    return linear(weights, f"{name}.out_proj", context.transpose(1, 2).reshape(batch, length, d_model)), a


def feed_forward(config, weights, name, x):
    activation = {"relu": F.relu, "gelu": F.gelu}[config["activation"]]
    return linear(weights, f"{name}.fc2", activation(linear(weights, f"{name}.fc1", x)))


def encoder_layer(config, weights, name, x, keys, ablated):
    norm_attention = lambda y: layer_norm(config, weights, f"{name}.self_attn_layer_norm", y)
    norm_feed_forward = lambda y: layer_norm(config, weights, f"{name}.final_layer_norm", y)
    attend = lambda y: self_attention(config, weights, f"{name}.self_attn", y, keys, ablated)
    if config["norm"] == "pre":
        attended, a = attend(norm_attention(x))
        x = x + attended
        x = x + feed_forward(config, weights, name, norm_feed_forward(x))
    else:
        attended, a = attend(x)
        x = norm_attention(x + attended)
        x = norm_feed_forward(x + feed_forward(config, weights, name, x))
    return x, attended, a


def forward(config, weights, ids, real, ablate=(), masked=None, slip=None):
    """ids, real [B, S] (real: not padding), masked [B, S] or None -> every named step, still padded.

    ablate holds (layer, head) pairs. A masked token is treated as padding is: nobody reads it and pooling skips it.
    """
    keys = real if masked is None else real & ~masked
    x = embed(config, weights, ids, slip)
    trace = {"embeddings": x}
    maps = []
    for layer in range(config["encoder_layers"]):
        ablated = [head for at, head in ablate if at == layer]
        x, attended, a = encoder_layer(config, weights, f"encoder.layers.{layer}", x, keys, ablated)
        trace[f"layers.{layer}.self_attn_output"] = attended
        trace[f"layers.{layer}.output"] = x
        maps.append(a)
    if config["final_norm"]:
        x = layer_norm(config, weights, "encoder.layer_norm", x)
    trace["encoder_output"] = x
    pooled_over = torch.ones_like(keys) if slip == "mean_counts_padding" else keys
    share = pooled_over / pooled_over.sum(1, keepdim=True)  # [B, S]
    trace["pooled"] = x[:, 0] if config["pooling"] == "first" else (share[:, :, None] * x).sum(1)
    trace["logits"] = linear(weights, "classifier", trace["pooled"])
    trace["attention"] = torch.stack(maps, 1)  # [B, L, H, S, S]
    if config["pooling"] == "mean":
        trace["contributions"] = (share[:, :, None] * x @ weights["classifier.weight"].T).transpose(1, 2)  # [B, C, S]
    return trace
