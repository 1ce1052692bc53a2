"""Measures weights on the line from a published model to a run that continued from it: bits per byte of held-out
reviews. They show which --share the command export should take.

    python3 -m writer shares --run RUN --start checkpoints/writer
"""
import json
from pathlib import Path

import torch

from common.trainer import between, read_weights
from writer.batches import Reviews
from writer.evaluate import bits_of_writer, load

REVIEWS = 200


def add_arguments(parser):
    parser.add_argument("--run", required=True, help="folder of checkpoint.pt and reviews.npz")
    parser.add_argument("--start", required=True, help="model folder that the run started from")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.0, 0.25, 0.5, 0.75, 1.0])


def main(arguments):
    torch.set_num_threads(1)
    run = Path(arguments.run)
    model, config, tokenizer = load(arguments.start)
    start = {name: value.clone() for name, value in model.state_dict().items()}
    end = read_weights(run / "checkpoint.pt")
    reviews = Reviews(run / "reviews.npz", tokenizer.end, held_out=True)
    texts = [reviews.stream[at + 1:at + length].tolist()
             for at, length in list(zip(reviews.starts, reviews.lengths))[:REVIEWS]]
    sizes = tokenizer.sizes()
    size = sum(int(sizes[text].sum()) for text in texts)
    for share in arguments.shares:
        model.load_state_dict(between(start, end, share))
        bits = bits_of_writer(model, texts, tokenizer.end, config["n_positions"]) / size
        print(json.dumps({"share": share, "bits_per_byte": round(bits, 4)}), flush=True)
