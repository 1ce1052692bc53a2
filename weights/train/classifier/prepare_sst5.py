"""Writes the token ids and labels of the five-class task SST-5 (very negative to very positive) for `train --stage
sst5`.

    python3 -m classifier prepare-sst5 --data DIR --tokenizer tokenizer.model --out sst5.npz
"""

import numpy
import sentencepiece

from classifier.prepare import encode, held_out
from common import review_files

CLASSES = 5


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--out", default="sst5.npz")


def main(arguments):
    processor = sentencepiece.SentencePieceProcessor(model_file=arguments.tokenizer)
    pairs = review_files.read_training(arguments.data, "sst5.train.tsv.gz")
    arrays = {}
    for name, wanted in (("sst5", False), ("valid_sst5", True)):
        chosen = [pair for pair in pairs if held_out(pair[1], 10) == wanted]
        targets = numpy.eye(CLASSES, dtype=numpy.float32)[[label for label, _ in chosen]]
        arrays.update(encode(name, processor, [text for _, text in chosen], targets))
    numpy.savez(arguments.out, **arrays)
