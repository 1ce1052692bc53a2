"""Trains the SentencePiece Unigram tokenizer on the training texts.

    python3 -m classifier tokenizer --data DIR --out tokenizer.model
"""
import io
import random
import re
from pathlib import Path

import sentencepiece

from common import review_files

VOCABULARY = 8000


def sentences(folder):
    """Yields lines of about a sentence. The short files count several times, because reviews would outnumber them."""
    for domain, (labeled, unlabeled) in review_files.DOMAINS.items():
        repeats = 3 if domain == "sentences" else 1
        for name in labeled + unlabeled:
            for item in review_files.read_training(folder, name):
                text = item[1] if isinstance(item, tuple) else item
                for part in re.split(r"(?<=[.!?]) +", text):
                    for _ in range(repeats):
                        yield part
                if domain == "sentences":
                    yield review_files.detokenize(text)


def train(folder, out, count):
    lines = list(sentences(folder))
    random.Random(1).shuffle(lines)
    model = io.BytesIO()  # not written to a file: the model would contain its path
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines[:count]), model_writer=model, model_type="unigram",
        vocab_size=VOCABULARY, normalization_rule_name="nmt_nfkc_cf", character_coverage=0.9998,
        pad_id=0, unk_id=1, bos_id=2, eos_id=3, user_defined_symbols=["[MASK]"], num_threads=2)
    Path(out).write_bytes(model.getvalue())


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", default="tokenizer.model")
    parser.add_argument("--lines", type=int, default=500_000)


def main(arguments):
    train(arguments.data, arguments.out, arguments.lines)
