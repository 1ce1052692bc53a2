"""Chooses the 4-bit integers of a classifier's folder by training texts: see common/four_bits.py.

    glassformer quantize checkpoints/sentiment ../sentiment --weights 4 --tables
    python3 -m classifier quantize --data DATA --model checkpoints/sentiment --folder ../sentiment
"""
import json
import random

import torch

from classifier.evaluate import load_model
from common import review_files
from common.four_bits import Rounding, round_linear


def add_arguments(parser):
    parser.add_argument("--data", required=True, help="folder of the texts")
    parser.add_argument("--model", required=True, help="model folder at half precision")
    parser.add_argument("--folder", required=True, help="the folder that `glassformer quantize` wrote from it")
    parser.add_argument("--texts", type=int, default=300, help="texts of each labeled training file")


@torch.no_grad()
def main(arguments):
    model, config, tokenizer = load_model(arguments.model)
    texts = []
    for files, _ in review_files.DOMAINS.values():
        for name in files:
            labeled = review_files.read_training(arguments.data, name)
            texts += [text for _, text in random.Random(1).sample(labeled, min(arguments.texts, len(labeled)))]
    encoder, limit = model.encoder, config["max_source_length"]
    rounding = Rounding()
    rounding.table(encoder.embed_tokens.weight, None, "encoder.embed_tokens.weight")
    ids = [torch.tensor([tokenizer.encode(text)[:limit]]) for text in texts]
    states = [encoder.embed(row) for row in ids]
    for at, layer in enumerate(encoder.layers):
        states = rounding.layer(
            lambda x: layer(x, torch.float32), states,
            lambda sums: round_linear(rounding, layer, f"encoder.layers.{at}", ["self_attn"], sums))
        print(json.dumps({"encoder_layer": at}), flush=True)
    rounding.write(arguments.folder)
