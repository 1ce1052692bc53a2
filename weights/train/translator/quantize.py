"""Chooses the 4-bit integers of a translator's folder by training pairs: see common/four_bits.py.

    glassformer quantize checkpoints/en-de ../en-de --weights 4 --tables
    python3 -m translator quantize --data DATA --model checkpoints/en-de --folder ../en-de
"""
import json
import random
from pathlib import Path

import sentencepiece
import torch

from common.four_bits import Rounding, round_linear
from common.trainer import read_weights
from translator.corpora import training_corpora
from translator.model import END, START, Translator, look_ahead

LONGEST = 120  # tokens; longer sentences are cut


def add_arguments(parser):
    parser.add_argument("--data", required=True, help="folder of the corpora")
    parser.add_argument("--model", required=True, help="model folder at half precision")
    parser.add_argument("--folder", required=True, help="the folder that `glassformer quantize` wrote from it")
    parser.add_argument("--pairs", type=int, default=250, help="pairs of each corpus")


def load(folder):
    """Loads a model folder. Returns (model, config, tokenizer)."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text())
    model = Translator(config)
    model.load_state_dict(read_weights(folder / "model.safetensors"))
    return model.eval(), config, sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))


@torch.no_grad()
def main(arguments):
    model, config, tokenizer = load(arguments.model)
    languages = f"{config['source_language']}-{config['target_language']}"
    pairs = []
    for corpus in training_corpora(arguments.data, languages).values():
        pairs += random.Random(1).sample(corpus, min(arguments.pairs, len(corpus)))
    sources = [torch.tensor([tokenizer.encode(source)[:LONGEST] + [END]]) for source, _ in pairs]
    targets = [torch.tensor([[START] + tokenizer.encode(target)[:LONGEST]]) for _, target in pairs]
    rounding = Rounding()

    encoded = [model.embed(source) for source in sources]
    for at, layer in enumerate(model.encoder.layers):
        encoded = rounding.layer(
            lambda x: layer(x, torch.float32), encoded,
            lambda sums: round_linear(rounding, layer, f"encoder.layers.{at}", ["self_attn"], sums))
        print(json.dumps({"encoder_layer": at}), flush=True)
    encoded = [model.encoder.layer_norm(x) for x in encoded]

    decoded = [(model.embed(target), source) for target, source in zip(targets, encoded)]
    for at, layer in enumerate(model.decoder.layers):
        decoded = rounding.layer(
            lambda both: (layer(*both, look_ahead(both[0].shape[1], both[1]), model.drop), both[1]), decoded,
            lambda sums: round_linear(rounding, layer, f"decoder.layers.{at}", ["self_attn", "encoder_attn"], sums))
        print(json.dumps({"decoder_layer": at}), flush=True)
    outputs = torch.cat([model.decoder.layer_norm(x)[0] for x, _ in decoded])
    rounding.table(model.embed_tokens.weight, outputs, "embed_tokens.weight")
    rounding.write(arguments.folder)
