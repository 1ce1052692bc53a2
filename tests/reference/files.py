"""Reads and writes the files of the goldens."""

import json
import os
import sys

import torch

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.append(os.path.join(TESTS, "../weights/train"))
from common import safetensors_io  # noqa: E402  (after the path is set)


def load(path):
    """Returns {name: tensor} of a safetensors file, in float64."""
    return {name: torch.tensor(array.astype("f8")) for name, array in safetensors_io.load(path).items()}


def save(path, tensors, dtypes=None):
    """Writes {name: tensor} to a safetensors file. dtypes: {name: dtype} of tensors that are not float32."""
    arrays = {name: tensor.detach().contiguous().numpy() for name, tensor in tensors.items()}
    safetensors_io.save(path, arrays, dtypes)


def as_stored(tensor, dtype):
    """Returns a tensor with the values that it has after storing it as `dtype`, in float64."""
    stored = safetensors_io.to_bytes(tensor.numpy(), dtype)
    return torch.tensor(safetensors_io.from_bytes(stored, dtype, tensor.shape).astype("f8"))


def read_json(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def write_json(path, value):
    """Writes a JSON file with one line per top-level entry, and per element of longer lists, so that diffs are
    readable.
    """
    lines = []
    for key, entry in value.items():
        text = json.dumps(entry, ensure_ascii=False)
        if len(text) > 110 and isinstance(entry, list):
            text = "[\n    " + ",\n    ".join(json.dumps(item, ensure_ascii=False) for item in entry) + "\n  ]"
        elif len(text) > 110 and isinstance(entry, dict):
            items = (f"{json.dumps(k)}: {json.dumps(item, ensure_ascii=False)}" for k, item in entry.items())
            text = "{\n    " + ",\n    ".join(items) + "\n  }"
        lines.append(f"  {json.dumps(key)}: {text}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
