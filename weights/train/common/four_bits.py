"""Chooses the 4-bit integers of a model folder so that its layers' outputs, not its weights, change least: GPTQ (Frantar
et al., ICLR 2023), for groups of 32 inputs with a scale each.

`glassformer quantize MODEL FOLDER --weights 4 --tables` writes the folder with integers rounded to nearest; the command
quantize of a package replaces them. A matrix W [out, in] reads vectors x. H = sum of x x^T over the vectors of training
texts. Columns are rounded one after another, the one with the largest H_jj first, and the error of each is made up for
by the columns that are left. Layers come in the order of the model, and each sees the inputs that the rounded ones
before it give.
"""
import contextlib
from pathlib import Path

import numpy
import torch

from common import safetensors_io

GROUP = 32
LEAST, MOST = -8, 7
STEPS = torch.arange(5.4, 9.0, 0.1)  # the largest magnitude of a group is about this many steps
DAMPING = 0.01  # of the mean of H's diagonal
OBSERVERS = []


def reads(x, *layers):
    """Tells the observers that these layers read x [..., in]. Models call it wherever a layer's matrix is used."""
    for observer in OBSERVERS:
        observer(x, layers)


@contextlib.contextmanager
def observed():
    """Yields {layer: H [in, in]}, which grows with each use of a layer inside."""
    sums = {}

    def add(x, layers):
        rows = x.reshape(-1, x.shape[-1]).float()
        product = rows.T @ rows
        for layer in layers:
            sums[layer] = sums.get(layer, 0) + product

    OBSERVERS.append(add)
    try:
        yield sums
    finally:
        OBSERVERS.remove(add)


def rounded_to_bfloat(values):
    data = safetensors_io.to_bytes(values.numpy(), "BF16")
    return torch.from_numpy(safetensors_io.from_bytes(data, "BF16", tuple(values.shape)).copy())


def scales_of(weight, importance):
    """Returns the scale of each group [out, in / 32]: that with the least squared error of weight [out, in], weighted by
    importance [in]. Scales may be negative: -8 then stands for the largest value.
    """
    groups = weight.reshape(len(weight), -1, GROUP)
    importance = importance.view(1, -1, GROUP)
    extreme = groups.abs().amax(-1)
    least, chosen = torch.full_like(extreme, float("inf")), torch.ones_like(extreme)
    for step in torch.cat([STEPS, -STEPS]):
        scales = rounded_to_bfloat(extreme / step)
        scales[scales == 0] = 2.0**-126
        restored = (groups / scales[..., None]).round().clamp(LEAST, MOST) * scales[..., None]
        error = (importance * (groups - restored) ** 2).sum(-1)
        chosen = torch.where(error < least, scales, chosen)
        least = torch.minimum(error, least)
    return chosen


def fitted(weight, hessian):
    """Returns (integers [out, in], scales [out, in / 32]) for weight [out, in] and H [in, in]."""
    hessian = hessian.double().clone()
    unused = hessian.diagonal() == 0
    hessian[unused, unused] = 1
    importance = hessian.diagonal().float()
    hessian += DAMPING * hessian.diagonal().mean() * torch.eye(len(hessian), dtype=torch.float64)
    scales = scales_of(weight, importance)
    order = torch.argsort(importance, descending=True)
    factor = torch.linalg.cholesky(torch.linalg.inv(hessian[order][:, order]), upper=True)
    left = weight.double()[:, order]
    steps = scales.double().repeat_interleave(GROUP, 1)[:, order]
    integers = torch.empty_like(left)
    for column in range(len(order)):
        rounded = (left[:, column] / steps[:, column]).round().clamp(LEAST, MOST)
        integers[:, column] = rounded
        error = (left[:, column] - rounded * steps[:, column]) / factor[column, column]
        left[:, column:] -= error[:, None] * factor[column, column:]
    return integers[:, torch.argsort(order)].to(torch.int8), scales


def restored(integers, scales):
    return integers.float() * scales.repeat_interleave(GROUP, 1)


def packed(integers):
    """Returns the bytes [out, in / 2] of integers [out, in]: two in each, plus 8, the first in the low half."""
    halves = (integers.numpy().astype(numpy.int16) - LEAST).astype(numpy.uint8)
    return halves[:, 0::2] | halves[:, 1::2] << 4


def read(path):
    """Returns {name: values} of a model.safetensors, with 4-bit integers restored to floats."""
    tensors = {name: torch.from_numpy(array.copy()) for name, array in safetensors_io.load(path).items()}
    values = {name: tensor.float() for name, tensor in tensors.items() if not name.endswith("_scale")}
    for name, tensor in tensors.items():
        if tensor.dtype == torch.uint8:
            integers = torch.stack([tensor & 15, tensor >> 4], -1).flatten(1).to(torch.int16) + LEAST
            values[name] = restored(integers, tensors[name + "_scale"])
    return values


class Rounding:
    """Rounds the matrices of a model, and keeps their integers by the names of the folder."""

    def __init__(self):
        self.made = {}

    def matrix(self, weight, hessian, *names):
        """Rounds weight [out, in] in place. With several names, its rows are those of as many matrices."""
        integers, scales = fitted(weight, hessian)
        weight.copy_(restored(integers, scales))
        for name, part, of_part in zip(names, integers.chunk(len(names)), scales.chunk(len(names))):
            self.made[name] = (part, of_part)

    def layer(self, run, inputs, round_matrices):
        """Rounds a layer by its inputs. run: maps an input to an output. round_matrices: takes {layer: H}. Returns the
        outputs of the rounded layer.
        """
        with observed() as sums:
            for x in inputs:
                run(x)
        round_matrices(sums)
        return [run(x) for x in inputs]

    def table(self, weight, outputs, name):
        """Rounds a table of embeddings [V, D]. outputs: vectors [n, D] that the table is multiplied by to give logits, or
        None. A token's vector is also an input of the model, so that its own error counts, too.
        """
        own = torch.eye(weight.shape[1])
        product = outputs.T @ outputs if outputs is not None else torch.zeros_like(own)
        share = product.diagonal().mean().clamp(min=1e-30)
        self.matrix(weight, product / share + (0.3 if outputs is not None else 1.0) * own, name)

    def write(self, folder):
        """Replaces the integers of a model folder."""
        path = Path(folder) / "model.safetensors"
        tensors = safetensors_io.load(path)
        kinds = {"uint8": "U8", "float16": "F16"}
        dtypes = {name: kinds.get(array.dtype.name, "F32") for name, array in tensors.items()}
        matrices = {name for name, dtype in dtypes.items() if dtype == "U8"}
        if matrices != set(self.made):
            raise ValueError(f"{path}: expected the matrices {sorted(self.made)}, got {sorted(matrices)}")
        for name, (integers, scales) in self.made.items():
            tensors[name] = packed(integers)
            tensors[name + "_scale"] = scales.numpy()
            dtypes[name + "_scale"] = "BF16"
        safetensors_io.save(path, tensors, dtypes)


ATTENTION = ["q_proj", "k_proj", "v_proj", "out_proj"]


def round_linear(rounding, layer, prefix, attentions, sums):
    """Rounds the matrices of an encoder or decoder layer: those of its attentions, then fc1 and fc2."""
    names = [f"{attention}.{name}" for attention in attentions for name in ATTENTION] + ["fc1", "fc2"]
    for name in names:
        matrix = layer.get_submodule(name)
        rounding.matrix(matrix.weight, sums[matrix], f"{prefix}.{name}.weight")
