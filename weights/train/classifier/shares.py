"""Measures weights on the line from the start to the end of a run: accuracy and log loss on validation texts. They show
which --share the command export should take.

    python3 -m classifier shares --stage negate --items negate.npz --start checkpoints/sentiment/model.safetensors \\
        --checkpoint run/negate/checkpoint.pt

If there are several checkpoints, of runs from the same start, their weights are averaged.
"""
import json

import torch

from classifier.batches import Items
from classifier.model import CONFIG, Classifier
from classifier.train import STAGES, predict
from common.attention import use_compiled
from common.trainer import compute_type, read_weights


def measure(model, items):
    """Returns (accuracy, mean log loss, number of texts) of one group."""
    with torch.no_grad():
        logits = torch.from_numpy(predict(model, items, torch.device("cpu"), compute_type(torch.device("cpu"))))
    targets = torch.from_numpy(items.targets)
    losses = -(targets * logits.log_softmax(1)).sum(1)
    return float((logits.argmax(1) == targets.argmax(1)).float().mean()), float(losses.mean()), len(targets)


def add_arguments(parser):
    parser.add_argument("--stage", choices=STAGES, required=True)
    parser.add_argument("--items", required=True)
    parser.add_argument("--start", required=True)
    parser.add_argument("--checkpoint", nargs="+", required=True)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.0, 0.25, 0.5, 0.75, 1.0])


def main(arguments):
    torch.set_num_threads(1)
    use_compiled()
    start = read_weights(arguments.start)
    ends = [read_weights(path) for path in arguments.checkpoint]
    model = Classifier(CONFIG).eval()
    groups = {name: Items(arguments.items, [name]) for name in STAGES[arguments.stage]["validation"]}
    for share in arguments.shares:
        mixed = {name: value.lerp(sum(end[name] for end in ends) / len(ends), share) for name, value in start.items()}
        model.load_state_dict(mixed, strict=False)
        figures = {name: measure(model, items) for name, items in groups.items()}
        print(json.dumps({"share": share, **{name.removeprefix("valid_"): [round(100 * right, 2), round(loss, 4)]
                                             for name, (right, loss, _) in figures.items()}}), flush=True)
