"""The models that goldens_explain.py, goldens_explain_next.py and goldens_explain_translation.py explain, in plain
PyTorch: a classifier, and a decoder that predicts the next token, with or without an encoder. They run one text and
show every step.

Weights have the names of our own files; the weights of published checkpoints are renamed. All tensors have torch's
default dtype. Shapes: T tokens, S tokens of a source, D d_model, H heads, d = D / H, C labels.
"""

import os
import re
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from files import load, read_json
from reference import embedding_table, encode, is_recurrent, linear, position_table

NOTHING = lambda name, x: x
ACTIVATIONS = {
    "relu": F.relu, "gelu": F.gelu, "tanh": torch.tanh, "gelu_new": lambda x: F.gelu(x, approximate="tanh")}


@dataclass
class Text:
    ids: list
    types: list = None  # one per token, in models that distinguish two texts
    positions: list = None  # one per token; None: 0, 1, ...

    def __len__(self):
        return len(self.ids)


class Subject:
    """A model of a golden. `see(name, x)` receives each named tensor and returns its replacement."""

    sites = ("self_attn",)  # the attention blocks of a layer
    units = ()  # the sites with a recurrent unit instead of attention; it has no heads

    def __init__(self, config, weights):
        self.config, self.weights = config, weights

    def sources(self):
        """Returns the number of tokens of the source."""
        return 0

    def norm(self, name, x, see, frozen):
        centered = x - x.mean(-1, keepdim=True)
        if self.config["layer_norm"] == "standard":
            scale = torch.sqrt((centered**2).mean(-1, keepdim=True) + self.config["layer_norm_eps"])
        else:
            scale = torch.sqrt((centered**2).sum(-1, keepdim=True) / (x.shape[-1] - 1)) + self.config["layer_norm_eps"]
        scale = scale.detach() if frozen else scale
        bias = see(f"bias.{name}", self.weights[f"{name}.bias"].expand_as(x))
        return centered / scale * self.weights[f"{name}.weight"] + bias

    def embed(self, text, see, frozen):
        config = self.config
        x = self.weights["encoder.embed_tokens.weight"][text.ids]
        x = x * config["d_model"] ** 0.5 if config["scale_embedding"] else x
        places = list(range(len(text))) if text.positions is None else text.positions
        if config.get("zero_start"):
            x = x * (torch.tensor(places)[:, None] != 0)
        x = see("encoder.embed_tokens", x)
        x = x + see("encoder.embed_positions", position_table(config, self.weights)[places])
        if "encoder.embed_types.weight" in self.weights:
            x = x + see("encoder.embed_types", self.weights["encoder.embed_types.weight"][text.types or [0] * len(text)])
        if "encoder.layernorm_embedding.weight" in self.weights:
            x = self.norm("encoder.layernorm_embedding", x, see, frozen)
        return x

    def attention(self, layer, site, x, see, keys):
        return self.attend(layer, site, x, x, see, keys(layer))

    def attend(self, layer, site, x, memory, see, keys):
        """Attends from x [T, D] to memory [S, D]. keys [S] or [T, S]: which rows may be read."""
        name, heads = f"encoder.layers.{layer}.{site}", self.config["n_heads"]
        split = lambda part, y: linear(self.weights, f"{name}.{part}_proj", y).view(len(y), heads, -1).transpose(0, 1)
        q, k, v = split("q", x), split("k", memory), split("v", memory)
        scores = (q @ k.transpose(-1, -2) / self.score_divisor(layer, q.shape[-1])).masked_fill(~keys, float("-inf"))
        a = torch.nan_to_num(torch.softmax(see(f"{name}.scores", scores), -1))  # [H, T, S]; 0 without a key
        a = see(f"{name}.weights", a)
        w = self.weights[f"{name}.out_proj.weight"].view(x.shape[-1], heads, -1)  # [D, H, d]
        see(f"{name}.transformed", torch.einsum("htd,chd->thc", v, w))  # f(x_j) for every head
        context = see(f"{name}.context", (a @ v).transpose(0, 1))  # [T, H, d]
        added = see(f"{name}.heads", torch.einsum("thd,chd->thc", context, w)).sum(1)
        if f"{name}.out_proj.bias" in self.weights:
            added = added + see(f"bias.{name}", self.weights[f"{name}.out_proj.bias"].expand_as(added))
        return see(f"{name}.output", added)

    def score_divisor(self, layer, d_head):
        return d_head**0.5

    def shares(self, length):
        """Returns the share of each row in the pooled row."""
        return torch.full((length,), 1 / length) if self.config["pooling"] == "mean" else F.one_hot(torch.tensor(0), length)

    def feed_forward(self, layer, x, see):
        name = f"encoder.layers.{layer}"
        hidden = ACTIVATIONS[self.config["activation"]](linear(self.weights, f"{name}.fc1", x))
        bias = self.weights[f"{name}.fc2.bias"].expand_as(x)
        product = see(f"{name}.fc2.product", hidden @ self.weights[f"{name}.fc2.weight"].T)
        return see(f"{name}.fc2", product + see(f"bias.{name}.fc2", bias))

    def __call__(self, text, see=NOTHING, without=None, frozen=False):
        """Returns the logits [C]. without(layer): tokens that are masked as keys in a layer; after the last layer,
        tokens that are not pooled.
        """
        config = self.config
        gone = without or (lambda layer: [])
        keys = lambda layer: torch.tensor([j not in gone(layer) for j in range(len(text))])
        x = self.embed(text, see, frozen)
        for layer in range(config["encoder_layers"]):
            name = f"encoder.layers.{layer}"
            x = see(f"{name}.input", x)
            norm = lambda what, y: self.norm(f"{name}.{what}_layer_norm", y, see, frozen)
            inner = lambda what, y: self.norm(f"{name}.{what}_layer_norm", y, NOTHING, False)
            blocks = [(site, lambda y, site=site: self.attention(layer, site, y, see, keys)) for site in self.sites]
            for part, block in [*blocks, ("final", lambda y: self.feed_forward(layer, y, see))]:
                if config["norm"] == "pre":
                    x = x + block(inner(part, x))
                else:
                    x = norm(part, x + block(x))
        return self.head(see("stream", x), see, frozen, keys(config["encoder_layers"]))

    def head(self, x, see=NOTHING, frozen=False, keys=None):
        if self.config["final_norm"]:
            x = self.norm("encoder.layer_norm", x, see, frozen)
        if self.config["pooling"] == "first":
            pooled = x[0]
        else:
            pooled = x.mean(0) if keys is None else x[keys].mean(0)
        if "head.dense.weight" in self.weights:
            pooled = see("head.dense", self.dense(pooled, see, frozen))
        return pooled @ self.weights["classifier.weight"].T + self.weights["classifier.bias"]

    def dense(self, pooled, see, frozen):
        """Applies the pooler. If frozen, act(u) is written as u times the constant act(u) / u."""
        activation = ACTIVATIONS[self.config["dense"]]
        bias = see("bias.head.dense", self.weights["head.dense.bias"])
        u = pooled @ self.weights["head.dense.weight"].T + bias
        if not frozen:
            return activation(u)
        assert (u != 0).all(), "a pooler's number is 0: choose another text"
        return (activation(u) / u).detach() * u


