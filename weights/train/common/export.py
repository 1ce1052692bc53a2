"""Writes a model folder from a checkpoint: config.json, model.safetensors (F16), tokenizer.model.

    python3 -m classifier export --checkpoint RUN/checkpoint.pt --tokenizer tokenizer.model --out ../sentiment

--start names the weights that the run started from. With it, the exported weights lie on the line from there to the
weights of the run (Wortsman et al., CVPR 2022). If a run gained in one domain and lost in another, these weights lose
less.
"""
import json
import shutil
from pathlib import Path

import numpy
import torch

from common import safetensors_io
from common.trainer import between, read_weights


def add_arguments(parser):
    parser.add_argument("--checkpoint", required=True, help="checkpoint.pt of a run")
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--out", required=True)
    parser.add_argument("--start", help="checkpoint or model.safetensors that the run started from")
    parser.add_argument("--share", type=float, default=0.6, help="how far on the line from --start to the run's weights")


def main(arguments):
    state = torch.load(arguments.checkpoint, map_location="cpu")
    average = {name: value for name, value in state["average"].items() if not name.startswith("mlm_")}
    if arguments.start:
        start = read_weights(arguments.start)
        average = between(start, average, arguments.share)
    tensors = {name: value.numpy().astype(numpy.float16) for name, value in average.items()}
    tensors = dict(sorted(tensors.items()))
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    safetensors_io.save(out / "model.safetensors", tensors, dict.fromkeys(tensors, "F16"))
    (out / "config.json").write_text(json.dumps(state["config"], indent=2) + "\n")
    if Path(arguments.tokenizer).resolve() != (out / "tokenizer.model").resolve():
        shutil.copyfile(arguments.tokenizer, out / "tokenizer.model")
    print(json.dumps({"parameters": sum(t.size for t in tensors.values()), "tensors": len(tensors)}))
