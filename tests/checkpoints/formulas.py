"""Llama and related families, GPT-NeoX and ModernBERT, as formulas in float64 that use only config.json and the weights.

make.py compares them with the library before it writes anything, so they compute the same as the library, for both
forms of config.json: that of transformers 4 and that of transformers 5 (`rope_parameters`). Shapes: T tokens, D
d_model, H query heads, G key and value heads, d size of a head.
"""

import json
import math

import torch
from safetensors.torch import load_file

from traces import near

THETA = {"smollm3": 2e6}  # if config.json does not have it
ACTIVATIONS = {"silu": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu,
               "gelu_pytorch_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh")}


def frequencies(rope, d):
    """Returns the radians per position [d/2] of the pairs of numbers (i, i + d/2)."""
    kind = rope.get("rope_type", rope.get("type", "default"))
    f = rope["rope_theta"] ** (-torch.arange(0, d, 2).double() / d)
    if kind in ("longrope", "su"):
        return f / torch.tensor(rope["short_factor"]).double()
    if kind == "linear":
        return f / rope["factor"]
    if kind == "llama3":
        longest, low, high = (rope[key] for key in (
            "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"))
        # 0 where a wavelength is longest / low or more, 1 where it is longest / high or less.
        keep = ((longest * f / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
        return keep * f + (1 - keep) * f / rope["factor"]
    assert kind == "default", kind
    return f


def turned(x, f, amplitude=1.0):
    """Applies rotary positions to the first numbers of x [heads, T, d], two for each frequency."""
    angle = torch.arange(x.shape[1]).double()[:, None] * f
    cos, sin = angle.cos() * amplitude, angle.sin() * amplitude
    one, two, rest = x.split([len(f), len(f), x.shape[-1] - 2 * len(f)], -1)
    return torch.cat([one * cos - two * sin, two * cos + one * sin, rest], -1)


def capped(x, cap):
    return cap * torch.tanh(x / cap) if cap else x


def attend(q, k, v, sees, scale=None, cap=None):
    """Attends with q [H, T, d] to k, v [G, T, d]. Returns [T, H·d]. sees [T, T]: which keys (columns) a query reads."""
    k, v = (x.repeat_interleave(len(q) // len(x), 0) for x in (k, v))
    scores = capped(q @ k.transpose(1, 2) * (scale or q.shape[-1] ** -0.5), cap)
    context = scores.masked_fill(~sees, -torch.inf).softmax(-1) @ v
    return context.transpose(0, 1).flatten(1)


def distances(T):
    """Returns the distances [T, T] from keys to queries."""
    return torch.arange(T)[:, None] - torch.arange(T)


def rms(x, weight, epsilon):
    return x * (x.pow(2).mean(-1, keepdim=True) + epsilon).rsqrt() * weight


class Formula:
    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {}
        for file in folder.glob("model*.safetensors"):
            self.weights |= {name: x.double() for name, x in load_file(file).items()}

    def linear(self, name, x):
        bias = self.weights.get(f"{name}.bias")
        return torch.nn.functional.linear(x, self.weights[f"{name}.weight"], bias)


class Llama(Formula):
    """llama, mistral, qwen2, qwen3, smollm3."""

    def rope(self):
        config = self.config
        scaling = config.get("rope_scaling") or config.get("rope_parameters") or {}
        return {"rope_theta": config.get("rope_theta", THETA.get(config["model_type"], 1e4))} | scaling

    def rotation(self):
        """Returns the frequencies and the factor of all rotated numbers."""
        config = self.config
        d = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        return frequencies(self.rope(), d), 1.0

    def windows(self):
        """Returns, per layer, the most keys that a query reads, including its own; None: all keys before it."""
        config, layers = self.config, range(self.config["num_hidden_layers"])
        kind = config["model_type"]
        if kind == "mistral":
            return [config.get("sliding_window", 4096)] * len(layers)
        if kind == "llama" or not config.get("use_sliding_window", False):
            return [None] * len(layers)
        first = config.get("max_window_layers", 28)
        types = config.get("layer_types") or [
            "sliding_attention" if layer >= first else "full_attention" for layer in layers]
        return [config["sliding_window"] if kind == "sliding_attention" else None for kind in types]

    def turns(self):
        """Returns, per layer, whether it has rotary positions."""
        config, layers = self.config, range(self.config["num_hidden_layers"])
        if config["model_type"] != "smollm3":
            return [True] * len(layers)
        interval = config.get("no_rope_layer_interval", 4)
        return config.get("no_rope_layers") or [(layer + 1) % interval != 0 for layer in layers]

    def logits(self, ids):
        config, weights, epsilon = self.config, self.weights, self.config["rms_norm_eps"]
        heads = config["num_attention_heads"]
        d = config.get("head_dim") or config["hidden_size"] // heads
        (f, amplitude), behind = self.rotation(), distances(len(ids))
        x = weights["model.embed_tokens.weight"][ids]
        for layer, (window, turns) in enumerate(zip(self.windows(), self.turns())):
            name = f"model.layers.{layer}"
            read = rms(x, weights[f"{name}.input_layernorm.weight"], epsilon)
            q, k, v = (self.linear(f"{name}.self_attn.{part}_proj", read).unflatten(-1, (-1, d)) for part in "qkv")
            if config["model_type"] == "qwen3":
                q = rms(q, weights[f"{name}.self_attn.q_norm.weight"], epsilon)
                k = rms(k, weights[f"{name}.self_attn.k_norm.weight"], epsilon)
            q, k, v = (part.transpose(0, 1) for part in (q, k, v))
            if turns:
                q, k = turned(q, f, amplitude), turned(k, f, amplitude)
            sees = (behind >= 0) & (behind < (window or len(ids)))
            x = x + self.linear(f"{name}.self_attn.o_proj", attend(q, k, v, sees))
            read = rms(x, weights[f"{name}.post_attention_layernorm.weight"], epsilon)
            gate, up = (self.linear(f"{name}.mlp.{part}_proj", read) for part in ("gate", "up"))
            x = x + self.linear(f"{name}.mlp.down_proj", ACTIVATIONS[config["hidden_act"]](gate) * up)
        table = "model.embed_tokens" if self.tied() else "lm_head"
        return rms(x, weights["model.norm.weight"], epsilon) @ weights[f"{table}.weight"].T

    def tied(self):
        return self.config.get("tie_word_embeddings", self.config["model_type"] == "smollm3")

    output = logits


class Phi3(Llama):
    """Llama with one matrix for q, k and v, and one for gate and up."""

    def __init__(self, folder):
        super().__init__(folder)
        config, split = self.config, {}
        heads, keys = config["num_attention_heads"], config["num_key_value_heads"]
        self.d = config.get("head_dim") or config["hidden_size"] // heads
        for name, x in self.weights.items():
            if name.endswith("qkv_proj.weight"):
                parts = x.split([heads * self.d, keys * self.d, keys * self.d])
                split |= {name.replace("qkv_proj", f"{part}_proj"): part_x for part, part_x in zip("qkv", parts)}
            if name.endswith("gate_up_proj.weight"):
                split |= {name.replace("gate_up", part): part_x for part, part_x in zip(("gate", "up"), x.chunk(2))}
        self.weights |= split

    def windows(self):
        return [self.config.get("sliding_window")] * self.config["num_hidden_layers"]

    def rotation(self):
        config, rope = self.config, self.rope()
        part = rope.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0))
        f = frequencies(rope, int(self.d * part))
        if rope.get("rope_type", rope.get("type", "default")) == "default":
            return f, 1.0
        first = config["original_max_position_embeddings"]
        return f, math.sqrt(1 + math.log(config["max_position_embeddings"] / first) / math.log(first))


class Gemma(Formula):
    """gemma2, gemma3_text."""

    def norm(self, name, x):
        return rms(x, 1 + self.weights[f"model.{name}.weight"], self.config["rms_norm_eps"])

    def kinds(self):
        config, second = self.config, self.config["model_type"] == "gemma2"
        every = 2 if second else config.get("sliding_window_pattern", 6)
        return config.get("layer_types") or ["sliding_attention" if (layer + 1) % every else "full_attention"
                                             for layer in range(config["num_hidden_layers"])]

    def ropes(self):
        config, parts = self.config, self.config.get("rope_parameters") or {}
        if config["model_type"] == "gemma2":
            rope = {"rope_theta": config.get("rope_theta", 1e4)} | parts
            return {"sliding_attention": rope, "full_attention": rope}
        full = {"rope_theta": config.get("rope_theta", 1e6)} | (config.get("rope_scaling") or {})
        return {"full_attention": full, "sliding_attention": {"rope_theta": config.get("rope_local_base_freq", 1e4)}} | parts

    def output(self, ids):
        config, weights, norm = self.config, self.weights, self.norm
        d, behind, ropes = config["head_dim"], distances(len(ids)), self.ropes()
        second = config["model_type"] == "gemma2"
        x = weights["model.embed_tokens.weight"][ids] * config["hidden_size"] ** 0.5
        for layer, kind in enumerate(self.kinds()):
            name, f = f"layers.{layer}", frequencies(ropes[kind], d)
            read = norm(f"{name}.input_layernorm", x)
            q, k, v = (self.linear(f"model.{name}.self_attn.{part}_proj", read).unflatten(-1, (-1, d)) for part in "qkv")
            if not second:
                q, k = norm(f"{name}.self_attn.q_norm", q), norm(f"{name}.self_attn.k_norm", k)
            q, k, v = (part.transpose(0, 1) for part in (q, k, v))
            sees = (behind >= 0) & (behind < (config["sliding_window"] if kind == "sliding_attention" else len(ids)))
            context = attend(turned(q, f), turned(k, f), v, sees, config["query_pre_attn_scalar"] ** -0.5,
                             config.get("attn_logit_softcapping") if second else None)
            attention = self.linear(f"model.{name}.self_attn.o_proj", context)
            x = x + norm(f"{name}.post_attention_layernorm", attention)
            read = norm(f"{name}.pre_feedforward_layernorm", x)
            gate, up = (self.linear(f"model.{name}.mlp.{part}_proj", read) for part in ("gate", "up"))
            down = self.linear(f"model.{name}.mlp.down_proj", ACTIVATIONS[config["hidden_activation"]](gate) * up)
            x = x + norm(f"{name}.post_feedforward_layernorm", down)
        table = "lm_head" if "lm_head.weight" in weights else "model.embed_tokens"
        return capped(norm("norm", x) @ weights[f"{table}.weight"].T, config.get("final_logit_softcapping"))


class GptNeoX(Formula):
    def norm(self, name, x):
        weights = (self.weights[f"gpt_neox.{name}.{kind}"] for kind in ("weight", "bias"))
        return torch.nn.functional.layer_norm(x, x.shape[-1:], *weights, eps=self.config["layer_norm_eps"])

    def output(self, ids):
        config, linear, norm = self.config, self.linear, self.norm
        heads, rope = config["num_attention_heads"], config.get("rope_parameters") or {}
        d = config["hidden_size"] // heads
        part = rope.get("partial_rotary_factor", config.get("rotary_pct", 0.25))
        f = frequencies({"rope_theta": config.get("rotary_emb_base", 1e4)} | rope, int(d * part))
        x, sees = self.weights["gpt_neox.embed_in.weight"][ids], distances(len(ids)) >= 0
        for layer in range(config["num_hidden_layers"]):
            name = f"layers.{layer}"
            qkv = linear(f"gpt_neox.{name}.attention.query_key_value", norm(f"{name}.input_layernorm", x))
            q, k, v = qkv.unflatten(-1, (heads, 3, d)).permute(2, 1, 0, 3)
            attention = linear(f"gpt_neox.{name}.attention.dense", attend(turned(q, f), turned(k, f), v, sees))
            read = x if config.get("use_parallel_residual", True) else x + attention
            read = linear(f"gpt_neox.{name}.mlp.dense_h_to_4h", norm(f"{name}.post_attention_layernorm", read))
            x = x + attention + linear(f"gpt_neox.{name}.mlp.dense_4h_to_h", ACTIVATIONS[config["hidden_act"]](read))
        return norm("final_layer_norm", x) @ self.weights["embed_out.weight"].T


class ModernBert(Formula):
    def weight(self, name):
        return self.weights.get(f"model.{name}", self.weights.get(name))

    def norm(self, name, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], self.weight(f"{name}.weight"), eps=self.config["norm_eps"])

    def thetas(self):
        """Returns the thetas of layers with full attention, and of layers with a window."""
        config, parts = self.config, self.config.get("rope_parameters") or {}
        return {kind: parts.get(kind, {}).get("rope_theta", config.get(f"{old}_rope_theta", default))
                for kind, old, default in (("full_attention", "global", 160000.0), ("sliding_attention", "local", 10000.0))}

    def states(self, ids):
        config, weight = self.config, self.weight
        heads = config["num_attention_heads"]
        d, thetas, behind = config["hidden_size"] // heads, self.thetas(), distances(len(ids))
        every = config.get("global_attn_every_n_layers", 3)
        kinds = config.get("layer_types") or ["sliding_attention" if layer % every else "full_attention"
                                              for layer in range(config["num_hidden_layers"])]
        x = self.norm("embeddings.norm", weight("embeddings.tok_embeddings.weight")[ids])
        for layer, kind in enumerate(kinds):
            name, f = f"layers.{layer}", frequencies({"rope_theta": thetas[kind]}, d)
            read = self.norm(f"{name}.attn_norm", x) if layer else x
            q, k, v = (read @ weight(f"{name}.attn.Wqkv.weight").T).unflatten(-1, (3, heads, d)).permute(1, 2, 0, 3)
            sees = behind.abs() <= (config["local_attention"] // 2 if kind == "sliding_attention" else len(ids))
            x = x + attend(turned(q, f), turned(k, f), v, sees) @ weight(f"{name}.attn.Wo.weight").T
            read, gate = (self.norm(f"{name}.mlp_norm", x) @ weight(f"{name}.mlp.Wi.weight").T).chunk(2, -1)
            x = x + (ACTIVATIONS[config["hidden_activation"]](read) * gate) @ weight(f"{name}.mlp.Wo.weight").T
        return self.norm("final_norm", x)

    def output(self, ids):
        x = self.states(ids)
        if "head.dense.weight" not in self.weights:
            return x
        if self.config["architectures"][0].endswith("ForSequenceClassification"):
            x = x[0] if self.config["classifier_pooling"] == "cls" else x.mean(0)
        x = ACTIVATIONS[self.config["classifier_activation"]](x @ self.weights["head.dense.weight"].T)
        x = self.norm("head.norm", x)
        if "classifier.weight" in self.weights:
            return self.linear("classifier", x)
        return x @ self.weight("embeddings.tok_embeddings.weight").T + self.weights["decoder.bias"]


def check(formula, model):
    """Compares the formulas with the library on tokens from the whole vocabulary."""
    ids = (torch.arange(19) * 37 + 5) % model.config.vocab_size
    with torch.no_grad():
        output = model(input_ids=ids[None], attention_mask=torch.ones_like(ids)[None])
    found = output[0][0].double()
    near(found, formula.output(ids), 1e-5 * max(1.0, float(found.abs().max())))
