"""Writes tests/golden: tiny models with the exact values of every step of their forward pass.

    /usr/bin/python3 tests/reference/goldens.py [OUT_DIR]      needs python3-torch and python3-sentencepiece

reference.py runs a batch of texts of different lengths, padded to the longest, with masks, in float64. The engine
concatenates the texts without padding, in float32. Before it writes anything, this program checks the reference against
torch's own modules, against explicit sums and against itself without padding. It also checks that the case is a real
test: attention is far from uniform and heads matter.

Each tests/golden/CASE is a model folder (config.json, model.safetensors, tokenizer.model) with these files.
golden.safetensors, float32; N = tokens of all texts without padding, B texts, n_s tokens of text s:
    encoder.embeddings [N, D]           embedding * sqrt(D) + position
    encoder.layers.L.self_attn.output [N, D]    after out_proj, before the residual sum
    encoder.layers.L.output [N, D]      after the feed-forward block, its residual sum and norm
    encoder.output [N, D], pooled [B, D], logits [B, C]
    attention.S [L, H, n_s, n_s]        row i: the attention weights of token i for every token j
    contributions.S [C, n_s]            mean pooling only; each row sums to the logit without the classifier's bias
golden.trace.safetensors: every tensor that the engine can trace, S/NAME, for one text S that is run by itself. Masked scores
are -inf.
golden.json:
    texts, ids, clipped                 ids as the model sees them: prefix, pieces cut to the limit, suffix
    scores, labels                      softmax of the logits, the winning label
    interventions                       [{text: S, options: {ablate, maskTokens}, logits}]
    slips                               {mistake: logits}: the logits with a known mistake; they must differ from logits
    tolerance                           {tensor or "scores": [absolute, reason]}
"""

import hashlib
import io
import math
import os
import sys

import sentencepiece
import torch
import torch.nn.functional as F

from files import TESTS, as_stored, save, write_json
from reference import embed, forward, layer_norm, linear, position_table, sinusoids

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

# ---------------------------------------------------------------- checks of the reference


def assert_close(what, got, expected, tolerance=1e-11):
    error = (got - expected).abs().max().item()
    assert got.shape == expected.shape and error <= tolerance, f"{what}: off by {error}"


def check_layers_against_torch(config, weights, trace, real):
    """Compares each layer with torch.nn.TransformerEncoderLayer. Requires standard norms and full attention with
    biases.
    """
    d_model, n_heads = config["d_model"], config["n_heads"]
    x = trace["encoder.embeddings"]
    for layer in range(config["encoder_layers"]):
        name = f"encoder.layers.{layer}"
        block = torch.nn.TransformerEncoderLayer(
            d_model, n_heads, config["d_ff"], dropout=0.0, activation=config["activation"],
            layer_norm_eps=config["layer_norm_eps"], batch_first=True, norm_first=config["norm"] == "pre")
        in_proj = lambda kind: torch.cat([weights[f"{name}.self_attn.{part}_proj.{kind}"] for part in "qkv"])
        block.load_state_dict({
            "self_attn.in_proj_weight": in_proj("weight"), "self_attn.in_proj_bias": in_proj("bias"),
            **{f"{theirs}.{kind}": weights[f"{name}.{ours}.{kind}"] for kind in ("weight", "bias") for theirs, ours in (
                ("self_attn.out_proj", "self_attn.out_proj"), ("linear1", "fc1"), ("linear2", "fc2"),
                ("norm1", "self_attn_layer_norm"), ("norm2", "final_layer_norm"))}})
        x = block(x, src_key_padding_mask=~real).detach()
        assert_close(f"{name} and TransformerEncoderLayer", trace[f"{name}.output"][real], x[real])


