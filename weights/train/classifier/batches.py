"""Batches of texts with equal lengths, without padding and mask. Lengths of 32 and more are cut to multiples of 16."""
import numpy
import torch

from common.runs import equal_runs

MASK = 4  # the id of [MASK]
UNMASKABLE = 5  # ids below this one are special
CLIP_HEAD = 4  # of a text over the limit, a quarter of the limit is its beginning and the rest is its end


class Items:
    """The file of prepare.py: the ids of some groups, and each text's start, length, targets [texts, C] and group."""

    def __init__(self, path, groups):
        stored = numpy.load(path)
        self.ids = numpy.concatenate([stored[f"{name}.ids"] for name in groups])
        lengths, targets, owners = [], [], []
        for number, name in enumerate(groups):
            lengths.append(numpy.diff(stored[f"{name}.ends"], prepend=0))
            targets.append(stored[f"{name}.targets"])
            owners.append(numpy.full(len(lengths[-1]), number))
        self.lengths = numpy.concatenate(lengths)
        self.starts = numpy.cumsum(self.lengths) - self.lengths
        self.targets = numpy.concatenate(targets)
        self.groups = numpy.concatenate(owners)


def bucket(lengths, limit):
    """Returns the lengths that texts of these lengths are cut to."""
    lengths = numpy.minimum(lengths, limit)
    return numpy.where(lengths >= 32, lengths // 16 * 16, lengths)


def training_batches(items, repeats, limit, tokens, drop, rank, world, seed):
    """Yields (ids [B, n], targets [B, C]) without end: the batches of this process.

    repeats: how often the texts of each group come in one round (0.5: every other text).
    drop: the share of tokens that are left out at random.
    A text over the limit contributes its beginning and end, as in inference, or in one case of four only its beginning.
    """
    generator = numpy.random.RandomState(seed)
    while True:
        rounds = numpy.floor(numpy.array(repeats)[items.groups] + generator.rand(len(items.groups)))
        order = numpy.repeat(numpy.arange(len(items.groups)), rounds.astype(int))
        order = order[items.lengths[order] > 0]
        generator.shuffle(order)
        sizes = bucket(items.lengths[order], limit)
        by_size = numpy.argsort(sizes, kind="stable")
        order, sizes = order[by_size], sizes[by_size]
        batches = []
        for begin, end in equal_runs(sizes):
            step = max(1, tokens // sizes[begin])
            batches += [(order[i:min(i + step, end)], sizes[begin]) for i in range(begin, end, step)]
        for number in generator.permutation(len(batches)):
            seed_of_batch = generator.randint(2**31)
            if number % world == rank:
                yield cut(items, *batches[number], drop, numpy.random.RandomState(seed_of_batch))


def cut(items, texts, size, drop, generator):
    places = numpy.tile(numpy.arange(size), (len(texts), 1))
    kept = max(1, int(round(size * (1 - drop))))
    if kept < size:
        places = numpy.sort(numpy.argsort(generator.rand(*places.shape), axis=1)[:, :kept], axis=1)
    spare = items.lengths[texts] - size
    from_end = generator.rand(len(texts)) < 0.75
    skip = (places >= size // CLIP_HEAD) * (spare * from_end)[:, None]
    ids = items.ids[items.starts[texts][:, None] + places + skip]
    return torch.from_numpy(ids.astype(numpy.int64)), torch.from_numpy(items.targets[texts])


def mask_tokens(ids, share, vocabulary):
    """Masks a share of the ids. Returns (ids, places [M] of the masked ids in the flattened ids, true ids [M])."""
    chosen = (torch.rand(ids.shape, device=ids.device) < share) & (ids >= UNMASKABLE)
    places = chosen.view(-1).nonzero()[:, 0]
    truth = ids.reshape(-1)[places]
    other = torch.randint_like(truth, UNMASKABLE, vocabulary)
    other[torch.rand(len(truth), device=ids.device) < 0.9] = MASK
    masked = ids.reshape(-1).clone()
    masked[places] = other
    return masked.view_as(ids), places, truth


def inference_batches(items, limit, tokens):
    """Yields (text numbers, ids [B, n]): whole texts, or the beginning and end of texts over the limit."""
    lengths = numpy.minimum(items.lengths, limit)
    order = numpy.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    for begin, end in equal_runs(lengths[order]):
        size = lengths[order[begin]]
        step = max(1, tokens // size)
        for i in range(begin, end, step):
            texts = order[i:min(i + step, end)]
            places = numpy.arange(size)
            skip = (places >= size // CLIP_HEAD) * (items.lengths[texts] - size)[:, None]
            ids = items.ids[items.starts[texts][:, None] + places + skip]
            yield texts, torch.from_numpy(ids.astype(numpy.int64))