class Writer(Subject):
    """A GPT-2, which returns the logits [V] of its last row. Its stack is named "encoder", as in classifiers."""

    def attention(self, layer, site, x, see, keys):
        return self.attend(layer, site, x, x, see, torch.ones(len(x), len(x), dtype=torch.bool).tril())

    def score_divisor(self, layer, d_head):
        divisor = d_head**0.5 if self.config["scale_attn_weights"] else 1.0
        return divisor * (layer + 1 if self.config["scale_attn_by_inverse_layer_idx"] else 1)

    def shares(self, length):
        return F.one_hot(torch.tensor(length - 1), length)

    def project(self, x, see=NOTHING, frozen=False):
        if self.config["final_norm"]:
            x = self.norm("encoder.layer_norm", x, see, frozen)
        return x @ self.weights["classifier.weight"].T + self.weights["classifier.bias"]

    def head(self, x, see=NOTHING, frozen=False, keys=None):
        return self.project(x, see, frozen)[-1]


class TranslationWriter(Writer):
    """The decoder of a translator of tests/golden. `memory` [S, D] is the encoder's output."""

    sites = ("self_attn", "encoder_attn")

    def __init__(self, config, weights, memory):
        super().__init__(config, weights)
        self.memory = memory
        self.units = ("self_attn",) if is_recurrent(config) else ()

    def sources(self):
        return len(self.memory)

    def attention(self, layer, site, x, see, keys):
        if site in self.units:
            return self.recurrent_unit(f"encoder.layers.{layer}.{site}", x, see)
        if site == "self_attn":
            return super().attention(layer, site, x, see, keys)
        return self.attend(layer, site, x, self.memory, see, torch.ones(len(self.memory), dtype=torch.bool))

    def recurrent_unit(self, name, x, see):
        """Computes the unit in closed form. The share of token j's candidate in the state of row t is what its own gate
        lets in times what the later gates keep.
        """
        candidate = linear(self.weights, f"{name}.candidate_proj", x)  # [T, D]
        gate = torch.sigmoid(linear(self.weights, f"{name}.gate_proj", x))
        kept = lambda t, j: gate[j + 1 : t + 1].prod(0) * (1 - gate[j]) if j <= t else torch.zeros_like(gate[j])
        shares = torch.stack([torch.stack([kept(t, j) for j in range(len(x))]) for t in range(len(x))])  # [T, T, D]
        carried = shares * candidate
        state = carried.sum(1)
        passes = (state > 0).to(state)  # the relu, as a multiplier
        see(f"{name}.read", passes[:, None] * carried)
        return see(f"{name}.output", passes * state)

    def score_divisor(self, layer, d_head):
        return d_head**0.5


