"""Checkpoint -> model folder: config.json, model.safetensors (F16), tokenizer.model.

    python3 export.py --checkpoint RUN/checkpoint.pt --tokenizer tokenizer.model --out ../sentiment
"""
import argparse
import json
import shutil
from pathlib import Path

import numpy
import torch

from model import CONFIG

TYPES = {"float16": "F16", "float32": "F32"}


def write_safetensors(path, tensors, metadata):
    """tensors: {name: float16 or float32 array}. Written in the order given, header padded to 8 bytes."""
    header, offset = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": TYPES[tensor.dtype.name], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            out.write(numpy.ascontiguousarray(tensor).tobytes())


def read_safetensors(path):
    """{name: array} of a file of F16 and F32 tensors."""
    raw = Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    types = {"F16": numpy.float16, "F32": numpy.float32}
    return {name: numpy.frombuffer(raw[8 + size:][slice(*entry["data_offsets"])], types[entry["dtype"]])
            .reshape(entry["shape"]) for name, entry in header.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    state = torch.load(arguments.checkpoint, map_location="cpu")
    tensors = {name: value.numpy().astype(numpy.float16) for name, value in state["average"].items()
               if not name.startswith("mlm_")}
    # Large tensors first would change nothing; names in order make files comparable.
    tensors = dict(sorted(tensors.items()))
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    write_safetensors(out / "model.safetensors", tensors, {"format": "pt"})
    (out / "config.json").write_text(json.dumps(state.get("config", CONFIG), indent=2) + "\n")
    if Path(arguments.tokenizer).resolve() != (out / "tokenizer.model").resolve():
        shutil.copyfile(arguments.tokenizer, out / "tokenizer.model")
    print(json.dumps({"parameters": sum(t.size for t in tensors.values()), "tensors": len(tensors)}))


if __name__ == "__main__":
    main()
