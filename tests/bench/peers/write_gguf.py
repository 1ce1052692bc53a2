"""Writes a language model's folder as a GGUF file for llama.cpp, with the same weights: NumPy only.

    python3 write_gguf.py MODEL OUT.gguf f32|f16|q8_0

MODEL is in our format, of the family GPT-2 or Llama, with its vocab.json and merges.txt. The format:
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import json
import os
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../weights/train"))
from common import safetensors_io

TYPES = {"f32": 0, "f16": 1, "q8_0": 8}
FILE_TYPES = {"f32": 0, "f16": 1, "q8_0": 7}
ALIGNMENT = 32


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


class Gguf:
    """Collects the metadata and the tensors of a file. `kind` is the type of its matrices."""

    def __init__(self, kind):
        self.kind, self.metadata, self.tensors = kind, [], []

    def put(self, key, value):
        kinds = {str: (8, string), float: (6, lambda v: struct.pack("<f", v)), int: (4, lambda v: struct.pack("<I", v))}
        number, pack = kinds[type(value)]
        self.metadata.append(string(key) + struct.pack("<I", number) + pack(value))

    def put_strings(self, key, values):
        self.metadata.append(string(key) + struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(string, values)))

    def put_numbers(self, key, values):
        packed = struct.pack(f"<{len(values)}i", *values)
        self.metadata.append(string(key) + struct.pack("<IIQ", 9, 5, len(values)) + packed)

    def add(self, name, array, kind=None):
        kind = kind or (self.kind if array.ndim > 1 else "f32")
        self.tensors.append((name, array.shape[::-1], kind, encode(array, kind)))

    def write(self, path):
        infos, offset = b"", 0
        for name, shape, kind, data in self.tensors:
            infos += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, TYPES[kind], offset)
            offset += len(data) + -len(data) % ALIGNMENT
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.metadata)) + b"".join(self.metadata) + infos
        with open(path, "wb") as file:
            for data in (head, *(data for *_, data in self.tensors)):
                file.write(data + bytes(-len(data) % ALIGNMENT))


def encode(array, kind):
    array = np.ascontiguousarray(array, np.float32)
    if kind == "f32":
        return array.tobytes()
    if kind == "f16":
        return array.astype("<f2").tobytes()
    blocks = array.reshape(-1, 32)  # a scale in half precision, then 32 bytes
    scale = np.abs(blocks).max(axis=1) / 127
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    packed = np.empty((len(blocks), 34), np.uint8)
    packed[:, :2] = scale.astype("<f2")[:, None].view(np.uint8)
    packed[:, 2:] = np.rint(blocks * inverse[:, None]).astype(np.int8).view(np.uint8)
    return packed.tobytes()


def interleaved(weight, heads):
    """Returns rows in the order of llama.cpp's rotary positions: pairs side by side, not in two halves."""
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def add_gpt2(file, config, weights):
    for key in ("weight", "bias"):
        file.add(f"output_norm.{key}", weights[f"decoder.layer_norm.{key}"])
    file.add("position_embd.weight", weights["decoder.embed_positions.weight"], "f32")
    for layer in range(config["decoder_layers"]):
        ours, theirs = f"decoder.layers.{layer}", f"blk.{layer}"
        for key in ("weight", "bias"):
            qkv = [weights[f"{ours}.self_attn.{part}_proj.{key}"] for part in "qkv"]
            file.add(f"{theirs}.attn_qkv.{key}", np.concatenate(qkv))
            for name, other in (("attn_norm", "self_attn_layer_norm"), ("attn_output", "self_attn.out_proj"),
                                ("ffn_norm", "final_layer_norm"), ("ffn_up", "fc1"), ("ffn_down", "fc2")):
                file.add(f"{theirs}.{name}.{key}", weights[f"{ours}.{other}.{key}"])
    file.put("gpt2.attention.layer_norm_epsilon", float(config["layer_norm_eps"]))


def add_llama(file, config, weights):
    file.add("output_norm.weight", weights["decoder.layer_norm.weight"])
    for layer in range(config["decoder_layers"]):
        ours, theirs = f"decoder.layers.{layer}", f"blk.{layer}"
        for part, heads in (("q", config["n_heads"]), ("k", config["n_kv_heads"])):
            weight = weights[f"{ours}.self_attn.{part}_proj.weight"]
            file.add(f"{theirs}.attn_{part}.weight", interleaved(weight, heads))
        for name, other in (("attn_norm", "self_attn_layer_norm"), ("attn_v", "self_attn.v_proj"),
                            ("attn_output", "self_attn.out_proj"), ("ffn_norm", "final_layer_norm"),
                            ("ffn_gate", "fc1_gate"), ("ffn_up", "fc1"), ("ffn_down", "fc2")):
            file.add(f"{theirs}.{name}.weight", weights[f"{ours}.{other}.weight"])
    file.put("llama.attention.head_count_kv", config["n_kv_heads"])
    file.put("llama.attention.layer_norm_rms_epsilon", float(config["layer_norm_eps"]))
    file.put("llama.rope.freq_base", 10000.0)
    file.put("llama.rope.dimension_count", config["d_model"] // config["n_heads"])


def add_tokenizer(file, model, kind):
    with open(os.path.join(model, "vocab.json"), encoding="utf-8") as vocabulary:
        ids = json.load(vocabulary)
    with open(os.path.join(model, "merges.txt"), encoding="utf-8") as merges:
        merges = [line for line in merges.read().split("\n")[1:] if line]
    tokens = sorted(ids, key=ids.get)
    file.put("tokenizer.ggml.model", "gpt2")
    file.put("tokenizer.ggml.pre", kind)
    file.put_strings("tokenizer.ggml.tokens", tokens)
    file.put_numbers("tokenizer.ggml.token_type", [1] * (len(tokens) - 1) + [3])
    file.put_strings("tokenizer.ggml.merges", merges)
    file.put("tokenizer.ggml.bos_token_id", len(tokens) - 1)
    file.put("tokenizer.ggml.eos_token_id", len(tokens) - 1)


def main():
    model, out, kind = sys.argv[1:]
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    weights = safetensors_io.load(os.path.join(model, "model.safetensors"))
    llama = config["norm"] == "pre" and "n_kv_heads" in config
    family = "llama" if llama else "gpt2"
    file = Gguf(kind)
    file.put("general.architecture", family)
    file.put("general.name", os.path.basename(model))
    file.put("general.file_type", FILE_TYPES[kind])
    file.put(f"{family}.context_length", config["max_target_length"])
    file.put(f"{family}.embedding_length", config["d_model"])
    file.put(f"{family}.feed_forward_length", config["d_ff"])
    file.put(f"{family}.block_count", config["decoder_layers"])
    file.put(f"{family}.attention.head_count", config["n_heads"])
    file.add("token_embd.weight", weights["decoder.embed_tokens.weight"])
    (add_llama if llama else add_gpt2)(file, config, weights)
    add_tokenizer(file, model, "smollm" if llama else "gpt-2")
    file.write(out)


if __name__ == "__main__":
    main()
