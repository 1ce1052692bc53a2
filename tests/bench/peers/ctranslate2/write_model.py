"""Writes a translator's folder as a model of CTranslate2, with the same weights: NumPy only.

    python3 write_model.py SOURCE MODEL OUT [int8]

SOURCE is CTranslate2's repository, whose Python code describes the format; MODEL is in our format, of the family
MarianMT. Token i is named "ti".
"""

import importlib.util
import json
import os
import sys
import types

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../weights/train"))
from common import safetensors_io


def import_format(source):
    """Imports the modules that describe the format, without the package, which needs its compiled library."""
    root = os.path.join(source, "python/ctranslate2")
    for name, folder in (("ctranslate2", root), ("ctranslate2.converters", os.path.join(root, "converters"))):
        package = types.ModuleType(name)
        package.__path__ = [folder]
        sys.modules[name] = package
    from ctranslate2.specs import common_spec, transformer_spec
    spec = importlib.util.spec_from_file_location("utils", os.path.join(root, "converters/utils.py"))
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)
    return common_spec, transformer_spec, utils


class Writer:
    """Fills the description of a model with our weights."""

    def __init__(self, source, weights):
        self.common, self.transformer, self.utils = import_format(source)
        self.weights = weights

    def linear(self, spec, name):
        spec.weight, spec.bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

    def norm(self, spec, name):
        spec.gamma, spec.beta = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

    def attention(self, spec, name, groups):
        """Fills a layer whose projections are fused as `groups` say: "qkv", or "q" and "kv"."""
        for fused, group in zip(spec.linear, groups):
            parts = [self.common.LinearSpec() for _ in group]
            for part, letter in zip(parts, group):
                self.linear(part, f"{name}.{letter}_proj")
            self.utils.fuse_linear(fused, parts)
        self.linear(spec.linear[-1], f"{name}.out_proj")
        self.norm(spec.layer_norm, f"{name}_layer_norm")

    def side(self, spec, name, width):
        """Fills the encoder or the decoder."""
        embeddings = spec.embeddings[0] if isinstance(spec.embeddings, list) else spec.embeddings
        embeddings.weight = self.weights["embed_tokens.weight"]
        spec.scale_embeddings = width**0.5
        for number, layer in enumerate(spec.layer):
            own = f"{name}.layers.{number}"
            self.attention(layer.self_attention, f"{own}.self_attn", ["qkv"])
            if name == "decoder":
                self.attention(layer.attention, f"{own}.encoder_attn", ["q", "kv"])
            self.linear(layer.ffn.linear_0, f"{own}.fc1")
            self.linear(layer.ffn.linear_1, f"{own}.fc2")
            self.norm(layer.ffn.layer_norm, f"{own}.final_layer_norm")

    def translator(self, config):
        activation = {"relu": "RELU", "silu": "SWISH", "gelu": "GELU"}[config["activation"]]
        spec = self.transformer.TransformerSpec.from_config(
            (config["encoder_layers"], config["decoder_layers"]), config["n_heads"], pre_norm=config["norm"] == "pre",
            activation=self.common.Activation[activation])
        for name, side in (("encoder", spec.encoder), ("decoder", spec.decoder)):
            self.side(side, name, config["d_model"])
            side.position_encodings.encodings = sinusoids(config["max_source_length"], config["d_model"])
        spec.decoder.projection.weight = self.weights["embed_tokens.weight"]
        spec.decoder.projection.bias = self.weights["lm_head.bias"]
        tokens = [f"t{token}" for token in range(config["target_vocab_size"])]
        tokens[0], tokens[1], tokens[-1] = "</s>", "<unk>", "<pad>"
        spec.register_source_vocabulary(tokens)
        spec.register_target_vocabulary(tokens)
        spec.config.decoder_start_token = "<pad>"
        return spec


def sinusoids(length, width):
    """Returns sines in the first half of the columns and cosines in the second."""
    angle = np.arange(length)[:, None] / 10000 ** (2 * np.arange(width // 2) / width)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)


def main():
    source, model, out, *quantization = sys.argv[1:]
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    if config["positions"] != "sinusoidal_halves" or config["norm"] != "post":
        raise SystemExit("write_model: only models of the family MarianMT")
    stored = safetensors_io.load(os.path.join(model, "model.safetensors"))
    weights = {name: array.copy() for name, array in stored.items()}  # arrays that may be written to
    spec = Writer(source, weights).translator(config)
    spec.validate()
    spec.optimize(quantization=quantization[0] if quantization else None)
    os.makedirs(out, exist_ok=True)
    spec.save(out)


if __name__ == "__main__":
    main()