def check_attention_against_torch(config, weights, trace, real):
    """Compares the attention of layer 0 with nn.MultiheadAttention: its output and the weights of every head."""
    name, d_model = "encoder.layers.0.self_attn", config["d_model"]
    x = trace["encoder.embeddings"]
    if config["norm"] == "pre":
        x = layer_norm(config, weights, "encoder.layers.0.self_attn_layer_norm", x)
    attention = torch.nn.MultiheadAttention(d_model, config["n_heads"], bias=config["attention_bias"], batch_first=True)
    state = {"in_proj_weight": torch.cat([weights[f"{name}.{part}_proj.weight"] for part in "qkv"]),
             "out_proj.weight": weights[f"{name}.out_proj.weight"]}
    if config["attention_bias"]:
        state["in_proj_bias"] = torch.cat([weights[f"{name}.{part}_proj.bias"] for part in "qkv"])
        state["out_proj.bias"] = weights[f"{name}.out_proj.bias"]
    attention.load_state_dict(state)
    window = None
    if config["attention"] == "local":
        position = torch.arange(x.shape[1])
        window = (position[:, None] - position[None, :]).abs() > config["attention_window"]
    output, a = attention(x, x, x, key_padding_mask=~real, attn_mask=window, average_attn_weights=False)
    assert_close(f"{name} and MultiheadAttention", trace[f"{name}.output"][real], output.detach()[real])
    ours = trace["attention"][:, 0].transpose(1, 2)[real]  # rows of queries that are not padding
    assert_close("weights of MultiheadAttention", ours, a.detach().transpose(1, 2)[real])


def check_linear_attention_in_linear_time(config, weights, trace, real):
    """Compares linear attention with Katharopoulos et al. 2020, eq. 5: phi(q_i) S / (phi(q_i) z) with S = sum phi(k_j)
    v_j^T and z = sum phi(k_j).
    """
    name, n_heads = "encoder.layers.0.self_attn", config["n_heads"]
    x = trace["encoder.embeddings"]
    if config["norm"] == "pre":
        x = layer_norm(config, weights, "encoder.layers.0.self_attn_layer_norm", x)
    for text, length in enumerate(real.sum(1).tolist()):
        q, k, v = (linear(weights, f"{name}.{part}_proj", x[text, :length]).view(length, n_heads, -1) for part in "qkv")
        phi_q, phi_k = (torch.where(y > 0, y + 1, torch.exp(y)) for y in (q, k))
        sums = torch.einsum("nhd,nhe->hde", phi_k, v)
        normalizer = torch.einsum("nhd,hd->nh", phi_q, phi_k.sum(0))
        context = torch.einsum("nhd,hde->nhe", phi_q, sums) / normalizer[:, :, None]
        output = linear(weights, f"{name}.out_proj", context.reshape(length, -1))
        assert_close("linear attention", trace[f"{name}.output"][text, :length], output)


