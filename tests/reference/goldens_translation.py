"""Writes the encoder-decoder cases of tests/golden: tiny translators with the exact values of every step.

    /usr/bin/python3 tests/reference/goldens_translation.py [OUT_DIR]      needs python3-torch and python3-sentencepiece

As in goldens.py, reference.py runs padded, masked batches in float64. Before it writes anything, this program checks
the reference against torch.nn.TransformerDecoderLayer and MultiheadAttention, and against itself without padding and
one token at a time. It checks a recurrent unit against its sum in closed form and against torch.nn.GRU, and each case
for being a real test. Targets are forced: the decoder reads the start token and the target's pieces.

Each tests/golden/CASE is a model folder (config.json, model.safetensors, tokenizer.model or source.model and target.model)
with these files. golden.safetensors, float32; N and M = tokens of all sources and all targets without padding, n_s and m_s
tokens of text s:
    encoder.embeddings [N, D], encoder.layers.L.output [N, D], encoder.output [N, D]
    decoder.embeddings [M, D], decoder.layers.L.output [M, D], decoder.output [M, D]
    decoder.layers.L.{self_attn.output,encoder_attn.output,fc2} [M, D]
                                        the output of a block, before the residual sum
    decoder.layers.L.{self_attn,encoder_attn,final}_layer_norm [M, D]
                                        the outputs of the norms, which the blocks read; with norms after the sums, the
                                        first block reads decoder.layers.L.input and the last norm gives the layer's output
    decoder.layers.L.self_attn.{candidate,gate,state} [M, D]    only of recurrent units, which have no decoder_attention
    logits, log_probabilities [M, V]    row t predicts the token after token t
    encoder_attention.S [L, H, n_s, n_s], decoder_attention.S [L, H, m_s, m_s], cross_attention.S [L, H, m_s, n_s]
golden.trace.safetensors: as in goldens.py, for text 0 and the first FED tokens of its target.
golden.json:
    texts, targets, ids, target_ids     target_ids begin with the start token
    greedy                              [{ids, log_probability}]: greedy output, cut after the end token or 24 tokens
    interventions                       [{text: S, options: {ablate, maskTokens}, logits of the target's last token}]
    slips                               {mistake: logits of the last token of text 0 with a known mistake, or of the first
                                        token if only that differs}
    tolerance                           {tensor: [absolute, reason]}
"""

import hashlib
import math
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

from files import TESTS, as_stored, save, write_json
from goldens import assert_close, random_layer, random_norm, recorded, rounded, save_trace, train_tokenizer
from reference import decode, encode, is_recurrent, project, sinusoids_endpoint, translate

GERMAN = """
ein fesselnder und schön gefilmter Film mit einem ruhigen Herzen
die Handlung ergibt keinen Sinn und die Witze sind flach
großartige Besetzung , schreckliches Drehbuch
gar nicht gut , zwei verlorene Stunden
ich lachte , ich weinte und ich würde ihn gern wieder sehen
die Kamera verweilt , wo die Geschichte weitergehen sollte
langweilig von der ersten Szene bis zur letzten
ein kleines Wunder an Takt und Charme
der Ton ist dünn , aber das Bild ist scharf und hell
es ging nach einer Woche kaputt und niemand antwortete
ein ehrlicher Film über gewöhnliche Menschen
nie wieder
""".strip().split("\n")

TEXTS = ["a gripping film", "meh", "not good at all , never again"]
TARGETS = ["ein fesselnder Film", "", "gar nicht gut"]
FED = 6


def base(**choices):
    config = {
        "format": 1, "model_type": "encoder_decoder", "task": "translation",
        "source_language": "en", "target_language": "de", "source_vocab_size": 0, "target_vocab_size": 0,
        "embeddings": "shared", "d_model": 12, "d_ff": 28, "n_heads": 2, "encoder_layers": 2, "decoder_layers": 2,
        "max_source_length": 64, "max_target_length": 48, "positions": "sinusoidal", "scale_embedding": True,
        "norm": "pre", "layer_norm": "standard", "layer_norm_eps": 1e-5, "final_norm": True, "attention": "full",
        "attention_bias": True, "activation": "relu", "lm_head_bias": True, "prefix_tokens": [],
        "suffix_tokens": ["</s>"], "start_token": "<s>", "end_token": "</s>",
    }
    return {**config, **choices}


