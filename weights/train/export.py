"""Checkpoint -> model folder: config.json, model.safetensors (F16), tokenizer.model.

    python3 export.py --checkpoint RUN/checkpoint.pt --tokenizer tokenizer.model --out ../sentiment
"""
import argparse
import json
import shutil
from pathlib import Path

import numpy
import torch

import safetensors_io
from model import CONFIG

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    state = torch.load(arguments.checkpoint, map_location="cpu")
    tensors = {name: value.numpy().astype(numpy.float16) for name, value in state["average"].items()
               if not name.startswith("mlm_")}
    tensors = dict(sorted(tensors.items()))
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    safetensors_io.save(out / "model.safetensors", tensors, dict.fromkeys(tensors, "F16"))
    (out / "config.json").write_text(json.dumps(state.get("config", CONFIG), indent=2) + "\n")
    if Path(arguments.tokenizer).resolve() != (out / "tokenizer.model").resolve():
        shutil.copyfile(arguments.tokenizer, out / "tokenizer.model")
    print(json.dumps({"parameters": sum(t.size for t in tensors.values()), "tensors": len(tensors)}))


if __name__ == "__main__":
    main()
