"""Rows of whole reviews for the writer. Each review begins with the end token, from which its first token is predicted,
and ends with the prediction of the next review's end token.
"""
import numpy
import torch


class Reviews:
    """The reviews of prepare.py, held out or not, as one stream [end] review [end] review ... [end]."""

    def __init__(self, path, end, held_out):
        file = numpy.load(path)
        ids, lengths, chosen = file["ids"], file["lengths"], file["held_out"] == held_out
        kept = numpy.repeat(chosen, lengths)
        self.lengths = lengths[chosen] + 1
        self.starts = numpy.cumsum(self.lengths) - self.lengths
        self.stream = numpy.full(self.lengths.sum() + 1, end, numpy.int64)
        places = numpy.ones(len(self.stream), bool)
        places[self.starts] = places[-1] = False
        self.stream[places] = ids[kept]


def cut_pieces(reviews, length):
    """Cuts each review into pieces of `length` tokens and a rest. Returns (first places, lengths)."""
    counts = -(-reviews.lengths // length)
    order = numpy.arange(counts.sum()) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    firsts = numpy.repeat(reviews.starts, counts) + order * length
    ends = numpy.repeat(reviews.starts + reviews.lengths, counts)
    return firsts, numpy.minimum(ends - firsts, length)


def pack(lengths, length, generator):
    """Packs pieces into rows of at most `length` tokens: the longest first, each where it leaves the least space."""
    shuffled = generator.permutation(len(lengths))
    rows, with_space = [], [[] for _ in range(length + 1)]
    for piece in shuffled[numpy.argsort(-lengths[shuffled], kind="stable")]:
        size = lengths[piece]
        space = next((space for space in range(size, length) if with_space[space]), length)
        row = with_space[space].pop() if with_space[space] else len(rows)
        if row == len(rows):
            rows.append([])
        rows[row].append(piece)
        with_space[space - size].append(row)
    return rows


def epoch(reviews, length, generator):
    """Yields rows [length] of places in the stream, with every token once. The beginning of a review fills up each row."""
    firsts, lengths = cut_pieces(reviews, length)
    rows = pack(lengths, length, generator)
    generator.shuffle(rows)
    for row in rows:
        places = [firsts[piece] + numpy.arange(lengths[piece]) for piece in generator.permutation(row)]
        missing = length - sum(map(len, places))
        filler = generator.choice(reviews.starts[:max(1, len(reviews.starts) - length)])
        yield numpy.concatenate(places + [(filler + numpy.arange(missing)) % (len(reviews.stream) - 1)])


def training_batches(reviews, length, rows, seed):
    """Yields (ids, targets), each [rows, length], without end. The order depends only on the seed."""
    generator = numpy.random.RandomState(seed)
    batch = []
    while True:
        for places in epoch(reviews, length, generator):
            batch.append(places)
            if len(batch) == rows:
                places, batch = numpy.stack(batch), []
                yield torch.from_numpy(reviews.stream[places]), torch.from_numpy(reviews.stream[places + 1])
