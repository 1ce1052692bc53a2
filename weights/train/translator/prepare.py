"""Trains a shared tokenizer on parallel texts, and writes their token ids into one file.

    python3 -m translator prepare --data DIR --languages en-de --out RUN

It writes RUN/tokenizer.model (SentencePiece Unigram for both languages) and RUN/pairs.npz. A RUN/tokenizer.model that
exists is kept.
"""
import io
import json
import random
from pathlib import Path

import numpy
import sentencepiece

from translator import corpora

VOCABULARY = 12000
LONGEST = 120  # most pieces per side of a training pair
TYPED_SHARE = 0.25  # share of the shorter pairs that get a copy as typed in a hurry


def train_tokenizer(training, out):
    lines = [side for pairs in training.values() for pair in pairs for side in pair]
    random.Random(1).shuffle(lines)
    model = io.BytesIO()  # not written to a file: the model would contain its path
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="unigram", vocab_size=VOCABULARY,
        normalization_rule_name="nmt_nfkc", character_coverage=0.99995, byte_fallback=True,
        pad_id=0, unk_id=1, bos_id=2, eos_id=3,
        input_sentence_size=600_000, shuffle_input_sentence=True, num_threads=2)
    Path(out).write_bytes(model.getvalue())


def with_typed(pairs, generator):
    """Returns the pairs, and copies of some of them as people type."""
    typed = [corpora.as_typed(*pair, generator) for pair in pairs
             if len(pair[0]) < 120 and generator.random() < TYPED_SHARE]
    return pairs + [pair for pair in typed if pair]


def encode(processor, pairs, longest):
    """Returns {"source", "target": all ids, "source_ends", "target_ends"}. Each side of a pair ends with eos."""
    rows = [(source + [processor.eos_id()], target + [processor.eos_id()])
            for source, target in zip(processor.encode([p[0] for p in pairs]), processor.encode([p[1] for p in pairs]))]
    rows = [row for row in rows if max(len(row[0]), len(row[1])) <= longest]
    arrays = {}
    for number, side in enumerate(("source", "target")):
        arrays[side] = numpy.concatenate([numpy.array(row[number], numpy.uint16) for row in rows])
        arrays[f"{side}_ends"] = numpy.cumsum([len(row[number]) for row in rows])
    return arrays


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--languages", default="en-de", help="en-de or en-fr")
    parser.add_argument("--out", required=True, help="folder")


def main(arguments):
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    training = corpora.training_corpora(arguments.data, arguments.languages)
    if not (out / "tokenizer.model").exists():
        train_tokenizer(training, out / "tokenizer.model")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(out / "tokenizer.model"))
    arrays, generator = {}, random.Random(2)
    for name, pairs in training.items():
        pairs = [(source, corpora.with_quotes_of(source, target)) for source, target in pairs]
        encoded = encode(processor, with_typed(pairs, generator), LONGEST)
        arrays.update({f"{name}.{key}": value for key, value in encoded.items()})
        print(json.dumps({"corpus": name, "pairs": len(encoded["source_ends"]), "source_tokens":
                          len(encoded["source"]), "target_tokens": len(encoded["target"])}), flush=True)
    for name in corpora.VALIDATION:
        path = Path(arguments.data) / f"{name}.{arguments.languages}.valid.tsv.gz"
        encoded = encode(processor, corpora.read_pairs(arguments.data, path.name), LONGEST)
        arrays.update({f"valid_{name}.{key}": value for key, value in encoded.items()})
    numpy.savez(out / "pairs.npz", **arrays)
