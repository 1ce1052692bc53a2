"""Exports a model folder to ONNX for the comparison with ONNX Runtime: python3-onnx and NumPy, no PyTorch.

    /usr/bin/python3 tests/bench/export_onnx.py MODEL_DIR OUT.onnx

Input `ids` [1, T] int64, output `scores` [1, C] after softmax. Everything is to the runtime's advantage: no mask (there
is no padding), the position table and scaled embeddings constants, its own fused Attention operator and
LayerNormalization instead of their parts. As separate MatMul, Transpose and Softmax nodes it ran up to 7 % slower.
"""

import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../weights/train"))
import safetensors_io

SUPPORTED = {
    "model_type": "encoder_classifier", "positions": "sinusoidal", "norm": "pre", "layer_norm": "standard",
    "attention": "full", "activation": "relu", "pooling": "mean", "attention_bias": True, "final_norm": True,
}


class Graph:
    """Collects nodes and constants; every method returns the name of its result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, array, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype), name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names


def sinusoids(positions, d_model):
    angle = np.arange(positions)[:, None] / 10000 ** (2 * (np.arange(d_model) // 2) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle))


def export(config, weights, path):
    for key, value in SUPPORTED.items():
        if config[key] != value:
            raise SystemExit(f"export_onnx: {key} is {config[key]}; only {value} is exported")
    d_model = config["d_model"]
    graph = Graph()

    def linear(x, weight, bias):  # [1, T, in] -> [1, T, out]
        return graph.op("Add", graph.op("MatMul", x, graph.constant(weight.T)), graph.constant(bias))

    def named(x, name):
        return linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def layer_norm(x, name):
        return graph.op("LayerNormalization", x, graph.constant(weights[f"{name}.weight"]),
                        graph.constant(weights[f"{name}.bias"]), axis=-1, epsilon=config["layer_norm_eps"])

    first_axis = graph.constant([0], np.int64)
    scale = d_model**0.5 if config["scale_embedding"] else 1.0

    length = graph.op("Slice", graph.op("Shape", "ids"), graph.constant([1], np.int64), graph.constant([2], np.int64))
    table = graph.constant(sinusoids(config["max_source_length"], d_model))
    positions = graph.op("Slice", table, first_axis, length, first_axis)
    embeddings = graph.constant(weights["encoder.embed_tokens.weight"] * scale)
    x = graph.op("Add", graph.op("Gather", embeddings, "ids"), positions)

    for layer in range(config["encoder_layers"]):
        name = f"encoder.layers.{layer}"
        normed = layer_norm(x, f"{name}.self_attn_layer_norm")
        part = lambda kind: [weights[f"{name}.self_attn.{p}_proj.{kind}"] for p in "qkv"]
        weight, bias = np.concatenate(part("weight")), np.concatenate(part("bias"))
        context = graph.op("Attention", normed, graph.constant(weight.T), graph.constant(bias),
                           num_heads=config["n_heads"], domain="com.microsoft")
        x = graph.op("Add", x, named(context, f"{name}.self_attn.out_proj"))
        hidden = graph.op("Relu", named(layer_norm(x, f"{name}.final_layer_norm"), f"{name}.fc1"))
        x = graph.op("Add", x, named(hidden, f"{name}.fc2"))

    pooled = graph.op("ReduceMean", layer_norm(x, "encoder.layer_norm"), axes=[1], keepdims=0)
    logits = linear(pooled, weights["classifier.weight"], weights["classifier.bias"])
    graph.nodes.append(helper.make_node("Softmax", [logits], ["scores"], axis=-1))

    model = helper.make_model(
        helper.make_graph(
            graph.nodes, "encoder_classifier",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, "T"])],
            [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, len(config["labels"])])],
            graph.constants),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    folder = sys.argv[1]
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    weights = {}
    stored = safetensors_io.load(os.path.join(folder, "model.safetensors"))
    for name, array in stored.items():
        if not name.endswith("_scale"):
            scale = stored.get(f"{name}_scale")
            weights[name] = array.astype(np.float32) * (1 if scale is None else scale[:, None])
    export(config, weights, sys.argv[2])


if __name__ == "__main__":
    main()
