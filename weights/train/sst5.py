"""Items of the five-class task SST-5 (very negative to very positive) for `train.py --stage sst5`.

    python3 sst5.py --data DIR --tokenizer tokenizer.model --out sst5.npz
"""
import argparse

import numpy
import sentencepiece

import data
from prepare import encode, held_out

CLASSES = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--out", default="sst5.npz")
    arguments = parser.parse_args()
    processor = sentencepiece.SentencePieceProcessor(model_file=arguments.tokenizer)
    pairs = data.read_training(arguments.data, "sst5.train.tsv.gz")
    arrays = {}
    for name, wanted in (("sst5", False), ("valid_sst5", True)):
        chosen = [pair for pair in pairs if held_out(pair[1], 10) == wanted]
        targets = numpy.eye(CLASSES, dtype=numpy.float32)[[label for label, _ in chosen]]
        arrays.update(encode(name, processor, [text for _, text in chosen], targets))
    numpy.savez(arguments.out, **arrays)


if __name__ == "__main__":
    main()
