"""The translator of the second tutorial (pre-norm encoder-decoder, tied embeddings), written for speed.

The sources of a batch have equal lengths, so the encoder needs no mask. Targets are padded at their end, and the
look-ahead mask hides the padding from all tokens before it. Shapes: B pairs, S source and T target length, D d_model, V
vocabulary.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from common.encoder import EncoderLayer, linear, sinusoids
from common.four_bits import reads

PAD, UNKNOWN, START, END = range(4)

CONFIG = {
    "format": 1,
    "model_type": "encoder_decoder",
    "task": "translation",
    "source_language": "en",
    "target_language": "de",
    "source_vocab_size": 12000,
    "target_vocab_size": 12000,
    "embeddings": "shared",
    "d_model": 256,
    "d_ff": 1024,
    "n_heads": 8,
    "encoder_layers": 6,
    "decoder_layers": 2,
    "max_source_length": 256,
    "max_target_length": 256,
    "positions": "sinusoidal",
    "scale_embedding": True,
    "norm": "pre",
    "layer_norm": "standard",
    "layer_norm_eps": 1e-5,
    "final_norm": True,
    "attention": "full",
    "attention_bias": True,
    "activation": "relu",
    "lm_head_bias": True,
    "prefix_tokens": [],
    "suffix_tokens": ["</s>"],
    "start_token": "<s>",
    "end_token": "</s>",
}


def heads(x, n_heads):
    """Maps [B, n, D] to [B H, n, d]."""
    batch, length, d_model = x.shape
    return x.view(batch, length, n_heads, -1).transpose(1, 2).reshape(batch * n_heads, length, -1)


def attend(q, k, v, n_heads, mask=None):
    """Computes softmax(q k^T + mask) v [B, T, D] from q [B, T, D], k and v [B, S, D]. q already contains the scale."""
    batch, length, d_model = q.shape
    scores = torch.bmm(heads(q, n_heads), heads(k, n_heads).transpose(1, 2))
    if mask is not None:
        scores = scores + mask
    mixed = torch.bmm(torch.softmax(scores, dim=-1), heads(v, n_heads))
    return mixed.view(batch, n_heads, length, -1).transpose(1, 2).reshape(batch, length, d_model)


def look_ahead(length, like):
    """Returns the mask [T, T] that hides later tokens, with the type and device of `like`."""
    return torch.full((length, length), -1e9, dtype=like.dtype, device=like.device).triu(1)


def projected(x, *layers):
    """Applies several linear layers to one input, in one product."""
    reads(x, *layers)
    weight = torch.cat([layer.weight for layer in layers])
    bias = torch.cat([layer.bias for layer in layers])
    return F.linear(x, weight.to(x.dtype), bias.to(x.dtype)).chunk(len(layers), dim=-1)


class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.scale = (d_model // n_heads) ** -0.5
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def over_itself(self, x, mask):
        q, k, v = projected(x, self.q_proj, self.k_proj, self.v_proj)
        return linear(self.out_proj, attend(q * self.scale, k, v, self.n_heads, mask))

    def over(self, x, source):
        k, v = projected(source, self.k_proj, self.v_proj)
        return linear(self.out_proj, attend(linear(self.q_proj, x) * self.scale, k, v, self.n_heads))


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, eps):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads)
        self.self_attn_layer_norm = nn.LayerNorm(d_model, eps=eps)
        self.encoder_attn = Attention(d_model, n_heads)
        self.encoder_attn_layer_norm = nn.LayerNorm(d_model, eps=eps)
        self.fc1 = nn.Linear(d_model, d_ff)
        self.fc2 = nn.Linear(d_ff, d_model)
        self.final_layer_norm = nn.LayerNorm(d_model, eps=eps)

    def forward(self, x, source, mask, drop):
        compute = source.dtype
        x = x + drop(self.self_attn.over_itself(self.self_attn_layer_norm(x).to(compute), mask))
        x = x + drop(self.encoder_attn.over(self.encoder_attn_layer_norm(x).to(compute), source))
        hidden = torch.relu(linear(self.fc1, self.final_layer_norm(x).to(compute)))
        return x + drop(linear(self.fc2, hidden))


class Stack(nn.Module):
    """The common parts of encoder and decoder: layers and final norm."""

    def __init__(self, layers, d_model, eps):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.layer_norm = nn.LayerNorm(d_model, eps=eps)


class Dropout:
    """Zeroes a share of the values and scales up the rest. On a CPU, the masks are parts of a pool that is drawn once."""

    def __init__(self, share, pool=1 << 23):
        self.share = share
        self.pool = (torch.rand(pool) >= share).float() / (1 - share) if share else None

    def __call__(self, x):
        if not self.share:
            return x
        spare = self.pool.numel() - x.numel()
        if x.device.type != "cpu" or spare <= 0:
            return F.dropout(x, self.share)
        offset = int(torch.randint(spare, ()))
        return x * self.pool[offset:offset + x.numel()].view(x.shape)


class Translator(nn.Module):
    def __init__(self, config, dropout=0.0):
        super().__init__()
        d_model, d_ff, n_heads, eps = (config[key] for key in ("d_model", "d_ff", "n_heads", "layer_norm_eps"))
        self.embed_tokens = nn.Embedding(config["source_vocab_size"], d_model)
        self.encoder = Stack([EncoderLayer(d_model, n_heads, d_ff, eps) for _ in range(config["encoder_layers"])],
                             d_model, eps)
        self.decoder = Stack([DecoderLayer(d_model, n_heads, d_ff, eps) for _ in range(config["decoder_layers"])],
                             d_model, eps)
        self.lm_head = nn.Module()
        self.lm_head.bias = nn.Parameter(torch.zeros(config["target_vocab_size"]))
        self.scale = math.sqrt(d_model)
        self.drop = Dropout(dropout)
        longest = max(config["max_source_length"], config["max_target_length"])
        self.register_buffer("positions", sinusoids(longest, d_model), persistent=False)
        for name, parameter in self.named_parameters():
            if name == "embed_tokens.weight":
                nn.init.normal_(parameter, std=d_model**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def embed(self, ids):
        return F.embedding(ids, self.embed_tokens.weight) * self.scale + self.positions[: ids.shape[1]]

    def encode(self, source, compute=torch.float32):
        """Maps ids [B, S], without padding, to [B, S, D] in the compute type."""
        x = self.drop(self.embed(source))
        for layer in self.encoder.layers:
            x = layer(x, compute, self.drop)
        return self.encoder.layer_norm(x).to(compute)

    def decode(self, target, source):
        """Maps ids [B, T] and the encoded source [B, S, D] to [B, T, D] in the compute type."""
        mask = look_ahead(target.shape[1], source)
        x = self.drop(self.embed(target))
        for layer in self.decoder.layers:
            x = layer(x, source, mask, self.drop)
        return self.decoder.layer_norm(x).to(source.dtype)

    def project(self, hidden, pieces=slice(None)):
        """Maps [..., D] to logits of the pieces [..., V]."""
        weight, bias = self.embed_tokens.weight[pieces], self.lm_head.bias[pieces]
        return F.linear(hidden, weight.to(hidden.dtype), bias.to(hidden.dtype))

    @torch.no_grad()
    def greedy(self, source, longest, compute=torch.float32):
        """Translates ids [B, S] greedily to [[id]]. It recomputes the prefix at each step; for validation only."""
        encoded = self.encode(source, compute)
        ids = torch.full((len(source), 1), START, dtype=torch.long, device=source.device)
        done = torch.zeros(len(source), dtype=torch.bool, device=source.device)
        for _ in range(longest):
            following = self.project(self.decode(ids, encoded)[:, -1]).argmax(-1)
            following[done] = PAD
            ids = torch.cat([ids, following[:, None]], dim=1)
            done |= following == END
            if done.all():
                break
        rows = ids[:, 1:].tolist()
        return [row[:row.index(END)] if END in row else row for row in rows]
