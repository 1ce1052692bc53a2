"""Exports a model folder to ONNX for the comparison with ONNX Runtime: python3-onnx and NumPy, no PyTorch.

    /usr/bin/python3 tests/bench/export_onnx.py MODEL_DIR OUT_DIR [--int8] [--batch]

Every choice favors the runtime: no mask, because there is no padding; position tables and scaled embeddings as
constants; queries, keys and values in one product; the search for the most probable tokens inside the graph.

--int8 runs each linear layer, including the vocabulary's, with 8-bit integers: DynamicQuantizeLinear, MatMulInteger
with symmetric weights per output channel, Cast and Mul, which the runtime fuses. Attention stays float32.

A classifier becomes OUT_DIR/classifier.onnx. It maps `ids` [1, S] int64 to `scores` [1, C] after softmax, with the
runtime's own fused Attention (QAttention) and LayerNormalization. With separate MatMul, Transpose and Softmax nodes it
ran up to 7 % slower. With --batch, `ids` is [B, S], and `mask` [B, S] int32 is 1 for tokens and 0 for padding; only
models that read the first token's state. A classifier of pictures maps `pixels` [1, C, height, width], already
normalized, to `scores`.

A translator becomes two files. OUT_DIR/encoder.onnx maps `ids` [1, S] to `cross_keys.L` [1, H, d, S] and
`cross_values.L` [1, H, S, d] for each decoder layer L. OUT_DIR/decoder.onnx is one step of R hypotheses with cached
keys and values. Its inputs are `ids` [R, 1], `position` [1], `parents` [R] (the row that each hypothesis continues),
`count` [1], the encoder's outputs, and `keys.L`, `values.L` [R', H, T, d]. Its outputs are `next_keys.L`,
`next_values.L` [R, H, T + 1, d], and `tokens` and `log_probabilities` [R, count] of the `count` most probable next
tokens.

A language model becomes OUT_DIR/decoder.onnx. It maps `ids` [1, T], `positions` [T] and `past.L` [2, 1, H, P, d] to
`present.L` [2, 1, H, P + T, d] and `token` [1, 1], the most probable next token. It takes a prompt in one call, then
one token per call.
"""

import argparse
import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../weights/train"))
from common import safetensors_io

SUPPORTED = {
    "positions": ["sinusoidal", "sinusoidal_halves", "learned"], "norm": ["pre", "post"], "layer_norm": ["standard"],
    "attention": ["full", "causal"], "activation": ["relu", "gelu", "gelu_tanh", "silu"], "attention_bias": [True],
    "pooling": ["mean", "first"], "position_offset": [0], "gated": [False], "head_dense": ["tanh", "relu"],
}

OF_TYPE = {
    "encoder_classifier": {"distillation_token": [False], "class_token": [True]},
    "encoder_decoder": {"embeddings": ["shared"], "lm_head_bias": [True]},
    "decoder": {"embeddings": ["tied"], "lm_head_bias": [False], "positions": ["learned"]},
}


class Weights:
    """The tensors of a model.safetensors, in float32 or as int8."""

    def __init__(self, path):
        self.stored = safetensors_io.load(path)

    def __getitem__(self, name):
        """Returns a tensor in float32."""
        if self.stored[name].dtype == np.int8:
            weight, scale = self.quantized(name)
            return weight * scale[:, None]
        return self.stored[name].astype(np.float32)

    def quantized(self, name):
        """Returns int8 [out, in] and scale [out]: as in the file, or rounded symmetrically per output."""
        if self.stored[name].dtype == np.int8:
            return self.stored[name], self.stored[f"{name}_scale"]
        weight = self[name]
        scale = np.maximum(np.abs(weight).max(axis=1), np.finfo(np.float32).tiny) / 127
        return np.rint(weight / scale[:, None]).astype(np.int8), scale


