"""Exports a model folder to ONNX for the comparison with ONNX Runtime: python3-onnx and NumPy, no PyTorch.

    /usr/bin/python3 tests/bench/export_onnx.py MODEL_DIR OUT_DIR

Everything is to the runtime's advantage: no mask (there is no padding), position tables and scaled embeddings as
constants, queries, keys and values in one product, the search for the most probable tokens inside the graph.

A classifier becomes OUT_DIR/classifier.onnx: `ids` [1, S] int64 -> `scores` [1, C] after softmax, with the runtime's own
fused Attention and LayerNormalization. (As separate MatMul, Transpose and Softmax nodes it ran up to 7 % slower.)

A translator becomes OUT_DIR/encoder.onnx, `ids` [1, S] -> for each decoder layer L `cross_keys.L` [1, H, d, S] and
`cross_values.L` [1, H, S, d], and OUT_DIR/decoder.onnx, one step of R hypotheses with cached keys and values:
`ids` [R, 1], `position` [1], `parents` [R] (the row each hypothesis continues), `count` [1], those two and
`keys.L`, `values.L` [R', H, T, d] -> `next_keys.L`, `next_values.L` [R, H, T + 1, d] and the `count` most probable next
tokens, `tokens` and `log_probabilities` [R, count].
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
    "positions": "sinusoidal", "norm": "pre", "layer_norm": "standard", "attention": "full", "activation": "relu",
    "attention_bias": True, "final_norm": True, "pooling": "mean", "embeddings": "shared", "lm_head_bias": True,
}


class Graph:
    """Collects nodes and constants; every method returns the name of its result."""

    def __init__(self, config, weights):
        self.config, self.weights = config, weights
        self.nodes, self.constants = [], []

    def constant(self, array, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype), name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = outputs if isinstance(outputs, list) else [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if len(names) == 1 else names

    def linear(self, x, weight, bias):
        """[R, T, in] -> [R, T, out]"""
        return self.op("Add", self.op("MatMul", x, self.constant(weight.T)), self.constant(bias))

    def named(self, x, *names):
        """The outputs of the linear layers of these names side by side."""
        weight, bias = (np.concatenate([self.weights[f"{name}.{kind}"] for name in names])
                        for kind in ("weight", "bias"))
        return self.linear(x, weight, bias)

    def layer_norm(self, x, name):
        return self.op("LayerNormalization", x, self.constant(self.weights[f"{name}.weight"]),
                       self.constant(self.weights[f"{name}.bias"]), axis=-1, epsilon=self.config["layer_norm_eps"])

    def feed_forward(self, x, name):
        """x + fc2(relu(fc1(norm(x))))"""
        hidden = self.op("Relu", self.named(self.layer_norm(x, f"{name}.final_layer_norm"), f"{name}.fc1"))
        return self.op("Add", x, self.named(hidden, f"{name}.fc2"))

    def embed(self, table, positions):
        """scale · table[ids] + positions"""
        scale = self.config["d_model"]**0.5 if self.config["scale_embedding"] else 1.0
        return self.op("Add", self.op("Gather", self.constant(self.weights[table] * scale), "ids"), positions)

    def encode(self, table):
        """The encoder's output for `ids` [1, S]."""
        first = self.constant([0], np.int64)
        length = self.op("Slice", self.op("Shape", "ids"), self.constant([1], np.int64), self.constant([2], np.int64))
        positions = self.constant(sinusoids(self.config["max_source_length"], self.config["d_model"]))
        x = self.embed(table, self.op("Slice", positions, first, length, first))
        for layer in range(self.config["encoder_layers"]):
            name = f"encoder.layers.{layer}"
            normed = self.layer_norm(x, f"{name}.self_attn_layer_norm")
            part = lambda kind: np.concatenate([self.weights[f"{name}.self_attn.{p}_proj.{kind}"] for p in "qkv"])
            context = self.op("Attention", normed, self.constant(part("weight").T), self.constant(part("bias")),
                              num_heads=self.config["n_heads"], domain="com.microsoft")
            x = self.op("Add", x, self.named(context, f"{name}.self_attn.out_proj"))
            x = self.feed_forward(x, name)
        return self.layer_norm(x, "encoder.layer_norm")

    def heads(self, x, order, output=None):
        """[R, T, D] -> [R, H, T, d] (order 0 2 1 3) or its transpose (0 2 3 1)"""
        shape = self.constant([0, 0, self.config["n_heads"], -1], np.int64)
        outputs = 1 if output is None else [output]
        return self.op("Transpose", self.op("Reshape", x, shape), perm=order, outputs=outputs)

    def attend(self, q, keys_transposed, values):
        """q [R, H, 1, d], [R, H, d, T], [R, H, T, d] -> [R, 1, D]"""
        scale = self.constant((self.config["d_model"] // self.config["n_heads"])**-0.5)
        scores = self.op("MatMul", self.op("Mul", q, scale), keys_transposed)
        context = self.op("MatMul", self.op("Softmax", scores, axis=-1), values)
        return self.op("Reshape", self.op("Transpose", context, perm=[0, 2, 1, 3]), self.constant([0, 0, -1], np.int64))

    def save(self, path, inputs, outputs):
        """inputs, outputs: {name: (type, shape)}"""
        info = lambda values: [helper.make_tensor_value_info(name, *value) for name, value in values.items()]
        model = helper.make_model(
            helper.make_graph(self.nodes, "model", info(inputs), info(outputs), self.constants),
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def sinusoids(positions, d_model):
    angle = np.arange(positions)[:, None] / 10000 ** (2 * (np.arange(d_model) // 2) / d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle))


def export_classifier(config, weights, folder):
    graph = Graph(config, weights)
    pooled = graph.op("ReduceMean", graph.encode("encoder.embed_tokens.weight"), axes=[1], keepdims=0)
    graph.op("Softmax", graph.named(pooled, "classifier"), axis=-1, outputs=["scores"])
    graph.save(os.path.join(folder, "classifier.onnx"), {"ids": (TensorProto.INT64, [1, "S"])},
               {"scores": (TensorProto.FLOAT, [1, len(config["labels"])])})


def export_encoder(config, weights, folder):
    graph = Graph(config, weights)
    states = graph.encode("embed_tokens.weight")
    heads, d_head = config["n_heads"], config["d_model"] // config["n_heads"]
    outputs = {}
    for layer in range(config["decoder_layers"]):
        name = f"decoder.layers.{layer}.encoder_attn"
        graph.heads(graph.named(states, f"{name}.k_proj"), [0, 2, 3, 1], f"cross_keys.{layer}")
        graph.heads(graph.named(states, f"{name}.v_proj"), [0, 2, 1, 3], f"cross_values.{layer}")
        outputs[f"cross_keys.{layer}"] = (TensorProto.FLOAT, [1, heads, d_head, "S"])
        outputs[f"cross_values.{layer}"] = (TensorProto.FLOAT, [1, heads, "S", d_head])
    graph.save(os.path.join(folder, "encoder.onnx"), {"ids": (TensorProto.INT64, [1, "S"])}, outputs)


def export_decoder(config, weights, folder):
    graph = Graph(config, weights)
    heads, d_head = config["n_heads"], config["d_model"] // config["n_heads"]
    inputs = {"ids": (TensorProto.INT64, ["R", 1]), "position": (TensorProto.INT64, [1]),
              "parents": (TensorProto.INT64, ["R"]), "count": (TensorProto.INT64, [1])}
    outputs = {}
    positions = graph.constant(sinusoids(config["max_target_length"], config["d_model"]))
    x = graph.embed("embed_tokens.weight", graph.op("Gather", positions, "position"))
    for layer in range(config["decoder_layers"]):
        name = f"decoder.layers.{layer}"
        own = f"{name}.self_attn"
        qkv = graph.named(graph.layer_norm(x, f"{own}_layer_norm"), *(f"{own}.{part}_proj" for part in "qkv"))
        q, *both = (graph.heads(part, [0, 2, 1, 3]) for part in graph.op("Split", qkv, axis=-1, outputs=3))
        cached = []
        for kind, new in zip(("keys", "values"), both):
            past = graph.op("Gather", f"{kind}.{layer}", "parents", axis=0)
            cached.append(graph.op("Concat", past, new, axis=2, outputs=[f"next_{kind}.{layer}"]))
            inputs[f"{kind}.{layer}"] = (TensorProto.FLOAT, ["P", heads, "T", d_head])
            outputs[f"next_{kind}.{layer}"] = (TensorProto.FLOAT, ["R", heads, "U", d_head])
        context = graph.attend(q, graph.op("Transpose", cached[0], perm=[0, 1, 3, 2]), cached[1])
        x = graph.op("Add", x, graph.named(context, f"{own}.out_proj"))

        cross = f"{name}.encoder_attn"
        q = graph.heads(graph.named(graph.layer_norm(x, f"{cross}_layer_norm"), f"{cross}.q_proj"), [0, 2, 1, 3])
        context = graph.attend(q, f"cross_keys.{layer}", f"cross_values.{layer}")
        x = graph.op("Add", x, graph.named(context, f"{cross}.out_proj"))
        inputs[f"cross_keys.{layer}"] = (TensorProto.FLOAT, [1, heads, d_head, "S"])
        inputs[f"cross_values.{layer}"] = (TensorProto.FLOAT, [1, heads, "S", d_head])
        x = graph.feed_forward(x, name)

    hidden = graph.op("Squeeze", graph.layer_norm(x, "decoder.layer_norm"), graph.constant([1], np.int64))
    logits = graph.linear(hidden, weights["embed_tokens.weight"], weights["lm_head.bias"])
    graph.op("TopK", graph.op("LogSoftmax", logits, axis=-1), "count", axis=-1,
             outputs=["log_probabilities", "tokens"])
    outputs["log_probabilities"] = (TensorProto.FLOAT, ["R", "K"])
    outputs["tokens"] = (TensorProto.INT64, ["R", "K"])
    graph.save(os.path.join(folder, "decoder.onnx"), inputs, outputs)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    folder, out = sys.argv[1:]
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    for key, value in SUPPORTED.items():
        if config.get(key, value) != value:
            raise SystemExit(f"export_onnx: {key} is {config[key]}; only {value} is exported")
    weights = {}
    stored = safetensors_io.load(os.path.join(folder, "model.safetensors"))
    for name, array in stored.items():
        if not name.endswith("_scale"):
            scale = stored.get(f"{name}_scale")
            weights[name] = array.astype(np.float32) * (1 if scale is None else scale[:, None])
    os.makedirs(out, exist_ok=True)
    if config["model_type"] == "encoder_decoder":
        export_encoder(config, weights, out)
        export_decoder(config, weights, out)
    else:
        export_classifier(config, weights, out)


if __name__ == "__main__":
    main()