def check_small_parts(config, weights, trace, real):
    table = sinusoids(5, 7)
    for p in range(5):
        for column in range(7):
            angle = p / 10000 ** (2 * (column // 2) / 7)
            assert abs(table[p, column] - (math.cos(angle) if column % 2 else math.sin(angle))) < 1e-12
    x = torch.randn(4, 9, generator=torch.Generator().manual_seed(1))
    ones = {"n.weight": torch.ones(9), "n.bias": torch.zeros(9)}
    kind = lambda name, eps: {"layer_norm": name, "layer_norm_eps": eps}
    assert_close("LayerNorm", layer_norm(kind("standard", 1e-5), ones, "n", x), F.layer_norm(x, (9,), eps=1e-5))
    unbiased = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)  # torch's std divides by n - 1
    assert_close("unbiased LayerNorm", layer_norm(kind("unbiased", 1e-6), ones, "n", x), unbiased)
    rows = trace["attention"].transpose(1, 3)[real].sum(-1)
    assert_close("rows of attention", rows, torch.ones_like(rows))
    if config["pooling"] == "mean":
        total = trace["contributions"].sum(-1) + weights["classifier.bias"]
        assert_close("contributions", total, trace["logits"])


def check_padding_changes_nothing(config, weights, trace, ids, real):
    padding = torch.where(real, ids, torch.full_like(ids, config["vocab_size"] - 1))
    other = forward(config, weights, padding, real)
    assert_close("another padding token", other["logits"], trace["logits"])
    for text, length in enumerate(real.sum(1).tolist()):
        alone = forward(config, weights, ids[text : text + 1, :length], real[text : text + 1, :length])
        assert_close("a text by itself", alone["encoder.output"][0], trace["encoder.output"][text, :length])
        assert_close("a text by itself", alone["logits"][0], trace["logits"][text])


def check_is_a_real_test(config, weights, trace, ids, real):
    """Checks that attention is neither flat nor sharp, that every head matters, and that answers differ."""
    longest = real.sum(1).argmax()
    length = int(real[longest].sum())
    a = trace["attention"][longest, :, :, :length, :length]  # [L, H, n, n]
    if config["attention"] != "linear":  # linear attention is always flat
        readable = torch.full((length,), float(length))
        if config["attention"] == "local":
            position = torch.arange(length)
            readable = ((position[:, None] - position[None, :]).abs() <= config["attention_window"]).sum(-1).double()
        entropy = (-(a * torch.log(a.clamp_min(1e-300))).sum(-1) / torch.log(readable)).mean((-1, -2))
        assert (entropy < 0.85).all() and (entropy > 0.1).all(), f"attention too flat or too sharp: {entropy}"
    assert len(set(trace["logits"].argmax(-1).tolist())) > 1, "every text has the same label"
    assert trace["logits"].std(0).min() > 0.3, f"texts hardly differ: {trace['logits']}"
    for layer in range(config["encoder_layers"]):
        for head in range(config["n_heads"]):
            without = forward(config, weights, ids, real, ablate=[(layer, head)])["logits"]
            assert (without - trace["logits"]).abs().max() > 0.005, f"head {layer}.{head} does not matter"


# ---------------------------------------------------------------- cases

SENTENCES = """
a gripping and beautifully shot film with a quiet heart
the plot makes no sense and the jokes fall flat
great cast , dreadful script
not good at all , a waste of two hours
i laughed , i cried , and i would gladly see it again
the camera lingers where the story should move
boring from the first scene to the last
a small miracle of timing and of charm
the sound is thin but the picture is crisp and bright
it broke after a week and nobody answered my letters
loved it
meh
an honest film about ordinary people , told without tricks
the battery lasts two days and the screen is a joy
never again
""".strip().split("\n")

TEXTS = [
    "a gripping, beautifully shot film",
    "a",
    "the plot makes no sense",
    "not good at all",
    "caf\u00e9 \u2603 meh",
]
TRACED = "not good at all"  # the text of golden.trace.safetensors
LONG = "the sound is thin but the picture is crisp and bright , never"  # 37 pieces
TWO_LABELS = ["negative", "positive"]
FIVE_LABELS = ["very negative", "negative", "neutral", "positive", "very positive"]


def base(**choices):
    config = {
        "format": 1, "model_type": "encoder_classifier", "task": "text-classification", "labels": TWO_LABELS,
        "vocab_size": 0, "d_model": 12, "d_ff": 28, "n_heads": 2, "encoder_layers": 2, "max_source_length": 64,
        "positions": "sinusoidal", "scale_embedding": True, "norm": "pre", "layer_norm": "standard",
        "layer_norm_eps": 1e-5, "final_norm": True, "attention": "full", "attention_bias": True,
        "activation": "relu", "pooling": "mean", "clip": "end", "prefix_tokens": [], "suffix_tokens": [],
    }
    return {**config, **choices}


def ablate(*pairs):
    return {"ablate": [{"attention": "encoder", "layer": layer, "head": head} for layer, head in pairs]}


def mask(*tokens):
    return {"maskTokens": list(tokens)}


# name: (configuration, tokenizer, texts, interventions as (text, options))
CASES = {
    # The choices of the sentiment model, which the tutorial's text recommends, and every intervention.
    "pre_norm_mean": (
        base(d_model=16, d_ff=40, n_heads=4), "unigram", TEXTS + [LONG],
        [(0, ablate((0, 1))), (5, ablate((0, 0), (1, 3))), (5, ablate((1, 0), (1, 1), (1, 2), (1, 3))),
         (0, mask(0)), (5, mask(3, 36)), (5, {**ablate((0, 2)), **mask(1)})]),
    # The tutorial's code: post-norm with a final norm, and its own LayerNorm.
    "tutorial_post_norm": (
        base(norm="post", layer_norm="unbiased", layer_norm_eps=1e-6), "unigram", TEXTS,
        [(2, ablate((1, 1))), (2, mask(5))]),
    "post_norm_gelu_learned_first": (
        base(norm="post", final_norm=False, activation="gelu", positions="learned", scale_embedding=False,
             max_source_length=40, pooling="first", prefix_tokens=["<s>"], labels=FIVE_LABELS), "unigram", TEXTS,
        [(2, ablate((0, 0))), (2, mask(4))]),
    "pre_norm_unbiased_first": (
        base(layer_norm="unbiased", layer_norm_eps=1e-6, activation="gelu", pooling="first", attention_bias=False,
             prefix_tokens=["<s>"], suffix_tokens=["</s>"], final_norm=False), "bpe", TEXTS, []),
    # A window that is shorter than the long text. Five masked neighbors leave the middle token without keys.
    "local_window": (
        base(attention="local", attention_window=2, attention_bias=False), "unigram", [LONG] + TEXTS,
        [(0, mask(10, 11, 12, 13, 14)), (0, ablate((0, 0), (0, 1)))]),
    "local_post_norm_learned": (
        base(attention="local", attention_window=1, norm="post", positions="learned", max_source_length=17,
             activation="gelu", labels=FIVE_LABELS), "bpe", TEXTS, []),
    "linear_attention": (
        base(attention="linear"), "unigram", TEXTS[:4] + [LONG], [(4, mask(7, 8)), (4, ablate((1, 0)))]),
    # No dimension is a multiple of a vector; a text is cut at the limit and keeps the suffix; half-precision weights.
    "odd_sizes": (
        base(d_model=14, n_heads=2, d_ff=37, max_source_length=23, labels=["a", "b", "c"], suffix_tokens=["</s>"],
             activation="gelu"), "unigram", TEXTS + [LONG], [(5, mask(22)), (5, ablate((1, 1)))]),
}
HALF_PRECISION = {"odd_sizes": {"encoder.embed_tokens.weight": "BF16", "encoder.layers.0.fc1.weight": "F16",
                                "encoder.layers.1.self_attn.q_proj.weight": "F16", "classifier.weight": "BF16"}}


def train_tokenizer(model_type, sentences=SENTENCES, vocab_size=80):
    """Trains a SentencePiece model without a normalization map and without paths inside."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, model_type=model_type, vocab_size=vocab_size,
        normalization_rule_name="identity", num_threads=1, minloglevel=2)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def random_layer(config, name, draw, attentions=("self_attn",)):
    """Returns random weights of one layer, without its norms."""
    d_model, d_ff = config["d_model"], config["d_ff"]
    weights = {}
    for attention in attentions:
        for part, std in (("q", 1.6), ("k", 1.6), ("v", 1.0), ("out", 1.0)):
            weights[f"{name}.{attention}.{part}_proj.weight"] = draw(d_model, d_model, std=std / math.sqrt(d_model))
            if config["attention_bias"]:
                weights[f"{name}.{attention}.{part}_proj.bias"] = draw(d_model, std=0.3)
    weights[f"{name}.fc1.weight"] = draw(d_ff, d_model, std=1.4 / math.sqrt(d_model))
    weights[f"{name}.fc1.bias"] = draw(d_ff, std=0.3)
    weights[f"{name}.fc2.weight"] = draw(d_model, d_ff, std=1.0 / math.sqrt(d_ff))
    weights[f"{name}.fc2.bias"] = draw(d_model, std=0.3)
    return weights


def random_norm(config, name, draw):
    return {f"{name}.weight": 1 + draw(config["d_model"], std=0.2), f"{name}.bias": draw(config["d_model"], std=0.2)}


def random_weights(config, generator):
    """Returns float32 values in float64. Their sizes make attention peaky and every part matter."""
    d_model, labels = config["d_model"], len(config["labels"])
    draw = lambda *shape, std: torch.randn(*shape, generator=generator) * std
    weights = {"encoder.embed_tokens.weight": draw(config["vocab_size"], d_model,
                                                   std=1.0 / math.sqrt(d_model) if config["scale_embedding"] else 1.0)}
    if config["positions"] == "learned":
        weights["encoder.embed_positions.weight"] = draw(config["max_source_length"], d_model, std=0.5)
    norms = [] if not config["final_norm"] else ["encoder.layer_norm"]
    for layer in range(config["encoder_layers"]):
        name = f"encoder.layers.{layer}"
        weights |= random_layer(config, name, draw)
        norms += [f"{name}.self_attn_layer_norm", f"{name}.final_layer_norm"]
    for name in norms:
        weights |= random_norm(config, name, draw)
    weights["classifier.weight"] = draw(labels, d_model, std=3.0 / math.sqrt(d_model))
    weights["classifier.bias"] = draw(labels, std=0.3)
    return {name: tensor.float().double() for name, tensor in weights.items()}


def tokenize(config, processor, text):
    """Returns (ids with prefix and suffix, clipped). A text that is too long loses pieces, not the prefix or suffix."""
    special = lambda key: [processor.piece_to_id(piece) for piece in config[key]]
    prefix, suffix = special("prefix_tokens"), special("suffix_tokens")
    room = config["max_source_length"] - len(prefix) - len(suffix)
    pieces = processor.encode(text)
    return prefix + pieces[:room] + suffix, len(pieces) > room


def tolerances(tensors, config, weights, ids, real):
    """Returns a tolerance per tensor: 16 times PyTorch's own float32 error on this case, or 16 units in the last place
    of the largest value if that is more. This allows another order of sums or another exp, but not another formula.
    """
    single = {name: tensor.float() for name, tensor in weights.items()}
    torch.set_default_dtype(torch.float32)
    in_single = forward(config, single, ids, real)
    torch.set_default_dtype(torch.float64)
    in_single["scores"] = torch.softmax(in_single["logits"], -1)
    packed = pack({name: tensor.double() for name, tensor in in_single.items()}, real)
    result = {}
    for name, tensor in tensors.items():
        lost = (packed[name] - tensor).abs().max().item()
        floor = tensor.abs().max().item() * 2.0**-23
        reason = f"PyTorch's own float32 error here, {lost:.1e}"
        if floor > lost:
            reason = f"2^-23 of the largest value, {floor:.1e}"
        result[name] = [float(f"{16 * max(lost, floor):.1g}"), f"float32 rounding: 16 x {reason}"]
    return result


def pack(trace, real):
    """Drops the padding: one row per token, one attention tensor per text."""
    packed = {}
    for name, tensor in trace.items():
        if name in ("attention", "contributions"):
            for text, length in enumerate(real.sum(1).tolist()):
                cut = tensor[text, ..., :length]
                packed[f"{name}.{text}"] = cut[..., :length, :] if name == "attention" else cut
        else:
            packed[name] = tensor if name in ("pooled", "logits", "scores") else tensor[real]
    return packed


def recorded(run):
    """Returns every step of `run(see)` on one text: {name: tensor}, without the batch dimension."""
    seen = {}

    def see(name, x):
        assert x.shape[0] == 1 and name not in seen, name
        seen[name] = x[0]

    run(see)
    return seen


def save_trace(folder, text, seen):
    save(os.path.join(folder, "golden.trace.safetensors"), {f"{text}/{name}": tensor for name, tensor in seen.items()})


def rounded(tensor):
    return [[float(f"{value:.9g}") for value in row] for row in tensor.tolist()]


def slips(config, weights, ids, real, right):
    """Returns {mistake of the tutorials: the logits that it gives}. All must differ from the right logits."""
    table = position_table(config, weights)
    x = embed(config, weights, ids)
    tokens = weights["encoder.embed_tokens.weight"][ids] * (math.sqrt(config["d_model"]) if config["scale_embedding"] else 1)
    for text in range(ids.shape[0]):  # correct: embeddings don't depend on a text's place in the batch
        assert_close("positions", x[text] - tokens[text], table[: ids.shape[1]])
    wrong = {"norm_placed_the_other_way": forward(
        {**config, "norm": "post" if config["norm"] == "pre" else "pre"}, weights, ids, real)["logits"]}
    for slip in ("positions_index_the_batch", "mean_counts_padding"):
        if slip != "mean_counts_padding" or config["pooling"] == "mean":
            wrong[slip] = forward(config, weights, ids, real, slip=slip)["logits"]
    for slip, logits in wrong.items():
        assert (logits - right).abs().max() > 0.05, f"{slip} makes no difference"
    return {slip: rounded(logits) for slip, logits in wrong.items()}


def make_case(out, name, config, processor, texts, interventions):
    config = {**config, "vocab_size": processor.vocab_size()}
    if config["attention"] == "local":  # put attention_window next to attention
        order = [key for key in config if key != "attention_window"]
        order.insert(order.index("attention") + 1, "attention_window")
        config = {key: config[key] for key in order}
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
    weights = random_weights(config, torch.Generator().manual_seed(seed))
    half = HALF_PRECISION.get(name, {})
    for tensor, dtype in half.items():  # the reference uses the stored values
        weights[tensor] = as_stored(weights[tensor], dtype)

    sequences, clipped = zip(*(tokenize(config, processor, text) for text in texts))
    lengths = [len(sequence) for sequence in sequences]
    real = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    ids = torch.zeros(len(texts), max(lengths), dtype=torch.long)
    for text, sequence in enumerate(sequences):
        ids[text, : len(sequence)] = torch.tensor(sequence)

    # A bias that centers the logits, so that texts of one case get different labels.
    logits = forward(config, weights, ids, real)["logits"]
    weights["classifier.bias"] += 0.25 - logits.mean(0)
    weights["classifier.bias"] = weights["classifier.bias"].float().double()

    trace = forward(config, weights, ids, real)
    check_small_parts(config, weights, trace, real)
    if config["attention"] == "linear":
        check_linear_attention_in_linear_time(config, weights, trace, real)
    else:
        check_attention_against_torch(config, weights, trace, real)
    if config["attention"] == "full" and config["layer_norm"] == "standard" and config["attention_bias"]:
        check_layers_against_torch(config, weights, trace, real)
    check_padding_changes_nothing(config, weights, trace, ids, real)
    check_is_a_real_test(config, weights, trace, ids, real)

    changed = []
    for text, options in interventions:
        masked = torch.zeros_like(real)
        masked[text, options.get("maskTokens", [])] = True
        heads = [(entry["layer"], entry["head"]) for entry in options.get("ablate", [])]
        logits = forward(config, weights, ids, real, ablate=heads, masked=masked)["logits"][text]
        assert max(options.get("maskTokens", [0])) < lengths[text]
        assert torch.isfinite(logits).all() and (logits - trace["logits"][text]).abs().max() > 0.005, (name, options)
        changed.append({"text": text, "options": options, "logits": rounded(logits[None])[0]})

    traced = texts.index(TRACED)
    alone = torch.tensor([sequences[traced]])
    seen = recorded(lambda see: forward(config, weights, alone, torch.ones_like(alone, dtype=torch.bool), see=see))
    for step in seen.keys() & trace.keys():
        padded = trace[step][traced]
        assert_close(step, seen[step], padded if padded.dim() == 1 else padded[: lengths[traced]])

    trace["scores"] = torch.softmax(trace["logits"], -1)
    packed = pack(trace, real)
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    write_json(os.path.join(folder, "config.json"), config)
    with open(os.path.join(folder, "tokenizer.model"), "wb") as file:
        file.write(processor.serialized_model_proto())
    save(os.path.join(folder, "model.safetensors"), weights, half)
    save(os.path.join(folder, "golden.safetensors"), {name: x for name, x in packed.items() if name != "scores"})
    save_trace(folder, traced, seen)
    write_json(os.path.join(folder, "golden.json"), {
        "texts": texts, "ids": sequences, "clipped": clipped, "scores": rounded(trace["scores"]),
        "labels": [config["labels"][best] for best in trace["logits"].argmax(-1).tolist()],
        "interventions": changed, "slips": slips(config, weights, ids, real, trace["logits"]),
        "tolerance": tolerances(packed, config, weights, ids, real)})
    print(f"{name}: lengths {lengths}, clipped {sum(clipped)}")


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(TESTS, "golden")
    tokenizers = {kind: train_tokenizer(kind) for kind in ("unigram", "bpe")}
    for name, (config, tokenizer, texts, interventions) in CASES.items():
        make_case(out, name, config, tokenizers[tokenizer], texts, interventions)


if __name__ == "__main__":
    main()