def heads(attention, *pairs):
    return [{"attention": attention, "layer": layer, "head": head} for layer, head in pairs]


# name: (configuration, interventions as (text, options))
CASES = {
    "translate_pre_norm_shared": (
        base(d_model=16, n_heads=4),
        [(0, {"ablate": heads("decoder", (0, 1))}), (2, {"ablate": heads("cross", (1, 0), (1, 3))}),
         (2, {"ablate": heads("encoder", (1, 2)) + heads("decoder", (1, 0)) + heads("cross", (0, 1))}),
         (2, {"ablate": heads("cross", (0, 0), (0, 1), (0, 2), (0, 3))}), (0, {"maskTokens": [0, 4]}),
         (2, {"ablate": heads("decoder", (0, 3)), "maskTokens": [2]})]),
    # The tutorial's Transformer: its own LayerNorm before each block, two vocabularies, three embedding tables.
    "translate_tutorial_separate": (
        base(layer_norm="unbiased", layer_norm_eps=1e-6, embeddings="separate", prefix_tokens=["<s>"]),
        [(2, {"ablate": heads("cross", (0, 1))}), (0, {"maskTokens": [1]})]),
    "translate_post_norm_tied": (
        base(norm="post", final_norm=False, embeddings="tied", positions="learned", scale_embedding=False,
             activation="gelu", attention_bias=False, lm_head_bias=False, max_source_length=30, max_target_length=24),
        [(2, {"ablate": heads("decoder", (1, 1))}), (2, {"maskTokens": [3]})]),
    # No dimension is a multiple of a vector; encoder with a window of two; half-precision weights; three decoder layers.
    "translate_odd_local": (
        base(d_model=14, d_ff=37, norm="post", attention="local", attention_window=2, encoder_layers=1, decoder_layers=3),
        [(2, {"ablate": heads("cross", (2, 1))}), (0, {"maskTokens": [2]})]),
    # Like Firefox's translators: a recurrent unit instead of self-attention in the decoder, and a start vector of zeros.
    "translate_recurrent_post_norm": (
        base(norm="post", final_norm=False, layer_norm_eps=1e-6, embeddings="tied", positions="sinusoidal_endpoint",
             start_token="</s>", decoder_attention="recurrent", zero_start=True),
        [(2, {"ablate": heads("cross", (0, 1), (1, 0))}), (0, {"ablate": heads("encoder", (1, 1)) + heads("cross", (1, 1))}),
         (2, {"maskTokens": [3]}), (0, {"ablate": heads("encoder", (0, 0)), "maskTokens": [0, 4]})]),
}
BESIDE = {"attention_window": "attention", "decoder_attention": "decoder_layers", "zero_start": "decoder_attention"}
HALF_PRECISION = {"translate_odd_local": {
    "embed_tokens.weight": "BF16", "decoder.layers.0.encoder_attn.k_proj.weight": "F16", "decoder.layers.2.fc1.weight": "F16"}}

# ---------------------------------------------------------------- checks of the reference


def multihead_state(weights, name):
    state = {"in_proj_weight": torch.cat([weights[f"{name}.{part}_proj.weight"] for part in "qkv"]),
             "out_proj.weight": weights[f"{name}.out_proj.weight"]}
    if f"{name}.q_proj.bias" in weights:
        state["in_proj_bias"] = torch.cat([weights[f"{name}.{part}_proj.bias"] for part in "qkv"])
        state["out_proj.bias"] = weights[f"{name}.out_proj.bias"]
    return state


