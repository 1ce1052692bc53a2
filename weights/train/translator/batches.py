"""Batches of pairs whose sources have one length; targets of nearly one length are padded at their end."""
import numpy
import torch

from common.runs import equal_runs
from translator.model import PAD, START


class Pairs:
    """Some corpora of what prepare.py wrote."""

    def __init__(self, path, names):
        stored = numpy.load(path)
        self.ids, self.starts, self.lengths = {}, {}, {}
        for side in ("source", "target"):
            self.ids[side] = numpy.concatenate([stored[f"{name}.{side}"] for name in names])
            lengths = [numpy.diff(stored[f"{name}.{side}_ends"], prepend=0) for name in names]
            self.lengths[side] = numpy.concatenate(lengths)
            self.starts[side] = numpy.cumsum(self.lengths[side]) - self.lengths[side]
        self.corpora = numpy.repeat(numpy.arange(len(names)), [len(row) for row in lengths])

    def __len__(self):
        return len(self.corpora)

    def padded(self, side, chosen):
        """ids [B, longest], PAD past each row's end."""
        lengths = self.lengths[side][chosen]
        places = numpy.arange(lengths.max())
        inside = places < lengths[:, None]
        rows = numpy.where(inside, self.ids[side][numpy.where(inside, self.starts[side][chosen][:, None] + places, 0)],
                           PAD)
        return torch.from_numpy(rows.astype(numpy.int64))


def cut(pairs, chosen):
    """(source [B, S], target as fed [B, T], target as wanted [B, T])"""
    wanted = pairs.padded("target", chosen)
    fed = torch.cat([torch.full((len(chosen), 1), START), wanted[:, :-1]], dim=1)
    return pairs.padded("source", chosen), fed, wanted


def in_order(pairs, order, tokens):
    """Lists of pair numbers: one source length each, at most `tokens` padded tokens a side."""
    sources, targets = pairs.lengths["source"][order], pairs.lengths["target"][order]
    order = order[numpy.lexsort((targets, sources))]
    sources, targets = pairs.lengths["source"][order], pairs.lengths["target"][order]
    for begin, end in equal_runs(sources):
        while begin < end:
            counts = numpy.arange(1, end - begin + 1)
            size = numpy.maximum(sources[begin], targets[begin:end]) * counts
            step = max(1, int((size <= tokens).sum()))
            yield order[begin:begin + step]
            begin += step


def training_batches(pairs, repeats, tokens, rank, world, seed):
    """Yields cut() for ever; this process's share. repeats: how often each corpus counts in a round."""
    generator = numpy.random.RandomState(seed)
    while True:
        chance = numpy.array(repeats)[pairs.corpora]
        order = numpy.flatnonzero(generator.rand(len(pairs)) < chance)
        generator.shuffle(order)
        batches = list(in_order(pairs, order, tokens))
        for number in generator.permutation(len(batches)):
            if number % world == rank:
                yield cut(pairs, batches[number])