def translator(folder, source):
    """Returns the decoder of a model of tests/golden. source: ids with special tokens, for the encoder."""
    config, theirs = read_json(folder, "config.json"), load(os.path.join(folder, "model.safetensors"))
    ids = torch.tensor([source])
    memory = encode(config, theirs, ids, torch.ones_like(ids, dtype=torch.bool))[0]["encoder.output"][0]
    weights = {name.replace("decoder.", "encoder."): tensor for name, tensor in theirs.items() if name.startswith("decoder.")}
    table = embedding_table(config, theirs, "decoder")
    weights["encoder.embed_tokens.weight"] = table
    weights["classifier.weight"] = theirs["lm_head.weight"] if config["embeddings"] == "separate" else table
    weights["classifier.bias"] = theirs["lm_head.bias"] if config["lm_head_bias"] else torch.zeros(len(table))
    return TranslationWriter({**config, "encoder_layers": config["decoder_layers"]}, weights, memory)


def ours(folder):
    """Returns a classifier of tests/golden."""
    return Subject(read_json(folder, "config.json"), load(os.path.join(folder, "model.safetensors")))


# (Published name, our name), applied in this order.
BERT = [
    (r"^bert\.", ""),
    (r"^embeddings\.LayerNorm", "encoder.layernorm_embedding"),
    (r"^embeddings\.word_embeddings", "encoder.embed_tokens"),
    (r"^embeddings\.position_embeddings", "encoder.embed_positions"),
    (r"^embeddings\.token_type_embeddings", "encoder.embed_types"),
    (r"^encoder\.layer\.", "encoder.layers."),
    (r"\.attention\.self\.(q|k|v)[a-z]+\.", r".self_attn.\1_proj."),
    (r"\.attention\.output\.dense", ".self_attn.out_proj"),
    (r"\.attention\.output\.LayerNorm", ".self_attn_layer_norm"),
    (r"\.intermediate\.dense", ".fc1"),
    (r"\.output\.dense", ".fc2"),
    (r"\.output\.LayerNorm", ".final_layer_norm"),
    (r"^pooler\.dense", "head.dense"),
]
DISTILBERT = [
    (r"^distilbert\.", ""),
    *BERT[1:4],
    (r"^transformer\.layer\.", "encoder.layers."),
    (r"\.attention\.(q|k|v)_lin", r".self_attn.\1_proj"),
    (r"\.attention\.out_lin", ".self_attn.out_proj"),
    (r"\.sa_layer_norm", ".self_attn_layer_norm"),
    (r"\.output_layer_norm", ".final_layer_norm"),
    (r"\.ffn\.lin([12])", r".fc\1"),
    (r"^pre_classifier", "head.dense"),
]
# model_type: (names, the keys of sizes in config.json, the activation after the head's dense layer).
PUBLISHED = {
    "bert": (BERT, ["hidden_size", "num_attention_heads", "num_hidden_layers", "hidden_act"], "tanh"),
    "distilbert": (DISTILBERT, ["dim", "n_heads", "n_layers", "activation"], "relu"),
}


