"""Runs a model on a file of probes, and prints its mistakes.

    python3 -m classifier probe --model checkpoints/sentiment --probes ../sentiment/probes.tsv
"""
from collections import Counter
from pathlib import Path

import numpy
import torch

from classifier.evaluate import Texts, load_model
from classifier.train import predict


def add_arguments(parser):
    parser.add_argument("--model", required=True)
    parser.add_argument("--probes", help="default: probes.tsv in the model's folder")


def main(arguments):
    model, config, processor = load_model(arguments.model)
    lines = Path(arguments.probes or Path(arguments.model) / "probes.tsv").read_text().splitlines()
    kinds, labels, texts = zip(*(line.split("\t") for line in lines))
    logits = torch.from_numpy(predict(model, Texts(processor, list(texts)), torch.device("cpu"), torch.float32,
                                      config["max_source_length"]))
    scores = logits.softmax(1).numpy()
    right, total = Counter(), Counter(kinds)
    for kind, label, text, row in zip(kinds, labels, texts, scores):
        guess = config["labels"][int(numpy.argmax(row))]
        right[kind] += guess == label
        if guess != label:
            print(f"wrong: {guess} {row.max():.2f} for {label}\t{text}")
    for kind in total:
        print(f"{kind}: {right[kind]} of {total[kind]}")
    print(f"all: {sum(right.values())} of {len(texts)}")
