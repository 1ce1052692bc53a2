"""The encoder classifier and the encoder-decoder in plain PyTorch, for comparison with the paper. The engine must
compute the same.

A batch of texts of different lengths is padded to the longest and masked. Every choice of config.json is implemented.
Every step has a name: `see(name, x)` receives all of them, under the engine's names and in its shapes, batch first. The
next steps are computed from the tensors that `see` received, so autograd gives their gradients (goldens_gradients.py).
Nothing is optimized. Weights are a dict of tensors with the names of the file, in torch's default dtype. goldens.py and
goldens_translation.py check this file against torch's own modules and write the tests' expected values with it.

Shapes: B texts, S tokens of the longest, T of the longest target, D d_model, H heads, d = D / H, F d_ff, V vocabulary,
C labels.
"""

import math

import torch
import torch.nn.functional as F


def unseen(name, x):
    """Ignores a step: the default of `see`."""


def linear(weights, name, x):
    y = x @ weights[f"{name}.weight"].T
    bias = weights.get(f"{name}.bias")
    return y if bias is None else y + bias


def layer_norm(config, weights, name, x):
    centered = x - x.mean(-1, keepdim=True)
    eps = config["layer_norm_eps"]
    if config["layer_norm"] == "standard":
        normed = centered / torch.sqrt((centered**2).mean(-1, keepdim=True) + eps)
    else:  # the tutorial's norm: std over n - 1, eps outside the root
        normed = centered / (torch.sqrt((centered**2).sum(-1, keepdim=True) / (x.shape[-1] - 1)) + eps)
    return normed * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def sinusoids(positions, d_model):
    """Returns [positions, D]: sin in even columns and cos in odd columns, of position / 10000^(2i/D)."""
    angle = torch.arange(positions)[:, None] / 10000 ** (2 * (torch.arange(d_model) // 2) / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, torch.sin(angle), torch.cos(angle))


def sinusoids_endpoint(positions, d_model):
    """Returns Marian's [positions, D]: D/2 columns sin, then D/2 columns cos, of position / 10000^(i / (D/2 - 1))."""
    angle = torch.arange(positions)[:, None] / 10000 ** (torch.arange(d_model // 2) / (d_model // 2 - 1))
    return torch.cat([torch.sin(angle), torch.cos(angle)], -1)


def embedding_table(config, weights, side):
    return weights["embed_tokens.weight" if config.get("embeddings") == "shared" else f"{side}.embed_tokens.weight"]


def position_table(config, weights, side="encoder"):
    if config["positions"] == "learned":
        return weights[f"{side}.embed_positions.weight"]
    table = sinusoids_endpoint if config["positions"] == "sinusoidal_endpoint" else sinusoids
    return table(config["max_source_length" if side == "encoder" else "max_target_length"], config["d_model"])


def embed(config, weights, ids, slip=None, side="encoder", see=unseen):
    """Maps ids [B, S] to [B, S, D]. Positions count within each text, so they are the same in every text of a batch."""
    x = embedding_table(config, weights, side)[ids]
    if config["scale_embedding"] and slip != "embeddings_unscaled":
        x = x * math.sqrt(config["d_model"])
    if side == "decoder" and config.get("zero_start"):
        x = torch.cat([torch.zeros_like(x[:, :1]), x[:, 1:]], 1)
    table = position_table(config, weights, side)
    positions = table[: ids.shape[1]]
    if slip == "positions_index_the_batch":  # the effect of `x + pe[: x.size(0)]` if x is batch-first
        positions = table[: ids.shape[0], None, :]
    if slip == "target_positions_from_one" and side == "decoder":
        positions = table[1 : ids.shape[1] + 1]
    positions = positions.expand_as(x)
    see(f"{side}.embed_tokens", x)
    see(f"{side}.embed_positions", positions)
    x = x + positions
    see(f"{side}.embeddings", x)
    return x


def attention_weights(name, kind, q, k, allowed, see):
    """Returns the attention weights [B, H, T, S] of q [B, H, T, d] and k [B, H, S, d]. allowed [B, 1, T, S]: which keys
    each query may read. A row without keys is 0.
    """
    if kind == "linear":
        similarity = (F.elu(q) + 1) @ (F.elu(k) + 1).transpose(-1, -2) * allowed
        return similarity / similarity.sum(-1, keepdim=True)
    scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~allowed, -math.inf)
    see(f"{name}.scores", scores)
    return torch.nan_to_num(torch.softmax(scores, -1))


def multi_head_attention(config, weights, name, x, memory, allowed, ablated=(), kind="full", see=unseen):
    """Attends from x [B, T, D] to memory [B, S, D]. Returns the output [B, T, D] and the attention weights [B, H, T,
    S].
    """
    heads = lambda y: y.view(*y.shape[:2], config["n_heads"], -1)  # [B, T or S, H, d]
    q = heads(linear(weights, f"{name}.q_proj", x))
    k, v = (heads(linear(weights, f"{name}.{part}_proj", memory)) for part in "kv")
    by_head = lambda y: y.transpose(1, 2)  # [B, H, T or S, d], and back
    a = attention_weights(name, kind, by_head(q), by_head(k), allowed, see)
    context = by_head(a @ by_head(v))  # [B, T, H, d]
    for head in ablated:
        context[:, :, head] = 0
    output = linear(weights, f"{name}.out_proj", context.reshape(x.shape))
    for part, y in (("q", q), ("k", k), ("v", v), ("context", context)):
        see(f"{name}.{part}", y)
    see(f"{name}.weights", a)
    see(f"{name}.output", output)
    return output, a


def is_recurrent(config):
    """Tells whether the decoder has recurrent units instead of self-attention."""
    return config.get("decoder_attention") == "recurrent"


def recurrent_unit(weights, name, x, slip=None, see=unseen):
    """Applies the SSRU of Kim et al. 2019, a state that a gate keeps or renews, to x [B, T, D]. Returns the output [B,
    T, D] and the named steps.
    """
    candidate = linear(weights, f"{name}.candidate_proj", x)
    gate = torch.sigmoid(linear(weights, f"{name}.gate_proj", x))
    states, before = [], torch.zeros_like(x[:, 0])
    for t in range(x.shape[1]):
        state = gate[:, t] * before + (1 - gate[:, t]) * candidate[:, t]
        states.append(state)
        before = before if slip == "state_not_carried" else state
    state = torch.stack(states, 1)
    output = state if slip == "relu_left_out" else F.relu(state)
    steps = {"candidate": candidate, "gate": gate, "state": state}  # no step reads `state` as a whole, but its rows
    for part, y in (*steps.items(), ("output", output)):
        see(f"{name}.{part}", y)
    return output, steps


def feed_forward(config, weights, name, x, see=unseen):
    activation = {"relu": F.relu, "gelu": F.gelu}[config["activation"]]
    hidden = activation(linear(weights, f"{name}.fc1", x))
    output = linear(weights, f"{name}.fc2", hidden)
    see(f"{name}.fc1", hidden)
    see(f"{name}.fc2", output)
    return output


def residual(config, weights, layer, part, x, block, see):
    """Computes x + block(norm(x)) or norm(x + block(x)). block returns its output and, if it has any, attention
    weights.
    """
    norm = lambda y: layer_norm(config, weights, f"{layer}.{part}_layer_norm", y)
    read = norm(x) if config["norm"] == "pre" else x
    added, a = block(read)
    total = x + added
    after = total if config["norm"] == "pre" else norm(total)
    see(f"{layer}.{part}_layer_norm", read if config["norm"] == "pre" else after)
    if part != "final":  # the final sum is the layer's output, or only its norm reads it
        see(f"{layer}.{part}.residual", total)
    return after, read, added, a


def encoder_layer(config, weights, name, x, keys, ablated, see):
    """Maps x [B, S, D] to [B, S, D]. Also returns the output of the attention, and its weights [B, H, S, S]."""
    allowed = keys[:, None, None, :].expand(-1, -1, x.shape[1], -1)
    if config["attention"] == "local":
        position = torch.arange(x.shape[1])
        allowed = allowed & ((position[:, None] - position[None, :]).abs() <= config["attention_window"])
    attend = lambda y: multi_head_attention(
        config, weights, f"{name}.self_attn", y, y, allowed, ablated, config["attention"], see)
    see(f"{name}.input", x)
    x, _, attended, a = residual(config, weights, name, "self_attn", x, attend, see)
    x, *_ = residual(config, weights, name, "final", x, lambda y: (feed_forward(config, weights, name, y, see), None), see)
    see(f"{name}.output", x)
    return x, attended, a


def final_norm(config, weights, stack, x, see):
    """Maps [B, S, D] to the output [B, S, D] of a stack."""
    if config["final_norm"]:
        x = layer_norm(config, weights, f"{stack}.layer_norm", x)
        see(f"{stack}.layer_norm", x)
    see(f"{stack}.output", x)
    return x


def ablated_heads(ablate, layer, attention="encoder"):
    """Returns the ablated heads of a layer. ablate: (layer, head) of the encoder, or (attention, layer, head)."""
    sited = [entry if len(entry) == 3 else ("encoder", *entry) for entry in ablate]
    return [head for of, at, head in sited if of == attention and at == layer]


def encode(config, weights, ids, keys, ablate=(), slip=None, see=unseen):
    """Runs the encoder on ids [B, S]. keys [B, S]: tokens that may be read. Returns every named step, still padded, and
    the attention weights [B, L, H, S, S].
    """
    x = embed(config, weights, ids, slip, see=see)
    trace = {"encoder.embeddings": x}
    maps = []
    for layer in range(config["encoder_layers"]):
        name = f"encoder.layers.{layer}"
        x, attended, a = encoder_layer(config, weights, name, x, keys, ablated_heads(ablate, layer), see)
        trace[f"{name}.self_attn.output"] = attended
        trace[f"{name}.output"] = x
        maps.append(a)
    trace["encoder.output"] = x = final_norm(config, weights, "encoder", x, see)
    return trace, torch.stack(maps, 1)


def forward(config, weights, ids, real, ablate=(), masked=None, slip=None, see=unseen):
    """Runs the classifier on ids [B, S]. Returns every named step, still padded.

    real [B, S]: tokens that are not padding. masked [B, S] or None: tokens that are treated as padding, so that no
    token reads them and pooling skips them. ablate: (layer, head) pairs.
    """
    keys = real if masked is None else real & ~masked
    trace, attention = encode(config, weights, ids, keys, ablate, slip, see)
    x = trace["encoder.output"]
    pooled_over = torch.ones_like(keys) if slip == "mean_counts_padding" else keys
    share = pooled_over / pooled_over.sum(1, keepdim=True)  # [B, S]
    trace["pooled"] = x[:, 0] if config["pooling"] == "first" else (share[:, :, None] * x).sum(1)
    trace["logits"] = linear(weights, "classifier", trace["pooled"])
    for name in ("pooled", "logits"):
        see(name, trace[name])
    trace["attention"] = attention
    if config["pooling"] == "mean":
        trace["contributions"] = (share[:, :, None] * x @ weights["classifier.weight"].T).transpose(1, 2)  # [B, C, S]
    return trace


def decoder_layer(config, weights, name, x, memory, may_read, ablated, slip, see):
    """Runs a decoder layer on x [B, T, D], with attention to x and to memory [B, S, D]. Returns [B, T, D] and named
    steps.

    may_read: {"self_attn": [B, 1, T, T], "encoder_attn": [B, 1, T, S]}; ablated has the same keys. The input of a block
    has the name of the norm that it comes from.
    """
    norms = [f"{part}_layer_norm" for part in ("self_attn", "encoder_attn", "final")]
    reads = iter(norms if config["norm"] == "pre" else ["input", *norms])
    steps = {}
    see(f"{name}.input", x)
    for part in ("self_attn", "encoder_attn"):
        recurrent = part == "self_attn" and is_recurrent(config)
        unit = lambda y: recurrent_unit(weights, f"{name}.{part}", y, slip, see)
        attend = lambda y: multi_head_attention(config, weights, f"{name}.{part}", y, y if part == "self_attn" else memory,
                                                may_read[part], ablated[part], see=see)
        x, read, added, inner = residual(config, weights, name, part, x, unit if recurrent else attend, see)
        steps |= {next(reads): read, f"{part}.output": added}
        steps |= {f"{part}.{step}": y for step, y in (inner if recurrent else {"weights": inner}).items()}
    feed = lambda y: (feed_forward(config, weights, name, y, see), None)
    x, read, added, _ = residual(config, weights, name, "final", x, feed, see)
    see(f"{name}.output", x)
    return x, steps | {next(reads): read, "fc2": added, "output": x}


def decode(config, weights, memory, keys, ids, real, ablate=(), slip=None, see=unseen):
    """Runs the decoder. Returns every named step, still padded.

    memory [B, S, D], keys [B, S]: the encoder's output and which rows may be read. ids, real [B, T]: the start token
    and the target, and which tokens are not padding. Row t reads only rows up to t: the look-ahead mask.
    """
    length = ids.shape[1]
    look_back = torch.ones(length, length, dtype=torch.bool)
    if slip != "no_look_ahead_mask":
        look_back = look_back.tril()
    if slip == "cross_attention_reads_padding":
        keys = torch.ones_like(keys)
    may_read = {"self_attn": real[:, None, None, :] & look_back,
                "encoder_attn": keys[:, None, None, :].expand(-1, -1, length, -1)}
    x = embed(config, weights, ids, slip, "decoder", see)
    trace = {"decoder.embeddings": x}
    maps = {"decoder_attention": [], "cross_attention": []}
    for layer in range(config["decoder_layers"]):
        name = f"decoder.layers.{layer}"
        x, steps = decoder_layer(config, weights, name, x, memory, may_read, {
            "self_attn": ablated_heads(ablate, layer, "decoder"), "encoder_attn": ablated_heads(ablate, layer, "cross")},
            slip, see)
        if not is_recurrent(config):
            maps["decoder_attention"].append(steps.pop("self_attn.weights"))
        maps["cross_attention"].append(steps.pop("encoder_attn.weights"))
        trace |= {f"{name}.{step}": value for step, value in steps.items()}
    trace["decoder.output"] = final_norm(config, weights, "decoder", x, see)
    return trace | {name: torch.stack(of, 1) for name, of in maps.items() if of}  # [B, L, H, T, T], [B, L, H, T, S]


def project(config, weights, hidden):
    """Maps [B, T, D] to logits [B, T, V]. The tutorial's projection layer returns their log-softmax."""
    table = weights["lm_head.weight"] if config["embeddings"] == "separate" else embedding_table(config, weights, "decoder")
    logits = hidden @ table.T
    return logits + weights["lm_head.bias"] if config["lm_head_bias"] else logits


def translate(config, weights, sources, targets, ablate=(), masked=None, slip=None, see=unseen):
    """Runs the whole Transformer. sources, targets: (ids, real). Returns every named step of encode, decode and
    project.
    """
    keys = sources[1] if masked is None else sources[1] & ~masked
    trace, trace["encoder_attention"] = encode(config, weights, sources[0], keys, ablate, slip, see)
    trace |= decode(config, weights, trace["encoder.output"], keys, *targets, ablate, slip, see)
    trace["logits"] = project(config, weights, trace["decoder.output"])
    see("logits", trace["logits"])
    trace["log_probabilities"] = torch.log_softmax(trace["logits"], -1)
    return trace