def check_layers_against_torch(config, weights, trace, sources, targets):
    """Compares each layer with torch.nn.TransformerDecoderLayer. Requires standard norms and attention with biases."""
    x, memory = trace["decoder.embeddings"], trace["encoder.output"]
    length = x.shape[1]
    look_ahead = torch.ones(length, length, dtype=torch.bool).triu(1)
    for layer in range(config["decoder_layers"]):
        name = f"decoder.layers.{layer}"
        block = torch.nn.TransformerDecoderLayer(
            config["d_model"], config["n_heads"], config["d_ff"], dropout=0.0, activation=config["activation"],
            layer_norm_eps=config["layer_norm_eps"], batch_first=True, norm_first=config["norm"] == "pre")
        state = {f"{theirs}.{part}": value for theirs, ours in (("self_attn", "self_attn"), ("multihead_attn", "encoder_attn"))
                 for part, value in multihead_state(weights, f"{name}.{ours}").items()}
        state |= {f"{theirs}.{kind}": weights[f"{name}.{ours}.{kind}"] for kind in ("weight", "bias") for theirs, ours in (
            ("linear1", "fc1"), ("linear2", "fc2"), ("norm1", "self_attn_layer_norm"),
            ("norm2", "encoder_attn_layer_norm"), ("norm3", "final_layer_norm"))}
        block.load_state_dict(state)
        x = block(x, memory, tgt_mask=look_ahead, tgt_key_padding_mask=~targets[1],
                  memory_key_padding_mask=~sources[1]).detach()
        assert_close(f"{name} and TransformerDecoderLayer", trace[f"{name}.output"][targets[1]], x[targets[1]])


def check_attention_against_torch(config, weights, trace, sources, targets):
    """Compares every attention block with nn.MultiheadAttention: its output and the weights of every head."""
    length = targets[0].shape[1]
    look_ahead = torch.ones(length, length, dtype=torch.bool).triu(1)
    first, second = {"pre": ("self_attn_layer_norm", "encoder_attn_layer_norm"),
                     "post": ("input", "self_attn_layer_norm")}[config["norm"]]
    for layer in range(config["decoder_layers"]):
        for part, read, maps, mask, padding in (
                ("self_attn", first, "decoder_attention", look_ahead, ~targets[1]),
                ("encoder_attn", second, "cross_attention", None, ~sources[1])):
            if maps not in trace:  # a recurrent unit has no attention weights
                continue
            name = f"decoder.layers.{layer}.{part}"
            x = trace[f"decoder.layers.{layer}.{read}"]
            memory = x if part == "self_attn" else trace["encoder.output"]
            attention = torch.nn.MultiheadAttention(
                config["d_model"], config["n_heads"], bias=config["attention_bias"], batch_first=True)
            attention.load_state_dict(multihead_state(weights, name))
            output, a = attention(x, memory, memory, key_padding_mask=padding, attn_mask=mask, average_attn_weights=False)
            real = targets[1]
            assert_close(f"{name} and MultiheadAttention", trace[f"{name}.output"][real], output.detach()[real])
            assert_close(f"weights of {name}", trace[maps][:, layer].transpose(1, 2)[real], a.detach().transpose(1, 2)[real])


def closed_form(candidate, gate):
    """Returns the states [T, D]. Each is a sum of candidates, times what their own gate lets in and the later gates
    keep.
    """
    terms = lambda t: (gate[j + 1 : t + 1].prod(0) * (1 - gate[j]) * candidate[j] for j in range(t + 1))
    return torch.stack([sum(terms(t)) for t in range(len(gate))])


def gru_of(weights, name, small=1e-5):
    """Returns the unit as a torch.nn.GRU. Without recurrent weights, a GRU is the unit with tanh(candidate), and tanh
    of a small number is that number.
    """
    d_model = len(weights[f"{name}.candidate_proj.weight"])
    gru = torch.nn.GRU(d_model, d_model, batch_first=True)
    zeros = torch.zeros(d_model, d_model)
    gru.load_state_dict({
        "weight_ih_l0": torch.cat([zeros, weights[f"{name}.gate_proj.weight"], small * weights[f"{name}.candidate_proj.weight"]]),
        "weight_hh_l0": torch.cat([zeros, zeros, zeros]),
        "bias_ih_l0": torch.cat([zeros[0], weights[f"{name}.gate_proj.bias"], zeros[0]]),
        "bias_hh_l0": torch.cat([zeros[0], zeros[0], zeros[0]])})
    return lambda x, before=zeros[0]: gru(x, small * before[None, None])[0].detach() / small  # [1, T, D] and [D] -> [1, T, D]


