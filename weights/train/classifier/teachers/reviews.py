"""Trains the teacher of whole reviews, the model of sentences.py: a bidirectional GRU over word vectors.

    python3 -m classifier review-teacher --data DIR --vectors vectors.npz --out reviews.npz

It learns first from pieces of labeled reviews, then from whole labeled reviews. The file holds log-odds of unlabeled
and of validation reviews. classifier/prepare.py combines them with those of ngrams.py, which knows words but not their
order.
"""
import json
import time

import numpy
import torch

from classifier import prepare
from classifier.teachers.sentences import Reader, Vocabulary, fit, pieces_of_reviews, score

EPOCHS = {"pieces": 1, "reviews": 2}
HEAD, TAIL = 100, 300  # words that are read from the beginning and end of a longer review
STEP = 8  # lengths are cut to multiples of this, so that batches are large


def read(vocabulary, texts):
    """Maps [text] to [ids], cut to HEAD + TAIL words."""
    rows = []
    for ids in vocabulary.encode(texts):
        if len(ids) > HEAD + TAIL:
            ids = numpy.concatenate([ids[:HEAD], ids[-TAIL:]])
        rows.append(ids[:max(STEP, len(ids) // STEP * STEP)])
    return rows


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--vectors", required=True, help="file of the command word-vectors")
    parser.add_argument("--out", default="reviews.npz")


def main(arguments):
    torch.set_num_threads(1)
    began = time.time()
    vocabulary = Vocabulary.load(arguments.vectors)
    groups = prepare.read_groups(arguments.data)
    net = fit(Reader(vocabulary.vectors), *pieces_of_reviews(groups, vocabulary), EPOCHS["pieces"], tokens=2048)
    texts = [ids for domain in ("films", "products") for ids in read(vocabulary, groups[domain][1])]
    labels = numpy.concatenate([groups[domain][0] for domain in ("films", "products")])
    net = fit(net, texts, labels, EPOCHS["reviews"], tokens=4096)
    scores = {}
    for domain in ("films", "products"):
        for name in (f"valid_{domain}", f"{domain}_unlabeled"):
            scores[name] = score(net, read(vocabulary, groups[name][1]), tokens=8192)
        right = float(((scores[f"valid_{domain}"] > 0) == groups[f"valid_{domain}"][0]).mean())
        seconds = round(time.time() - began)
        print(json.dumps({"valid": domain, "accuracy": round(right, 4), "seconds": seconds}), flush=True)
    numpy.savez(arguments.out, **scores)
