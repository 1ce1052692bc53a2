"""Skip-gram word vectors (gensim) of the training texts, for sentence_teacher.py.

    python3 word_vectors.py --data DIR --out vectors.npz
"""
import argparse
import tempfile

import numpy

import prepare
import teacher

GROUPS = ["films", "films_unlabeled", "products", "products_unlabeled", "sentences"]
RUN = 2000  # words a line: gensim reads no more than 10,000


def main():
    from gensim.models import Word2Vec  # not needed by the tests, which import the other modules
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", default="vectors.npz")
    arguments = parser.parse_args()
    groups = prepare.read_groups(arguments.data)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as corpus:
        for name in GROUPS:
            for text in groups[name][1]:
                words = teacher.words(text)
                for begin in range(0, len(words), RUN):
                    corpus.write(" ".join(words[begin:begin + RUN]) + "\n")
        corpus.flush()
        model = Word2Vec(corpus_file=corpus.name, vector_size=200, window=5, min_count=4, sg=1, sample=1e-4, epochs=4,
                         workers=1, seed=1)
    numpy.savez(arguments.out, words=numpy.array(model.wv.index_to_key), vectors=model.wv.vectors)


if __name__ == "__main__":
    main()
