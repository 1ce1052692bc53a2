"""Trains GPT-2's byte-level BPE on reviews, as RUN/tokenizer.json, and writes the reviews' token ids to
RUN/reviews.npz.

    python3 -m writer prepare --data DATA --run RUN

A tokenizer.json that is already in RUN, or that --tokenizer names, is kept. So a run that continues from published
weights uses their ids.
"""
import collections
import json
import shutil
from pathlib import Path

import numpy

from common import review_files
from writer import byte_bpe

FILES = ["imdb.train.tsv.gz", "imdb.unsup.txt.gz"]
VALIDATION = 100  # one review in this many is held out


def read_texts(folder):
    rows = (row for name in FILES for row in review_files.read_training(folder, name))
    return [row if isinstance(row, str) else row[1] for row in rows]


def encode_all(tokenizer, words_of_texts):
    """Encodes texts [[word]]. Returns (ids in uint16, number of ids per text), without end tokens."""
    numbers, spelled = {}, []
    flat = numpy.fromiter((numbers.setdefault(word, len(numbers)) for words in words_of_texts for word in words),
                          numpy.int32)
    spelled = [tokenizer.encode_word(word) for word in numbers]
    lengths = numpy.array([len(ids) for ids in spelled])
    starts = numpy.cumsum(lengths) - lengths
    pool = numpy.concatenate([numpy.array(ids, numpy.uint16) for ids in spelled])
    counts = lengths[flat]
    ends = numpy.cumsum(counts)
    ids = pool[numpy.repeat(starts[flat] - (ends - counts), counts) + numpy.arange(ends[-1])]
    last_word = numpy.cumsum([len(words) for words in words_of_texts]) - 1
    return ids, numpy.diff(ends[last_word], prepend=0)


def add_arguments(parser):
    parser.add_argument("--data", required=True, help="folder of the reviews")
    parser.add_argument("--run", required=True, help="folder to write to")
    parser.add_argument("--tokens", type=int, default=4096, help="size of the vocabulary, including the end token")
    parser.add_argument("--tokenizer", help="tokenizer.json to use instead of a new one")


def main(arguments):
    run = Path(arguments.run)
    run.mkdir(parents=True, exist_ok=True)
    path = run / "tokenizer.json"
    if arguments.tokenizer:
        shutil.copyfile(arguments.tokenizer, path)
    texts = [text for text in read_texts(arguments.data) if text]
    words = [byte_bpe.split(text) for text in texts]
    if not path.exists():
        counts = collections.Counter(word for row in words for word in row)
        path.write_text(byte_bpe.to_json(byte_bpe.train(counts, arguments.tokens)))
    tokenizer = byte_bpe.Tokenizer(path)
    ids, lengths = encode_all(tokenizer, words)
    held_out = numpy.arange(len(texts)) % VALIDATION == 0
    numpy.savez(run / "reviews.npz", ids=ids, lengths=lengths, held_out=held_out)
    size = sum(len(text.encode()) for text in texts)
    print(json.dumps({"reviews": len(texts), "bytes": size, "tokens": int(len(ids)),
                      "bytes_per_token": round(size / len(ids), 3)}))
