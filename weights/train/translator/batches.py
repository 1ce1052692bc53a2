"""Batches of pairs whose sources have equal lengths. Their targets have similar lengths and are padded at the end."""
import numpy
import torch

from common.runs import equal_runs
from translator.model import PAD, START


class Pairs:
    """Some corpora from the file of prepare.py."""

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
        """Returns ids [B, longest] with PAD after the end of each row."""
        lengths = self.lengths[side][chosen]
        places = numpy.arange(lengths.max())
        inside = places < lengths[:, None]
        rows = numpy.where(inside, self.ids[side][numpy.where(inside, self.starts[side][chosen][:, None] + places, 0)],
                           PAD)
        return torch.from_numpy(rows.astype(numpy.int64))


def cut(pairs, chosen):
    """Returns (source [B, S], target that the decoder reads [B, T], target that it must predict [B, T])."""
    wanted = pairs.padded("target", chosen)
    fed = torch.cat([torch.full((len(chosen), 1), START), wanted[:, :-1]], dim=1)
    return pairs.padded("source", chosen), fed, wanted


def in_order(pairs, order, tokens):
    """Yields arrays of pair numbers: equal source lengths, at most `tokens` padded tokens per side."""
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
    """Yields the batches of this process without end. repeats: how often each corpus counts in a round."""
    generator = numpy.random.RandomState(seed)
    while True:
        chance = numpy.array(repeats)[pairs.corpora]
        order = numpy.flatnonzero(generator.rand(len(pairs)) < chance)
        generator.shuffle(order)
        batches = list(in_order(pairs, order, tokens))
        for number in generator.permutation(len(batches)):
            if number % world == rank:
                yield cut(pairs, batches[number])