def published(folder):
    """Returns a classifier of tests/checkpoints."""
    config = read_json(folder, "config.json")
    names, keys, dense = PUBLISHED[config["model_type"]]
    weights = {}
    for name, tensor in load(os.path.join(folder, "model.safetensors")).items():
        for pattern, replacement in names:
            name = re.sub(pattern, replacement, name)
        weights[name] = tensor
    width, heads, layers, activation = (config[key] for key in keys)
    return Subject({
        "d_model": width, "n_heads": heads, "encoder_layers": layers, "activation": activation, "norm": "post",
        "layer_norm": "standard", "layer_norm_eps": config.get("layer_norm_eps", 1e-12), "scale_embedding": False,
        "positions": "learned", "final_norm": False, "pooling": "first", "dense": dense}, weights)


# GPT-2 stores matrices as [in, out], with q, k and v in one.
GPT2 = [
    (r"^transformer\.", ""),
    (r"^wte", "encoder.embed_tokens"),
    (r"^wpe", "encoder.embed_positions"),
    (r"^h\.", "encoder.layers."),
    (r"\.ln_1", ".self_attn_layer_norm"),
    (r"\.ln_2", ".final_layer_norm"),
    (r"\.attn\.c_proj", ".self_attn.out_proj"),
    (r"\.mlp\.c_fc", ".fc1"),
    (r"\.mlp\.c_proj", ".fc2"),
    (r"^ln_f", "encoder.layer_norm"),
    (r"^lm_head", "classifier"),
]


def writer(folder):
    """Returns a GPT-2 of tests/checkpoints."""
    config, weights = read_json(folder, "config.json"), {}
    for name, tensor in load(os.path.join(folder, "model.safetensors")).items():
        for pattern, replacement in GPT2:
            name = re.sub(pattern, replacement, name)
        if name.endswith(".weight") and re.search(r"c_attn|out_proj|fc[12]", name):
            tensor = tensor.T
        if ".attn.c_attn." in name:
            for part, rows in zip("qkv", tensor.chunk(3)):
                weights[name.replace("attn.c_attn", f"self_attn.{part}_proj")] = rows
        else:
            weights[name] = tensor
    weights.setdefault("classifier.weight", weights["encoder.embed_tokens.weight"])
    weights["classifier.bias"] = torch.zeros(config["vocab_size"])
    return Writer({
        "d_model": config["n_embd"], "n_heads": config["n_head"], "encoder_layers": config["n_layer"],
        "activation": config["activation_function"], "norm": "pre", "layer_norm": "standard",
        "layer_norm_eps": config["layer_norm_epsilon"], "scale_embedding": False, "positions": "learned", "final_norm": True,
        **{key: config[key] for key in ("scale_attn_weights", "scale_attn_by_inverse_layer_idx")}}, weights)
