"""Runs a model on the small written probe set, and prints what it gets wrong.

    python3 probe.py --model checkpoints/sentiment --probes ../sentiment/probes.tsv
"""
import argparse
from collections import Counter
from pathlib import Path

import numpy
import torch

from evaluate import Texts, load_model
from train import predict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--probes", help="default: probes.tsv in the model's folder")
    arguments = parser.parse_args()
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


if __name__ == "__main__":
    main()
