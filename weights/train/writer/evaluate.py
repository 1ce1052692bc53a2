"""Measures bits per byte on imdb.test, of the writer and of a Kneser-Ney 5-gram model of the same training texts.

    python3 -m writer evaluate --data DATA --run RUN --model ../writer --out metrics.json

Both predict the same tokens of the first 2,000 reviews, and the end of each review. Their bits are divided by the bytes
of the text. A review longer than the model's positions is read in windows that overlap by half. Only the second half of
each further window counts.
"""
import json
import math
from pathlib import Path

import numpy
import torch

from common import four_bits, review_files
from common.trainer import read_weights
from writer import byte_bpe
from writer.batches import Reviews
from writer.kneser_ney import KneserNey, grams_of
from writer.model import CONFIG, Writer

REVIEWS = 2000
ROWS = 16  # windows per batch


def windows(length, positions):
    """Returns [(first place, place from which predictions count, end)] for `length` predictions."""
    out, done = [], 0
    while done < length:
        first = max(0, done - positions // 2) if done else 0
        out.append((first, done, min(first + positions, length)))
        done = out[-1][2]
    return out


@torch.no_grad()
def bits_of_writer(model, texts, end, positions, compute=torch.float32):
    """Returns the bits of all tokens of [ids] and of their ends."""
    device = model.wte.weight.device
    streams = [[end, *text, end] for text in texts]
    parts = [(stream, *window) for stream in streams for window in windows(len(stream) - 1, positions)]
    parts.sort(key=lambda part: part[3] - part[1])
    total = 0.0
    for at in range(0, len(parts), ROWS):
        rows = parts[at:at + ROWS]
        longest = -(-max(stop - first for _, first, _, stop in rows) // 16) * 16
        ids = torch.full((len(rows), min(longest, positions)), end)
        targets, counts = ids.clone(), torch.zeros(ids.shape, dtype=torch.bool)
        for row, (stream, first, begin, stop) in enumerate(rows):
            ids[row, :stop - first] = torch.tensor(stream[first:stop])
            targets[row, :stop - first] = torch.tensor(stream[first + 1:stop + 1])
            counts[row, begin - first:stop - first] = True
        log_p = model.log_probabilities(ids.to(device), compute).gather(2, targets.to(device)[:, :, None])[:, :, 0]
        total -= float(log_p[counts.to(device)].double().sum())
    return total / math.log(2)


def load(folder):
    """Loads a folder in GPT-2's format or one with 4-bit weights. Returns (model, config, tokenizer)."""
    path = Path(folder) / "model.safetensors"
    config = json.loads((Path(folder) / "config.json").read_text())
    if config["model_type"] == "gpt2":
        model = Writer(config)
        model.load_published(read_weights(path))
    else:
        config = CONFIG
        model = Writer(config)
        model.load_converted(four_bits.read(path))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return model.to(device), config, byte_bpe.Tokenizer(Path(folder) / "tokenizer.json")


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--run", required=True, help="folder of the command prepare")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)


def main(arguments):
    model, config, tokenizer = load(arguments.model)
    written = [text for _, text in review_files.read_labeled(arguments.data, "imdb.test.tsv.gz")[:REVIEWS]]
    texts = [tokenizer.encode(text) for text in written]
    size = sum(len(text.encode()) for text in written)
    train = Reviews(Path(arguments.run) / "reviews.npz", tokenizer.end, held_out=False)
    grams = KneserNey(grams_of([train.stream[start + 1:start + length] for start, length in
                                zip(train.starts, train.lengths)], tokenizer.end), config["vocab_size"])
    metrics = {
        "file": "imdb.test.tsv.gz", "reviews": len(written), "bytes": size, "tokens": sum(map(len, texts)) + len(texts),
        "parameters": sum(p.numel() for p in model.parameters()),
        "kneser_ney_bits_per_byte": round(float(-numpy.log2(grams.probabilities(
            grams_of(texts, tokenizer.end))).sum()) / size, 4),
        "bits_per_byte": round(bits_of_writer(model, texts, tokenizer.end, config["n_positions"]) / size, 4),
    }
    Path(arguments.out).write_text(json.dumps(metrics, indent=2) + "\n")
    print(json.dumps(metrics))
