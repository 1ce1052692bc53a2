"""Interpolated modified Kneser-Ney 5-grams (Chen and Goodman 1999), with which the writer is compared. Token ids are
below 4,096, so that five of them make one 64-bit key.
"""
import numpy

ORDER = 5
BITS = 12


def grams_of(texts, end):
    """Returns the key of every token of [ids], and of the end token after each text. A key holds a token and the four
    tokens before it; end tokens stand before a text.
    """
    lengths = numpy.array([len(text) + ORDER for text in texts])
    stream = numpy.full(lengths.sum(), end, numpy.int64)
    predicted = numpy.zeros(len(stream), bool)
    for text, start in zip(texts, numpy.cumsum(lengths) - lengths):
        stream[start + ORDER - 1:start + ORDER - 1 + len(text)] = text
        predicted[start + ORDER - 1:start + ORDER + len(text)] = True
    keys = numpy.zeros_like(stream)
    for back in range(ORDER):
        keys[ORDER - 1:] |= stream[ORDER - 1 - back:len(stream) - back] << (BITS * back)
    return keys[predicted]


def discounts_of(counts):
    """Returns the discounts of a count of 0, 1, 2, and 3 or more."""
    n1, n2, n3, n4 = (max(1, int((counts == n).sum())) for n in (1, 2, 3, 4))
    y = n1 / (n1 + 2 * n2)
    return numpy.array([0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3])


class Order:
    """The n-grams of one length: the discounted shares of those seen, and the share of each context left for all
    others.
    """

    def __init__(self, keys, counts):
        taken = discounts_of(counts)[numpy.minimum(counts, 3)]
        contexts = keys >> BITS
        firsts = numpy.flatnonzero(numpy.diff(contexts, prepend=-1))
        totals = numpy.add.reduceat(counts, firsts)
        self.keys, self.contexts = keys, contexts[firsts]
        sizes = numpy.diff(firsts, append=len(keys))
        self.shares = ((counts - taken) / numpy.repeat(totals, sizes)).astype(numpy.float32)
        self.left = (numpy.add.reduceat(taken, firsts) / totals).astype(numpy.float32)

    def interpolated(self, keys, lower):
        """Returns the probabilities [N] of the keys' last tokens. lower: the probabilities in the shorter context [N]."""
        left, known = found(self.contexts, self.left, keys >> BITS)
        shares, seen = found(self.keys, self.shares, keys)
        return numpy.where(seen, shares, 0.0) + numpy.where(known, left, 1.0) * lower


def found(keys, values, wanted):
    """Returns (the values of the wanted keys, which of them exist). keys must be sorted."""
    places = numpy.minimum(numpy.searchsorted(keys, wanted), len(keys) - 1)
    return values[places], keys[places] == wanted


class KneserNey:
    def __init__(self, grams, vocabulary):
        """grams: keys from grams_of(). They are sorted in place."""
        if vocabulary > 1 << BITS:
            raise ValueError(f"the vocabulary has {vocabulary} tokens, a key holds {1 << BITS}")
        self.vocabulary = vocabulary
        grams.sort()
        keys, counts = counted(grams)
        self.orders = [Order(keys, counts)]
        for length in range(ORDER - 1, 0, -1):  # the count of a shorter gram: how many different tokens precede it
            shorter = keys & ((1 << (BITS * length)) - 1)
            shorter.sort()
            keys, counts = counted(shorter)
            self.orders.insert(0, Order(keys, counts))

    def probabilities(self, grams):
        p = numpy.full(len(grams), 1 / self.vocabulary)
        for length, order in enumerate(self.orders, 1):
            p = order.interpolated(grams & ((1 << (BITS * length)) - 1), p)
        return p


def counted(ordered):
    """Returns (the different keys, the count of each) of sorted keys."""
    firsts = numpy.flatnonzero(numpy.diff(ordered, prepend=-1))
    return ordered[firsts], numpy.diff(firsts, append=len(ordered))
