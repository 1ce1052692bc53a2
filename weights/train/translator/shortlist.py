"""Writes shortlist.bin: for each source piece, the target pieces that translate it most often.

    python3 -m translator shortlist --pairs RUN/pairs.npz --out ../en-de/shortlist.bin

The probabilities are those of IBM model 1 (Brown et al. 1993): expectation maximization finds which source piece each
target piece comes from. The file has Marian's format. The command prints the share of pieces in validation translations
that the shortlist covers, and the mean number of pieces that it offers.
"""
import json
import struct

import numpy

from translator import corpora
from translator.batches import Pairs

NULL = 0  # stands for "no source piece", which every target piece may come from; it is the id of padding
LONGEST = 30  # longer pairs are not used
ROUNDS = 5
MAGIC = 0xF11A48D5013417F5


class Model1:
    """P(target piece | source piece), learned from pairs."""

    def __init__(self, pairs, vocabulary):
        lengths = [pairs.lengths[side] for side in ("source", "target")]
        chosen = numpy.flatnonzero(numpy.maximum(*lengths) <= LONGEST)
        shapes = lengths[0][chosen] * (LONGEST + 1) + lengths[1][chosen]
        links = []  # per shape of pairs: the source pieces that each target piece may come from
        for shape in numpy.unique(shapes):
            alike = chosen[shapes == shape]
            source, target = (pairs.padded(side, alike).numpy()[:, :-1] for side in ("source", "target"))
            source = numpy.concatenate([numpy.full((len(source), 1), NULL), source], axis=1)
            every = source[:, None, :] * vocabulary + target[:, :, None]
            links.append(every.reshape(-1, every.shape[2]).astype(numpy.int32))
        self.vocabulary = vocabulary
        self.keys = numpy.unique(numpy.concatenate([numpy.unique(part) for part in links]))
        self.links = [numpy.searchsorted(self.keys, part).astype(numpy.int32) for part in links]
        self.probabilities = numpy.ones(len(self.keys), numpy.float32)

    def learn(self):
        counts = numpy.zeros(len(self.keys))
        for links in self.links:  # [target pieces, S]
            shares = self.probabilities[links]
            shares /= shares.sum(1, keepdims=True) + 1e-30
            counts += numpy.bincount(links.reshape(-1), shares.reshape(-1), len(self.keys))
        sums = numpy.bincount(self.keys // self.vocabulary, counts, self.vocabulary)
        self.probabilities = (counts / (sums[self.keys // self.vocabulary] + 1e-30)).astype(numpy.float32)

    def best(self, count, least, frequent):
        """Returns, for each source piece, its most probable target pieces without the first `frequent`, in ascending
        order.
        """
        order = numpy.flatnonzero((self.probabilities >= least) & (self.keys % self.vocabulary >= frequent))
        order = order[numpy.lexsort((-self.probabilities[order], self.keys[order] // self.vocabulary))]
        source = self.keys[order] // self.vocabulary
        edges = numpy.searchsorted(source, numpy.arange(self.vocabulary + 1))
        return [numpy.sort(self.keys[order[a:min(b, a + count)]] % self.vocabulary)
                for a, b in zip(edges[:-1], edges[1:])]


def candidates(source, lists, frequent):
    """Returns the target pieces to choose from: those of each source piece, the source pieces, and the most frequent
    ones.
    """
    return set(range(frequent)).union(source, *(lists[piece].tolist() for piece in source))


def checksum(data_bytes):
    """Returns Marian's checksum over 64-bit words. An incomplete last word is ignored."""
    seed, mask = 0, 2**64 - 1
    for word in numpy.frombuffer(data_bytes[:len(data_bytes) // 8 * 8], numpy.uint64).tolist():
        seed ^= (word + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & mask
    return seed


def file_of(lists, frequent, count):
    ends = numpy.cumsum([0, *map(len, lists)]).astype(numpy.uint64)
    body = struct.pack("<4Q", frequent, count, len(ends), int(ends[-1])) + ends.tobytes()
    body += numpy.concatenate(lists).astype(numpy.uint32).tobytes()
    return struct.pack("<2Q", MAGIC, checksum(body)) + body


def add_arguments(parser):
    parser.add_argument("--pairs", required=True, help="pairs.npz of the command prepare")
    parser.add_argument("--vocabulary", type=int, default=12000, help="size of the shared vocabulary")
    parser.add_argument("--frequent", type=int, default=1000, help="number of pieces that are always offered: the first ones")
    parser.add_argument("--count", type=int, default=50, help="most pieces per source piece")
    parser.add_argument("--least", type=float, default=0.0002, help="lowest probability of an offered piece")
    parser.add_argument("--out", required=True)


def main(arguments):
    model = Model1(Pairs(arguments.pairs, corpora.training_corpora_in(arguments.pairs)), arguments.vocabulary)
    for _ in range(ROUNDS):
        model.learn()
    lists = model.best(arguments.count, arguments.least, arguments.frequent)
    with open(arguments.out, "wb") as out:
        out.write(file_of(lists, arguments.frequent, arguments.count))
    print(json.dumps({"offered": sum(map(len, lists))}))
    for name in corpora.VALIDATION:
        pairs = Pairs(arguments.pairs, [f"valid_{name}"])
        found = total = offered = 0
        for number in range(len(pairs)):
            source, target = (pairs.padded(side, [number])[0].tolist() for side in ("source", "target"))
            among = candidates(source, lists, arguments.frequent)
            found += sum(piece in among for piece in target)
            total, offered = total + len(target), offered + len(among)
        print(json.dumps({"valid": name, "covered": round(found / total, 4), "offered": round(offered / len(pairs))}))
