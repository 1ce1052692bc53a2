"""The classifier of the first tutorial (pre-norm Transformer encoder, mean pooling), written for speed.

The texts of a batch have equal lengths, so there is no padding and no attention mask. The residual stream is float32.
The matrix products run in the type `compute`: bfloat16 if the machine supports it.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from common.encoder import EncoderLayer, sinusoids

CONFIG = {
    "format": 1,
    "model_type": "encoder_classifier",
    "task": "text-classification",
    "labels": ["negative", "positive"],
    "vocab_size": 8000,
    "d_model": 128,
    "d_ff": 512,
    "n_heads": 8,
    "encoder_layers": 4,
    "max_source_length": 512,
    "positions": "sinusoidal",
    "scale_embedding": True,
    "norm": "pre",
    "layer_norm": "standard",
    "layer_norm_eps": 1e-5,
    "final_norm": True,
    "attention": "full",
    "attention_bias": True,
    "activation": "relu",
    "pooling": "mean",
    "clip": "middle",
    "prefix_tokens": [],
    "suffix_tokens": [],
}


def look_at(attention, head, offset, gain=2.2):
    """Makes a new head attend to the token `offset` places away, using only the positions.

    A sinusoid's pair (sin wp, cos wp), rotated by w * offset, matches the pair `offset` places later. With such heads,
    the masked language model skips its long first plateau, in which it only learns word frequencies.
    """
    d_model = attention.q_proj.in_features
    d_head = d_model // attention.n_heads
    with torch.no_grad():
        for weight in (attention.q_proj.weight, attention.k_proj.weight):
            weight[head * d_head:(head + 1) * d_head] = 0
        for row, pair in zip(range(head * d_head, (head + 1) * d_head, 2), [0, 1, 2, 3, 4, 6, 9, 12]):
            angle = offset * 10000.0 ** (-2 * pair / d_model)
            sine, cosine = gain * math.sin(angle), gain * math.cos(angle)
            column = 2 * pair
            attention.q_proj.weight[row, column:column + 2] = torch.tensor([cosine, sine])
            attention.q_proj.weight[row + 1, column:column + 2] = torch.tensor([-sine, cosine])
            attention.k_proj.weight[row, column] = gain
            attention.k_proj.weight[row + 1, column + 1] = gain


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        d_model = config["d_model"]
        eps = config["layer_norm_eps"]
        self.scale = math.sqrt(d_model)
        self.embed_tokens = nn.Embedding(config["vocab_size"], d_model)
        self.layers = nn.ModuleList(EncoderLayer(d_model, config["n_heads"], config["d_ff"], eps)
                                    for _ in range(config["encoder_layers"]))
        self.layer_norm = nn.LayerNorm(d_model, eps=eps)
        self.register_buffer("positions", sinusoids(config["max_source_length"], d_model), persistent=False)

    def embed(self, ids):
        return F.embedding(ids, self.embed_tokens.weight) * self.scale + self.positions[: ids.shape[1]]

    def forward(self, ids, compute=torch.float32):
        """Maps ids [B, n], without padding, to [B, n, D] in float32."""
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, compute)
        return self.layer_norm(x)


class Classifier(nn.Module):
    """The model: `encoder.*` and `classifier.*`. `mlm_*` is used only in pretraining and is not exported."""

    def __init__(self, config):
        super().__init__()
        d_model = config["d_model"]
        self.encoder = Encoder(config)
        self.classifier = nn.Linear(d_model, len(config["labels"]))
        self.mlm_dense = nn.Linear(d_model, d_model)
        self.mlm_norm = nn.LayerNorm(d_model)
        self.mlm_bias = nn.Parameter(torch.zeros(config["vocab_size"]))
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and name != "encoder.embed_tokens.weight":
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        # Smaller than the positions at first: otherwise they would hide the effect of look_at().
        nn.init.normal_(self.encoder.embed_tokens.weight, std=0.4 * d_model**-0.5)
        for layer in self.encoder.layers[:2]:
            for head, offset in enumerate((-1.3, 1.3, -2.5, 2.5)):
                look_at(layer.self_attn, head, offset)

    def classify(self, hidden):
        """Maps hidden [B, n, D] to logits [B, C]."""
        return self.classifier(hidden.mean(1))

    def predict_tokens(self, hidden, compute):
        """Maps hidden [M, D] of the masked places to logits [M, V]. The output layer is the input embedding."""
        hidden = self.mlm_norm(torch.relu(self.mlm_dense(hidden))).to(compute)
        return F.linear(hidden, self.encoder.embed_tokens.weight.to(compute), self.mlm_bias.to(compute)).float()
