"""Chooses the 4-bit integers of the writer's folder by training reviews: see common/four_bits.py.

    glassformer quantize checkpoints/writer ../writer --weights 4 --tables
    python3 -m writer quantize --data DATA --model checkpoints/writer --folder ../writer
"""
import json
import random

import torch

from common.four_bits import Rounding
from writer.evaluate import load
from writer.model import PARTS
from writer.prepare import read_texts

def add_arguments(parser):
    parser.add_argument("--data", required=True, help="folder of the reviews")
    parser.add_argument("--model", required=True, help="model folder at half precision, with GPT-2's names")
    parser.add_argument("--folder", required=True, help="the folder that `glassformer quantize` wrote from it")
    parser.add_argument("--reviews", type=int, default=400)


@torch.no_grad()
def main(arguments):
    model, config, tokenizer = load(arguments.model)
    positions = config["n_positions"]
    texts = random.Random(1).sample(read_texts(arguments.data), arguments.reviews)
    ids = [torch.tensor([[tokenizer.end, *tokenizer.encode(text)][:positions]]) for text in texts]
    rounding = Rounding()
    states = [model.embed(row) for row in ids]
    norms = [layer.ln_1 for layer in model.h] + [model.ln_f]
    states = [(x, norms[0](x)) for x in states]
    for at, (layer, following) in enumerate(zip(model.h, norms[1:])):

        def round_matrices(sums):
            for name, ours in PARTS:
                part = layer.get_submodule(name)
                rounding.matrix(part.weight.T, sums[part], *(f"decoder.layers.{at}.{name}.weight" for name in ours))

        states = rounding.layer(lambda both: layer(*both, following), states, round_matrices)
        print(json.dumps({"layer": at}), flush=True)
    rounding.table(model.wte.weight, torch.cat([normal[0] for _, normal in states]), "decoder.embed_tokens.weight")
    rounding.write(arguments.folder)