def check_recurrent_layers(config, weights, trace, sources, targets):
    """Compares the unit with its closed form and with torch.nn.GRU, over the whole text and one token at a time.
    Compares the layer with one made of torch's norms, attention and linear layers, with norms after the sums.
    """
    assert config["norm"] == "post" and config["layer_norm"] == "standard"
    part = lambda name, kind: weights[f"{name}.{kind}"]
    after = lambda name, x: F.layer_norm(x, x.shape[-1:], part(name, "weight"), part(name, "bias"), config["layer_norm_eps"])
    for text, length in enumerate(targets[1].sum(1).tolist()):
        x, memory = trace["decoder.embeddings"][text : text + 1, :length], trace["encoder.output"][text : text + 1]
        for layer in range(config["decoder_layers"]):
            name = f"decoder.layers.{layer}"
            unit, cross = f"{name}.self_attn", f"{name}.encoder_attn"
            gate = torch.sigmoid(F.linear(x[0], part(unit, "gate_proj.weight"), part(unit, "gate_proj.bias")))
            state = closed_form(F.linear(x[0], part(unit, "candidate_proj.weight")), gate)
            assert_close(f"{unit}.state in closed form", trace[f"{unit}.state"][text, :length], state)
            gru = gru_of(weights, unit)
            assert_close(f"{unit}.state and GRU", gru(x)[0], state, 1e-8)
            before = torch.zeros_like(state[0])
            for t in range(length):
                before = gru(x[:, t : t + 1], before)[0, 0]
                assert_close(f"{unit}.state, a token at a time", before, state[t], 1e-8)
            x = after(f"{name}.self_attn_layer_norm", x + torch.relu(state))
            attention = torch.nn.MultiheadAttention(config["d_model"], config["n_heads"], batch_first=True)
            attention.load_state_dict(multihead_state(weights, cross))
            read = attention(x, memory, memory, key_padding_mask=~sources[1][text : text + 1])[0].detach()
            x = after(f"{name}.encoder_attn_layer_norm", x + read)
            hidden = F.relu(F.linear(x, part(name, "fc1.weight"), part(name, "fc1.bias")))
            x = after(f"{name}.final_layer_norm", x + F.linear(hidden, part(name, "fc2.weight"), part(name, "fc2.bias")))
            assert_close(f"{name} and torch's layers", trace[f"{name}.output"][text, :length], x[0])


