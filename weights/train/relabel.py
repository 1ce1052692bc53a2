"""Gives the unlabelled texts new targets: teacher and trained student averaged, each in log-odds.

The two see a text differently (n-grams against a Transformer), so that together they are right more often
than either; the student then learns from both.

    python3 relabel.py --items items.npz --checkpoint RUN/checkpoint.pt --out items2.npz
"""
import argparse

import numpy
import torch

from batches import Items
from model import CONFIG, Classifier
from train import VALIDATION, compute_type, predict
from teacher import slope


def log_odds(targets):
    positive = numpy.clip(targets[:, 1], 1e-4, 1 - 1e-4)
    return numpy.log(positive / (1 - positive))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", default="items.npz")
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--out", default="items2.npz")
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    compute = compute_type(device)
    model = Classifier(CONFIG).to(device)
    model.load_state_dict(torch.load(arguments.checkpoint, map_location="cpu")["average"], strict=False)

    def student(group):
        items = Items(arguments.items, [group])
        logits = predict(model, items, device, compute)
        return items.targets, logits[:, 1] - logits[:, 0]

    arrays = dict(numpy.load(arguments.items))
    for valid in VALIDATION:
        domain = valid[len("valid_"):]
        targets, scores = student(valid)
        factor = slope(scores, targets.argmax(1))
        group = f"{domain}_unlabelled"
        targets, scores = student(group)
        blend = (log_odds(targets) + factor * scores) / 2
        positive = (1 / (1 + numpy.exp(-blend))).astype(numpy.float32)
        arrays[f"{group}.targets"] = numpy.stack([1 - positive, positive], axis=1)
        agree = ((targets[:, 1] > 0.5) == (scores > 0)).mean()
        print(f"{group}: student slope {factor:.2f}, agrees with the teacher on {agree:.1%}", flush=True)
    numpy.savez(arguments.out, **arrays)


if __name__ == "__main__":
    main()
