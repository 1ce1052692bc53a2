"""The writer: a decoder-only Transformer with GPT-2's names, shapes and config.json (Radford et al. 2019), written for
training speed.

Shapes: B rows, n tokens per row, D n_embd, H heads, d = D / H, V vocabulary.
"""
import torch
from torch import nn
from torch.nn import functional as F

from common.four_bits import reads
from writer.kernels import NextTokenLoss, add_norm, attend, gelu

CONFIG = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.0,
    "bos_token_id": 4095,
    "embd_pdrop": 0.0,
    "eos_token_id": 4095,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-5,
    "model_type": "gpt2",
    "n_ctx": 512,
    "n_embd": 256,
    "n_head": 4,
    "n_inner": 896,
    "n_layer": 5,
    "n_positions": 512,
    "reorder_and_upcast_attn": False,
    "resid_pdrop": 0.0,
    "scale_attn_by_inverse_layer_idx": False,
    "scale_attn_weights": True,
    "tie_word_embeddings": True,
    "torch_dtype": "float16",
    "use_cache": True,
    "vocab_size": 4096,
}

# The matrices of a layer, and the names of their parts in a folder that `glassformer quantize` writes.
PARTS = [("attn.c_attn", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]),
         ("attn.c_proj", ["self_attn.out_proj"]), ("mlp.c_fc", ["fc1"]), ("mlp.c_proj", ["fc2"])]


class Conv1D(nn.Module):
    """Computes x W + b, with W [in, out]."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        reads(x, self)
        flat = torch.addmm(self.bias.to(x.dtype), x.reshape(-1, x.shape[-1]), self.weight.to(x.dtype))
        return flat.view(*x.shape[:-1], -1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config["n_head"]
        self.scale = (config["n_embd"] // config["n_head"]) ** -0.5
        self.c_attn = Conv1D(config["n_embd"], 3 * config["n_embd"])
        self.c_proj = Conv1D(config["n_embd"], config["n_embd"])

    def forward(self, x):
        rows, length, width = x.shape
        qkv = self.c_attn(x).view(rows, length, 3, self.n_head, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, rows * self.n_head, length, -1).unbind(0)
        mixed = attend(q * self.scale, k, v).view(rows, self.n_head, length, -1)
        return self.c_proj(mixed.transpose(1, 2).reshape(rows, length, width))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = Conv1D(config["n_embd"], config["n_inner"])
        self.c_proj = Conv1D(config["n_inner"], config["n_embd"])

    def forward(self, x):
        return self.c_proj(gelu(self.c_fc(x)))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config["n_embd"], eps=config["layer_norm_epsilon"])
        self.attn = Attention(config)
        self.ln_2 = nn.LayerNorm(config["n_embd"], eps=config["layer_norm_epsilon"])
        self.mlp = FeedForward(config)

    def forward(self, x, normal, following):
        """Maps (x [B, n, D], ln_1(x)) to (output, following(output)). following: the norm after this layer."""
        x, normal = add_norm(x, self.attn(normal), self.ln_2)
        return add_norm(x, self.mlp(normal), following)


class Writer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config["vocab_size"], config["n_embd"])
        self.wpe = nn.Embedding(config["n_positions"], config["n_embd"])
        self.h = nn.ModuleList(Layer(config) for _ in range(config["n_layer"]))
        self.ln_f = nn.LayerNorm(config["n_embd"], eps=config["layer_norm_epsilon"])
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                shrink = (2 * config["n_layer"]) ** -0.5 if name.endswith("c_proj.weight") else 1.0
                nn.init.normal_(parameter, std=config["initializer_range"] * shrink)

    def load_published(self, weights):
        """Copies weights whose names may begin with "transformer."."""
        self.load_state_dict({name.replace("transformer.", "", 1): value for name, value in weights.items()})

    def load_converted(self, weights):
        """Copies weights with the names that `glassformer quantize` writes."""
        state = {"wte.weight": weights["decoder.embed_tokens.weight"],
                 "wpe.weight": weights["decoder.embed_positions.weight"]}
        norms = [("ln_f", "layer_norm")]
        for at in range(len(self.h)):
            norms += [(f"h.{at}.ln_1", f"layers.{at}.self_attn_layer_norm"),
                      (f"h.{at}.ln_2", f"layers.{at}.final_layer_norm")]
            for theirs, ours in PARTS:
                for kind in ("weight", "bias"):
                    parts = torch.cat([weights[f"decoder.layers.{at}.{name}.{kind}"] for name in ours])
                    state[f"h.{at}.{theirs}.{kind}"] = parts.T if kind == "weight" else parts
        for theirs, ours in norms:
            state |= {f"{theirs}.{kind}": weights[f"decoder.{ours}.{kind}"] for kind in ("weight", "bias")}
        self.load_state_dict(state)

    def embed(self, ids):
        return F.embedding(ids, self.wte.weight) + self.wpe.weight[: ids.shape[1]]

    def forward(self, ids, compute=torch.float32):
        """Maps ids [B, n] to [B, n, D] in the compute type, from which the logits are computed."""
        x = self.embed(ids)
        norms = [layer.ln_1 for layer in self.h] + [self.ln_f]
        normal = norms[0](x).to(compute)
        for layer, following in zip(self.h, norms[1:]):
            x, normal = layer(x, normal, following)
        return normal

    def loss(self, ids, targets, compute=torch.float32):
        """Returns the sum of -log p(target) over all tokens of ids and targets [B, n]."""
        hidden = self(ids, compute)
        return NextTokenLoss.apply(hidden.reshape(-1, hidden.shape[-1]), self.wte.weight, targets.reshape(-1))

    @torch.no_grad()
    def log_probabilities(self, ids, compute=torch.float32):
        """Maps ids [B, n] to log-probabilities [B, n, V] in float32."""
        return torch.log_softmax(F.linear(self(ids, compute), self.wte.weight.to(compute)).float(), dim=-1)
