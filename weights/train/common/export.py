"""Checkpoint -> model folder: config.json, model.safetensors (F16), tokenizer.model.

    python3 -m classifier export --checkpoint RUN/checkpoint.pt --tokenizer tokenizer.model --out ../sentiment

With --start, what the run started from, it writes weights on the line from there to the run's (after Wortsman et al.,
CVPR 2022): where a run gained in one domain and lost in another, these lose less.
"""
import json
import shutil
from pathlib import Path

import numpy
import torch

from common import safetensors_io
from common.trainer import between, read_weights


def add_arguments(parser):
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--out", required=True)
    parser.add_argument("--start", help="checkpoint or model.safetensors the run started from")
    parser.add_argument("--share", type=float, default=0.6, help="of the run's weights, where --start is given")


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
