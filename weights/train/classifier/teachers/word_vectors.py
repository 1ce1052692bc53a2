"""Trains skip-gram word vectors (gensim) on the training texts, for the teachers of sentences and reviews.

    python3 -m classifier word-vectors --data DIR --out vectors.npz
"""
import tempfile

import numpy

from classifier import prepare
from classifier.teachers import ngrams

GROUPS = ["films", "films_unlabeled", "products", "products_unlabeled", "sentences"]
RUN = 2000  # words per line: gensim reads at most 10,000


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", default="vectors.npz")


def main(arguments):
    from gensim.models import Word2Vec  # imported here so that the tests run without it

    groups = prepare.read_groups(arguments.data)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as corpus:
        for name in GROUPS:
            for text in groups[name][1]:
                words = ngrams.words(text)
                for begin in range(0, len(words), RUN):
                    corpus.write(" ".join(words[begin:begin + RUN]) + "\n")
        corpus.flush()
        model = Word2Vec(corpus_file=corpus.name, vector_size=200, window=5, min_count=4, sg=1, sample=1e-4, epochs=4,
                         workers=1, seed=1)
    numpy.savez(arguments.out, words=numpy.array(model.wv.index_to_key), vectors=model.wv.vectors)