def check_small_parts(config, weights, trace, targets):
    table = sinusoids_endpoint(5, 8)
    for p in range(5):
        for i in range(4):
            angle = p / 10000 ** (i / 3)
            assert abs(table[p, i] - math.sin(angle)) + abs(table[p, 4 + i] - math.cos(angle)) < 1e-12
    for maps in trace.keys() & {"decoder_attention", "cross_attention"}:
        rows = trace[maps].transpose(1, 3)[targets[1]].sum(-1)
        assert_close(maps, rows, torch.ones_like(rows))
    if config.get("zero_start"):
        start = torch.cat([torch.zeros(config["d_model"] // 2), torch.ones(config["d_model"] // 2)])  # only position 0
        assert_close("the start", trace["decoder.embeddings"][:, 0], start.expand(len(TARGETS), -1))
    if not is_recurrent(config):
        assert (trace["decoder_attention"].triu(1) == 0).all(), "a look-ahead weight is not exactly zero"
    total = trace["log_probabilities"].exp().sum(-1)
    assert_close("log-softmax", total, torch.ones_like(total))


def check_padding_changes_nothing(config, weights, trace, sources, targets):
    other = tuple((torch.where(real, ids, torch.full_like(ids, 5)), real) for ids, real in (sources, targets))
    changed = translate(config, weights, *other)["logits"]
    assert_close("another padding token", changed[targets[1]], trace["logits"][targets[1]])
    for text in range(sources[0].shape[0]):
        n, m = int(sources[1][text].sum()), int(targets[1][text].sum())
        alone = translate(config, weights, *((ids[text : text + 1, :k], real[text : text + 1, :k])
                                             for (ids, real), k in ((sources, n), (targets, m))))
        assert_close("a text by itself", alone["logits"][0], trace["logits"][text, :m])
        for t in range(1, m):  # later tokens are not read
            memory, keys = trace["encoder.output"][text : text + 1], sources[1][text : text + 1]
            so_far = decode(config, weights, memory, keys, targets[0][text : text + 1, :t], targets[1][text : text + 1, :t])
            assert_close("a target cut short", so_far["decoder.output"][0], trace["decoder.output"][text, :t])


def check_is_a_real_test(config, weights, trace, sources, targets):
    """Checks that attention is far from uniform, that heads matter, that positions get different answers, and that a
    unit keeps and renews its state and has states of both signs.
    """
    of_sites = {"encoder": "encoder_layers", "decoder": "decoder_layers", "cross": "decoder_layers"}
    if is_recurrent(config):
        of_sites.pop("decoder")
        for layer in range(config["decoder_layers"]):
            gate, state = (trace[f"decoder.layers.{layer}.self_attn.{part}"][targets[1]] for part in ("gate", "state"))
            assert gate.min() < 0.2 and gate.max() > 0.8 and 0.3 < (state > 0).double().mean() < 0.7, f"unit {layer} does little"
    for maps, readable in (("decoder_attention", targets[1]), ("cross_attention", sources[1])):
        if maps not in trace:
            continue
        longest = targets[1].sum(1).argmax()
        keys = int(readable[longest].sum())
        a = trace[maps][longest, :, :, int(targets[1][longest].sum()) - 1, :keys]  # [L, H, keys]
        entropy = -(a * torch.log(a.clamp_min(1e-300))).sum(-1) / np.log(keys)
        assert (entropy < 0.99).all() and entropy.mean() < 0.9, f"{maps} too flat: {entropy}"
    for attention, layers in of_sites.items():
        for layer in range(config[layers]):
            for head in range(config["n_heads"]):
                without = translate(config, weights, sources, targets, ablate=[(attention, layer, head)])["logits"]
                assert (without - trace["logits"])[targets[1]].abs().max() > 0.005, f"{attention} head {layer}.{head} does not matter"


# ---------------------------------------------------------------- cases


def random_unit(config, name, draw):
    d_model = config["d_model"]
    weight = lambda std: draw(d_model, d_model, std=std / np.sqrt(d_model))
    return {f"{name}.candidate_proj.weight": weight(1.5), f"{name}.gate_proj.weight": weight(1.6),
            f"{name}.gate_proj.bias": draw(d_model, std=0.5)}


def random_weights(config, generator):
    """Returns float32 values in float64. Their sizes make attention peaky and every part matter."""
    d_model = config["d_model"]
    draw = lambda *shape, std: torch.randn(*shape, generator=generator) * std
    weights = {}
    std = 1.0 / np.sqrt(d_model) if config["scale_embedding"] else 1.0
    table = lambda side: draw(config[f"{side}_vocab_size"], d_model, std=std)
    if config["embeddings"] == "shared":
        weights["embed_tokens.weight"] = table("source")
    else:
        weights["encoder.embed_tokens.weight"] = table("source")
        weights["decoder.embed_tokens.weight"] = table("target")
    if config["embeddings"] == "separate":
        weights["lm_head.weight"] = table("target")
    if config["lm_head_bias"]:
        weights["lm_head.bias"] = draw(config["target_vocab_size"], std=0.3)
    for side, attentions, length in (("encoder", ["self_attn"], "max_source_length"),
                                     ("decoder", ["self_attn", "encoder_attn"], "max_target_length")):
        if config["positions"] == "learned":
            weights[f"{side}.embed_positions.weight"] = draw(config[length], d_model, std=0.5)
        for layer in range(config[f"{side}_layers"]):
            name = f"{side}.layers.{layer}"
            if side == "decoder" and is_recurrent(config):
                weights |= random_unit(config, f"{name}.self_attn", draw) | random_layer(config, name, draw, ["encoder_attn"])
            else:
                weights |= random_layer(config, name, draw, attentions)
            for norm in [f"{attention}_layer_norm" for attention in attentions] + ["final_layer_norm"]:
                weights |= random_norm(config, f"{name}.{norm}", draw)
        if config["final_norm"]:
            weights |= random_norm(config, f"{side}.layer_norm", draw)
    return {name: tensor.float().double() for name, tensor in weights.items()}


def padded(sequences):
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    real = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
    ids = torch.zeros(real.shape, dtype=torch.long)
    for text, sequence in enumerate(sequences):
        ids[text, : len(sequence)] = torch.tensor(sequence)
    return ids, real


def greedy(config, weights, source, start, end):
    """Translates greedily, with each step from scratch, up to the end token. Returns ids and their log-probability."""
    ids = torch.tensor([source])
    keys = torch.ones_like(ids, dtype=torch.bool)
    memory = encode(config, weights, ids, keys)[0]["encoder.output"]
    target, total = [start], 0.0
    while len(target) <= min(24, config["max_target_length"] - 1) and (len(target) == 1 or target[-1] != end):
        so_far = torch.tensor([target])
        hidden = decode(config, weights, memory, keys, so_far, torch.ones_like(so_far, dtype=torch.bool))["decoder.output"]
        log_probabilities = torch.log_softmax(project(config, weights, hidden)[0, -1], -1)
        best = log_probabilities.topk(2).values
        assert best[0] - best[1] > 1e-3, "a tie: float32 might choose otherwise"
        target.append(int(log_probabilities.argmax()))
        total += float(best[0])
    return {"ids": target[1:], "log_probability": float(f"{total:.9g}")}


def pack(trace, sources, targets):
    """Drops the padding: one row per token, one attention tensor per text."""
    packed = {}
    for name, tensor in trace.items():
        if name.endswith("_attention"):
            queries, keys = {"encoder": (sources, sources), "decoder": (targets, targets),
                             "cross": (targets, sources)}[name.removesuffix("_attention")]
            for text in range(tensor.shape[0]):
                cut = tensor[text, :, :, : int(queries[1][text].sum()), : int(keys[1][text].sum())]
                packed[f"{name}.{text}"] = cut
        elif not (name.startswith("encoder") and name.endswith(".self_attn.output")):
            packed[name] = tensor[(sources if name.startswith("encoder") else targets)[1]]
    return packed


def tolerances(packed, config, weights, sources, targets):
    """Returns tolerances as in goldens.py: 16 times PyTorch's float32 error, or 16 units in the largest value's last
    place.
    """
    single = {name: tensor.float() for name, tensor in weights.items()}
    torch.set_default_dtype(torch.float32)
    in_single = translate(config, single, sources, targets)
    torch.set_default_dtype(torch.float64)
    in_single = pack({name: tensor.double() for name, tensor in in_single.items()}, sources, targets)
    result = {}
    for name, tensor in packed.items():
        lost = (in_single[name] - tensor).abs().max().item()
        floor = tensor.abs().max().item() * 2.0**-23
        reason = f"PyTorch's own float32 error here, {lost:.1e}" if lost > floor else f"2^-23 of the largest value, {floor:.1e}"
        result[name] = [float(f"{16 * max(lost, floor):.1g}"), f"float32 rounding: 16 x {reason}"]
    return result


# Mistakes that show at the first token: only padding follows the last token, and little of a unit's start is left there.
TOLD_BY_THE_FIRST = ("no_look_ahead_mask", "zero_start_ignored")


def slips(config, weights, sources, targets, right):
    """Returns {known mistake: its logits for the last token of text 0}. All must differ from the right logits."""
    last = int(targets[1][0].sum()) - 1
    wrong = {"norm_placed_the_other_way": translate(
        {**config, "norm": "post" if config["norm"] == "pre" else "pre"}, weights, sources, targets)}
    here = {"no_look_ahead_mask": not is_recurrent(config), "cross_attention_reads_padding": True,
            "positions_index_the_batch": True, "target_positions_from_one": True,
            "embeddings_unscaled": config["scale_embedding"], "state_not_carried": is_recurrent(config),
            "relu_left_out": is_recurrent(config)}
    for slip in (slip for slip, possible in here.items() if possible):
        wrong[slip] = translate(config, weights, sources, targets, slip=slip)
    if is_recurrent(config):
        swapped, turned = dict(weights), dict(weights)
        for unit in (f"decoder.layers.{layer}.self_attn" for layer in range(config["decoder_layers"])):
            candidate, gate, bias = (f"{unit}.{part}" for part in ("candidate_proj.weight", "gate_proj.weight", "gate_proj.bias"))
            swapped |= {candidate: weights[gate], gate: weights[candidate]}
            turned |= {gate: -weights[gate], bias: -weights[bias]}  # 1 - sigmoid(x) = sigmoid(-x)
        wrong["gate_and_candidate_swapped"] = translate(config, swapped, sources, targets)
        wrong["gate_lets_in_what_it_should_keep"] = translate(config, turned, sources, targets)
    if config.get("zero_start"):
        wrong["zero_start_ignored"] = translate({**config, "zero_start": False}, weights, sources, targets)
    if config["positions"] == "sinusoidal_endpoint":
        wrong["positions_interleaved"] = translate({**config, "positions": "sinusoidal"}, weights, sources, targets)
    row = {slip: 0 if slip in TOLD_BY_THE_FIRST else last for slip in wrong}
    result = {slip: trace["logits"][0, row[slip]] for slip, trace in wrong.items()}
    for slip, logits in result.items():
        assert (logits - right[0, row[slip]]).abs().max() > 0.05, f"{slip} makes no difference"
    return {slip: rounded(logits[None])[0] for slip, logits in result.items()}


def make_case(out, name, config, interventions, tokenizers):
    source, target = tokenizers
    shared = config["embeddings"] == "shared"
    config = {**config, "source_vocab_size": source.vocab_size(), "target_vocab_size": target.vocab_size()}
    for key in BESIDE:
        if key not in config:
            continue
        moved = config.pop(key)
        config = {k: v for entry in config.items() for k, v in ([entry, (key, moved)] if entry[0] == BESIDE[key] else [entry])}
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
    weights = random_weights(config, torch.Generator().manual_seed(seed))
    half = HALF_PRECISION.get(name, {})
    for tensor, dtype in half.items():  # the reference uses the stored values
        weights[tensor] = as_stored(weights[tensor], dtype)

    special = lambda processor, pieces: [processor.piece_to_id(piece) for piece in pieces]
    ids = [special(source, config["prefix_tokens"]) + source.encode(text) + special(source, config["suffix_tokens"])
           for text in TEXTS]
    start, end = special(target, [config["start_token"], config["end_token"]])
    target_ids = [[start] + target.encode(text) for text in TARGETS]
    sources, targets = padded(ids), padded(target_ids)

    trace = translate(config, weights, sources, targets)
    check_small_parts(config, weights, trace, targets)
    check_attention_against_torch(config, weights, trace, sources, targets)
    if is_recurrent(config):
        check_recurrent_layers(config, weights, trace, sources, targets)
    elif config["layer_norm"] == "standard" and config["attention_bias"]:
        check_layers_against_torch(config, weights, trace, sources, targets)
    check_padding_changes_nothing(config, weights, trace, sources, targets)
    check_is_a_real_test(config, weights, trace, sources, targets)

    changed = []
    for text, options in interventions:
        masked = torch.zeros_like(sources[1])
        masked[text, options.get("maskTokens", [])] = True
        assert max(options.get("maskTokens", [0])) < len(ids[text])
        ablate = [(entry["attention"], entry["layer"], entry["head"]) for entry in options.get("ablate", [])]
        last = len(target_ids[text]) - 1
        logits = translate(config, weights, sources, targets, ablate, masked)["logits"][text, last]
        assert torch.isfinite(logits).all() and (logits - trace["logits"][text, last]).abs().max() > 0.005, (name, options)
        changed.append({"text": text, "options": options, "logits": rounded(logits[None])[0]})

    seen = recorded(lambda see: translate(config, weights, padded(ids[:1]), padded([target_ids[0][:FED]]), see=see))
    for step in seen.keys() & trace.keys():
        assert_close(step, seen[step], trace[step][0, : len(seen[step])])

    packed = pack(trace, sources, targets)
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    write_json(os.path.join(folder, "config.json"), config)
    files = {"tokenizer.model": source} if shared else {"source.model": source, "target.model": target}
    for file, processor in files.items():
        with open(os.path.join(folder, file), "wb") as out_file:
            out_file.write(processor.serialized_model_proto())
    save(os.path.join(folder, "model.safetensors"), weights, half)
    save(os.path.join(folder, "golden.safetensors"), packed)
    save_trace(folder, 0, seen)
    write_json(os.path.join(folder, "golden.json"), {
        "texts": TEXTS, "targets": TARGETS, "ids": ids, "target_ids": target_ids,
        "greedy": [greedy(config, weights, sequence, start, end) for sequence in ids],
        "interventions": changed, "slips": slips(config, weights, sources, targets, trace["logits"]),
        "tolerance": tolerances(packed, config, weights, sources, targets)})
    print(f"{name}: sources {[len(x) for x in ids]}, targets {[len(x) for x in target_ids]}")


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(TESTS, "golden")
    english, german = train_tokenizer("unigram"), train_tokenizer("unigram", GERMAN, 72)
    for name, (config, interventions) in CASES.items():
        make_case(out, name, config, interventions, (english, english if config["embeddings"] == "shared" else german))


if __name__ == "__main__":
    main()
