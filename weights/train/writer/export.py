"""Writes a folder from a checkpoint, in F16, with the files that GPT2LMHeadModel and GPT2Tokenizer write.

    python3 -m writer export --run RUN --out checkpoints/writer
    python3 -m writer export --run RUN --start checkpoints/writer --share 0.75 --out checkpoints/writer

With --start, the weights lie on the line from that folder's to the run's. The command shares measures how far is best.
"""
import json
import shutil
from pathlib import Path

import numpy
import torch

from common import safetensors_io
from common.trainer import between, read_weights
from writer.byte_bpe import END
from writer.model import Writer

GENERATION = {"do_sample": True, "temperature": 0.8, "top_p": 0.95}


def published(weights):
    """Returns {name: float16 array}. The output matrix is wte and is not written twice."""
    return {f"transformer.{name}": value.numpy().astype(numpy.float16) for name, value in sorted(weights.items())}


def to_json(path, content):
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_tokenizer(path, out, positions):
    """Writes tokenizer.json and the files for older readers: vocab.json, merges.txt, tokenizer_config.json."""
    model = json.loads(Path(path).read_text())["model"]
    if Path(path).resolve() != (out / "tokenizer.json").resolve():
        shutil.copyfile(path, out / "tokenizer.json")
    (out / "vocab.json").write_text(json.dumps(model["vocab"], ensure_ascii=False, separators=(",", ":")) + "\n")
    (out / "merges.txt").write_text("\n".join(["#version: 0.2", *model["merges"]]) + "\n")
    to_json(out / "tokenizer_config.json", {
        "add_prefix_space": False, "bos_token": END, "eos_token": END, "unk_token": END,
        "model_max_length": positions, "tokenizer_class": "GPT2Tokenizer"})


def write(state, tokenizer, out):
    """Writes a checkpoint's moving average, its config and the tokenizer. Returns the number of parameters."""
    out.mkdir(parents=True, exist_ok=True)
    tensors, config = published(state["average"]), state["config"]
    safetensors_io.save(out / "model.safetensors", tensors, dict.fromkeys(tensors, "F16"), {"format": "pt"})
    to_json(out / "config.json", config)
    ends = {name: config[name] for name in ("bos_token_id", "eos_token_id")}
    to_json(out / "generation_config.json", {**ends, **GENERATION, "max_length": config["n_positions"]})
    write_tokenizer(tokenizer, out, config["n_positions"])
    return sum(tensor.size for tensor in tensors.values())


def add_arguments(parser):
    parser.add_argument("--run", required=True, help="folder of checkpoint.pt and tokenizer.json")
    parser.add_argument("--out", required=True)
    parser.add_argument("--start", help="model folder that the run started from")
    parser.add_argument("--share", type=float, default=1.0, help="how far on the line from --start to the run's weights")


def main(arguments):
    run, out = Path(arguments.run), Path(arguments.out)
    state = torch.load(run / "checkpoint.pt", map_location="cpu")
    if arguments.start:
        start = Writer(state["config"])
        start.load_published(read_weights(Path(arguments.start) / "model.safetensors"))
        state["average"] = between(start.state_dict(), state["average"], arguments.share)
    parameters = write(state, run / "tokenizer.json", out)
    print(json.dumps({"parameters": parameters, "bytes": sum(path.stat().st_size for path in out.iterdir())}))