class Graph:
    """Collects nodes and constants; every method returns the name of its result."""

    def __init__(self, config, weights, int8, mask=""):
        self.config, self.weights, self.int8, self.mask = config, weights, int8, mask
        self.nodes, self.constants = [], []

    def constant(self, array, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype), name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = outputs if isinstance(outputs, list) else [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if len(names) == 1 else names

    def first(self, *arguments, **attributes):
        """Adds a node and returns the name of its first result."""
        results = self.op(*arguments, **attributes)
        return results[0] if isinstance(results, list) else results

    def linear(self, x, weights, biases=()):
        """Maps [R, T, in] to [R, T, out]: the concatenated outputs of the weights with these names."""
        product = self.product(x, weights)
        return self.op("Add", product, self.constant(self.side_by_side(biases))) if biases else product

    def product(self, x, weights):
        if not self.int8:
            return self.op("MatMul", x, self.constant(self.side_by_side(weights).T))
        weight, scale = self.quantized(weights)
        quantized, x_scale, zero_point = self.op("DynamicQuantizeLinear", x, outputs=3)
        sums = self.op("Cast", self.op("MatMulInteger", quantized, weight, zero_point), to=TensorProto.FLOAT)
        return self.op("Mul", sums, self.op("Mul", x_scale, scale))

    def named(self, x, *names):
        """Returns the concatenated outputs of the linear layers with these names."""
        return self.linear(x, [f"{name}.weight" for name in names], [f"{name}.bias" for name in names])

    def side_by_side(self, names):
        return np.concatenate([self.weights[name] for name in names])

    def quantized(self, names):
        """Adds constants: the weights as int8 [in, out] and their scales [out]."""
        weight, scale = map(np.concatenate, zip(*map(self.weights.quantized, names)))
        return self.constant(weight.T, np.int8), self.constant(scale)

    def layer_norm(self, x, name):
        return self.op("LayerNormalization", x, self.constant(self.weights[f"{name}.weight"]),
                       self.constant(self.weights[f"{name}.bias"]), axis=-1, epsilon=self.config["layer_norm_eps"])

    def residual(self, x, norm, sublayer):
        """Adds x + sublayer(norm(x)), or norm(x + sublayer(x)) in post-norm models."""
        if self.config["norm"] == "pre":
            return self.op("Add", x, sublayer(self.layer_norm(x, norm)))
        return self.layer_norm(self.op("Add", x, sublayer(x)), norm)

    def feed_forward(self, x, name):
        def sublayer(normed):
            hidden = self.activate(self.named(normed, f"{name}.fc1"))
            return self.named(hidden, f"{name}.fc2")

        return self.residual(x, f"{name}.final_layer_norm", sublayer)

    def activate(self, x):
        """Applies the activation with the runtime's own operator."""
        fused = {"domain": "com.microsoft"}
        kind = self.config["activation"]
        if kind == "silu":
            return self.op("QuickGelu", x, alpha=1.0, **fused)
        return self.op({"gelu": "Gelu", "gelu_tanh": "FastGelu"}[kind], x, **fused) if kind != "relu" else self.op("Relu", x)

    def embed(self, table, positions):
        """Adds scale · table[ids] + positions."""
        scale = self.config["d_model"]**0.5 if self.config["scale_embedding"] else 1.0
        return self.op("Add", self.op("Gather", self.constant(self.weights[table] * scale), "ids"), positions)

    def positions(self, stack):
        """Returns the constant that is added to the rows of tokens: positions, and type 0 if the model has types."""
        if self.config["positions"] != "learned":
            return sinusoids(self.config, "max_source_length")
        learned = self.weights[f"{stack}.embed_positions.weight"]
        return learned + self.weights[f"{stack}.embed_types.weight"][0] if self.config.get("token_types") else learned

    def encode(self, table):
        """Adds the encoder for `ids` [1, S] and returns its output."""
        first = self.constant([0], np.int64)
        length = self.op("Slice", self.op("Shape", "ids"), self.constant([1], np.int64), self.constant([2], np.int64))
        x = self.embed(table, self.op("Slice", self.constant(self.positions("encoder")), first, length, first))
        if self.config.get("embedding_norm"):
            x = self.layer_norm(x, "encoder.layernorm_embedding")
        return self.layers(x)

    def layers(self, x):
        """Adds the encoder's layers and its last norm."""
        for layer in range(self.config["encoder_layers"]):
            name = f"encoder.layers.{layer}"
            own = f"{name}.self_attn"
            x = self.residual(x, f"{own}_layer_norm",
                              lambda normed: self.named(self.self_attention(normed, own), f"{own}.out_proj"))
            x = self.feed_forward(x, name)
        return self.layer_norm(x, "encoder.layer_norm") if self.config["final_norm"] else x

    def encode_picture(self):
        """Adds the encoder for `pixels` [1, C, height, width] and returns its output."""
        config = self.config
        patch = [config["patch_height"], config["patch_width"]]
        weight = self.weights["encoder.embed_patches.weight"].reshape(-1, config["channels"], *patch)
        patches = self.op("Conv", "pixels", self.constant(weight),
                          self.constant(self.weights["encoder.embed_patches.bias"]), strides=patch)
        rows = self.op("Reshape", patches, self.constant([1, config["d_model"], -1], np.int64))
        token = self.constant(self.weights["encoder.class_token"][None])
        x = self.op("Concat", token, self.op("Transpose", rows, perm=[0, 2, 1]), axis=1)
        return self.layers(self.op("Add", x, self.constant(self.weights["encoder.embed_positions.weight"])))

    def self_attention(self, x, name, past="", present=None):
        """Maps [1, S, D] to [1, S, D], before out_proj. With a cache, each row reads the rows up to its own."""
        weights, biases = ([f"{name}.{part}_proj.{kind}" for part in "qkv"] for kind in ("weight", "bias"))
        bias = self.constant(self.side_by_side(biases))
        fused = {"num_heads": self.config["n_heads"], "domain": "com.microsoft"}
        cached = [past] if past else []
        if past:
            fused.update(unidirectional=1, outputs=[f"{name}.context", present])
        if not self.int8:
            mask = [self.mask] if past or self.mask else []
            weight = self.constant(self.side_by_side(weights).T)
            return self.first("Attention", x, weight, bias, *mask, *cached, **fused)
        weight, scale = self.quantized(weights)
        quantized, x_scale, zero_point = self.op("DynamicQuantizeLinear", x, outputs=3)
        none = [""] if past else []  # weights are symmetric
        inputs = [quantized, weight, bias, x_scale, scale, self.mask, zero_point, *none, *cached]
        return self.first("QAttention", *inputs, **fused)

    def heads(self, x, order, output=None):
        """Maps [R, T, D] to [R, H, T, d] (order 0 2 1 3) or its transpose (0 2 3 1)."""
        shape = self.constant([0, 0, self.config["n_heads"], -1], np.int64)
        outputs = 1 if output is None else [output]
        return self.op("Transpose", self.op("Reshape", x, shape), perm=order, outputs=outputs)

    def attend(self, q, keys_transposed, values):
        """Attends with q [R, H, 1, d] to keys [R, H, d, T] and values [R, H, T, d]. Returns [R, 1, D]."""
        scale = self.constant((self.config["d_model"] // self.config["n_heads"])**-0.5)
        scores = self.op("MatMul", self.op("Mul", q, scale), keys_transposed)
        context = self.op("MatMul", self.op("Softmax", scores, axis=-1), values)
        return self.op("Reshape", self.op("Transpose", context, perm=[0, 2, 1, 3]), self.constant([0, 0, -1], np.int64))

    def save(self, path, inputs, outputs):
        """Writes the graph. inputs, outputs: {name: (type, shape)}."""
        info = lambda values: [helper.make_tensor_value_info(name, *value) for name, value in values.items()]
        model = helper.make_model(
            helper.make_graph(self.nodes, "model", info(inputs), info(outputs), self.constants),
            opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def sinusoids(config, length):
    """Returns sines and cosines in alternating columns, or sines in the first half and cosines in the second."""
    d_model = config["d_model"]
    angle = np.arange(config[length])[:, None] / 10000 ** (2 * np.arange(d_model // 2) / d_model)
    halves = [np.sin(angle), np.cos(angle)]
    if config["positions"] == "sinusoidal_halves":
        return np.concatenate(halves, axis=1)
    return np.stack(halves, axis=2).reshape(-1, d_model)


def export_classifier(config, weights, int8, folder, batch):
    if batch and config["pooling"] != "first":
        raise SystemExit("export_onnx: --batch needs a model that reads the first token's state")
    graph = Graph(config, weights, int8, "mask" if batch else "")
    pictures = config["task"] == "image-classification"
    states = graph.encode_picture() if pictures else graph.encode("encoder.embed_tokens.weight")
    if config["pooling"] == "mean":
        pooled = graph.op("ReduceMean", states, axes=[1], keepdims=0)
    else:
        first = graph.op("Gather", states, graph.constant([0], np.int64), axis=1)
        pooled = graph.op("Squeeze", first, graph.constant([1], np.int64))
    if "head_dense" in config:
        pooled = graph.op({"tanh": "Tanh", "relu": "Relu"}[config["head_dense"]], graph.named(pooled, "head.dense"))
    graph.op("Softmax", graph.named(pooled, "classifier"), axis=-1, outputs=["scores"])
    rows = "B" if batch else 1
    inputs = {"ids": (TensorProto.INT64, [rows, "S"])}
    if batch:
        inputs["mask"] = (TensorProto.INT32, [rows, "S"])
    if pictures:
        shape = [1, config["channels"], config["picture_height"], config["picture_width"]]
        inputs = {"pixels": (TensorProto.FLOAT, shape)}
    graph.save(os.path.join(folder, "classifier.onnx"), inputs,
               {"scores": (TensorProto.FLOAT, [rows, len(config["labels"])])})


def export_encoder(config, weights, int8, folder):
    graph = Graph(config, weights, int8)
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


def export_decoder(config, weights, int8, folder):
    graph = Graph(config, weights, int8)
    heads, d_head = config["n_heads"], config["d_model"] // config["n_heads"]
    inputs = {"ids": (TensorProto.INT64, ["R", 1]), "position": (TensorProto.INT64, [1]),
              "parents": (TensorProto.INT64, ["R"]), "count": (TensorProto.INT64, [1])}
    outputs = {}
    positions = graph.constant(sinusoids(config, "max_target_length"))
    x = graph.embed("embed_tokens.weight", graph.op("Gather", positions, "position"))
    for layer in range(config["decoder_layers"]):
        name = f"decoder.layers.{layer}"
        own = f"{name}.self_attn"

        def self_attention(normed):
            qkv = graph.named(normed, *(f"{own}.{part}_proj" for part in "qkv"))
            q, *both = (graph.heads(part, [0, 2, 1, 3]) for part in graph.op("Split", qkv, axis=-1, outputs=3))
            cached = []
            for kind, new in zip(("keys", "values"), both):
                past = graph.op("Gather", f"{kind}.{layer}", "parents", axis=0)
                cached.append(graph.op("Concat", past, new, axis=2, outputs=[f"next_{kind}.{layer}"]))
                inputs[f"{kind}.{layer}"] = (TensorProto.FLOAT, ["P", heads, "T", d_head])
                outputs[f"next_{kind}.{layer}"] = (TensorProto.FLOAT, ["R", heads, "U", d_head])
            context = graph.attend(q, graph.op("Transpose", cached[0], perm=[0, 1, 3, 2]), cached[1])
            return graph.named(context, f"{own}.out_proj")

        cross = f"{name}.encoder_attn"

        def cross_attention(normed):
            q = graph.heads(graph.named(normed, f"{cross}.q_proj"), [0, 2, 1, 3])
            context = graph.attend(q, f"cross_keys.{layer}", f"cross_values.{layer}")
            return graph.named(context, f"{cross}.out_proj")

        x = graph.residual(x, f"{own}_layer_norm", self_attention)
        x = graph.residual(x, f"{cross}_layer_norm", cross_attention)
        inputs[f"cross_keys.{layer}"] = (TensorProto.FLOAT, [1, heads, d_head, "S"])
        inputs[f"cross_values.{layer}"] = (TensorProto.FLOAT, [1, heads, "S", d_head])
        x = graph.feed_forward(x, name)

    x = graph.layer_norm(x, "decoder.layer_norm") if config["final_norm"] else x
    hidden = graph.op("Squeeze", x, graph.constant([1], np.int64))
    logits = graph.linear(hidden, ["embed_tokens.weight"], ["lm_head.bias"])
    graph.op("TopK", graph.op("LogSoftmax", logits, axis=-1), "count", axis=-1,
             outputs=["log_probabilities", "tokens"])
    outputs["log_probabilities"] = (TensorProto.FLOAT, ["R", "K"])
    outputs["tokens"] = (TensorProto.INT64, ["R", "K"])
    graph.save(os.path.join(folder, "decoder.onnx"), inputs, outputs)


def export_language_model(config, weights, int8, folder):
    graph = Graph(config, weights, int8)
    heads, d_head = config["n_heads"], config["d_model"] // config["n_heads"]
    inputs = {"ids": (TensorProto.INT64, [1, "T"]), "positions": (TensorProto.INT64, ["T"])}
    outputs = {"token": (TensorProto.INT64, [1, 1])}
    table = "decoder.embed_tokens.weight"
    learned = graph.constant(weights["decoder.embed_positions.weight"])
    x = graph.embed(table, graph.op("Gather", learned, "positions"))
    for layer in range(config["decoder_layers"]):
        name = f"decoder.layers.{layer}"
        own = f"{name}.self_attn"
        past, present = f"past.{layer}", f"present.{layer}"
        x = graph.residual(x, f"{own}_layer_norm", lambda normed: graph.named(
            graph.self_attention(normed, own, past, present), f"{own}.out_proj"))
        x = graph.feed_forward(x, name)
        inputs[past] = (TensorProto.FLOAT, [2, 1, heads, "P", d_head])
        outputs[present] = (TensorProto.FLOAT, [2, 1, heads, "U", d_head])
    x = graph.layer_norm(x, "decoder.layer_norm") if config["final_norm"] else x
    last = graph.op("Gather", x, graph.constant([-1], np.int64), axis=1)
    graph.op("ArgMax", graph.linear(last, [table]), axis=-1, keepdims=0, outputs=["token"])
    graph.save(os.path.join(folder, "decoder.onnx"), inputs, outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--batch", action="store_true")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    for key, values in (SUPPORTED | OF_TYPE.get(config["model_type"], {})).items():
        if config.get(key, values[0]) not in values:
            raise SystemExit(f"export_onnx: {key} is {config[key]}; only {values} is exported")
    weights = Weights(os.path.join(arguments.model, "model.safetensors"))
    os.makedirs(arguments.out, exist_ok=True)
    if config["model_type"] == "decoder":
        export_language_model(config, weights, arguments.int8, arguments.out)
    elif config["model_type"] == "encoder_decoder":
        export_encoder(config, weights, arguments.int8, arguments.out)
        export_decoder(config, weights, arguments.int8, arguments.out)
    else:
        export_classifier(config, weights, arguments.int8, arguments.out, arguments.batch)


if __name__ == "__main__":
    main()
