"""Trains the teacher of sentences: a bidirectional GRU over word vectors.

    python3 -m classifier sentence-teacher --data DIR --vectors vectors.npz --out sentences.npz

It learns first from pieces of labeled reviews, each with its review's label, then from sentences and phrases, with one
copy of the model per fold. The file holds log-odds: out of fold for labeled sentences, the mean of copies for others.
"""
import copy
import json
import time

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from classifier import prepare
from classifier.teachers import ngrams
from common.runs import equal_runs

UNKNOWN = 0
PIECE = (20, 60)  # words of a piece of a review
PIECES = 120_000
RATE = 1e-3
EPOCHS = {"reviews": 1, "sentences": 2}
COPIES = 2  # copies that score unlabeled texts: each takes as long as its training
LONGEST = 60  # words of a sentence that are read


class Vocabulary:
    """The numbers and vectors of words; the unknown word has number 0."""

    def __init__(self, words, vectors):
        self.numbers = {word: number for number, word in enumerate(words, 1)}
        self.vectors = numpy.concatenate([numpy.zeros((1, vectors.shape[1])), vectors / vectors.std()]).astype(
            numpy.float32)

    @classmethod
    def load(cls, path):
        stored = numpy.load(path)
        return cls(stored["words"].tolist(), stored["vectors"])

    def encode(self, texts, limit=None):
        """Maps [text] to [ids], at least one id per text."""
        return [numpy.array([self.numbers.get(word, UNKNOWN) for word in ngrams.words(text)[:limit]] or [UNKNOWN],
                            numpy.int32) for text in texts]


class Reader(nn.Module):
    """Trained word vectors, a GRU in each direction, the maximum and mean of its states; with dropout everywhere."""
    DROPPED_WORDS, DROPPED_NUMBERS, DROPPED_STATES = 0.1, 0.3, 0.5

    def __init__(self, vectors, hidden=128):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(torch.from_numpy(vectors).clone(), freeze=False, sparse=True)
        self.gru = nn.GRU(vectors.shape[1], hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(4 * hidden, 1)

    def forward(self, ids):
        """Maps ids [B, n], without padding, to log-odds of "positive" [B]."""
        x = self.embed(ids)
        if self.training:
            x = x * (torch.rand(ids.shape) > self.DROPPED_WORDS)[:, :, None]
        states = self.gru(F.dropout(x, self.DROPPED_NUMBERS, self.training))[0]
        pooled = torch.cat([states.amax(1), states.mean(1)], dim=1)
        return self.head(F.dropout(pooled, self.DROPPED_STATES, self.training))[:, 0]


def equal_length_batches(texts, tokens, generator=None):
    """Returns arrays of numbers of texts with equal lengths, shuffled by `generator`."""
    lengths = numpy.array([len(text) for text in texts])
    order = numpy.arange(len(texts)) if generator is None else generator.permutation(len(texts))
    order = order[numpy.argsort(lengths[order], kind="stable")]
    batches = []
    for begin, end in equal_runs(lengths[order]):
        step = max(1, tokens // lengths[order[begin]])
        batches += [order[i:min(i + step, end)] for i in range(begin, end, step)]
    return batches if generator is None else [batches[i] for i in generator.permutation(len(batches))]


def stack(texts, batch):
    return torch.from_numpy(numpy.stack([texts[i] for i in batch]).astype(numpy.int64))


def fit(net, texts, targets, epochs, rate=RATE, seed=1, tokens=1024):
    """Trains on [ids] and probabilities. The learning rate falls to zero in a straight line."""
    generator = numpy.random.RandomState(seed)
    torch.manual_seed(seed)
    targets = torch.from_numpy(targets.astype(numpy.float32))
    others = [p for name, p in net.named_parameters() if not name.startswith("embed")]
    dense = torch.optim.Adam(others, betas=(0.9, 0.99))
    sparse = torch.optim.SparseAdam(list(net.embed.parameters()), betas=(0.9, 0.99))
    plan = [batch for _ in range(epochs) for batch in equal_length_batches(texts, tokens, generator)]
    net.train()
    for done, batch in enumerate(plan):
        for optimizer in (dense, sparse):
            optimizer.zero_grad()
            optimizer.param_groups[0]["lr"] = rate * (1 - done / len(plan)) * min(1.0, (done + 1) / 100)
        loss = F.binary_cross_entropy_with_logits(net(stack(texts, batch)), targets[batch])
        loss.backward()
        dense.step()
        sparse.step()
    return net.eval()


@torch.no_grad()
def score(net, texts, tokens=4096):
    scores = numpy.zeros(len(texts), numpy.float32)
    for batch in equal_length_batches(texts, tokens):
        scores[batch] = net(stack(texts, batch)).numpy()
    return scores


def pieces_of_reviews(groups, vocabulary):
    """Cuts labeled reviews into pieces. Returns ([ids], labels)."""
    generator = numpy.random.RandomState(1)
    found = []
    for domain in ("films", "products"):
        labels, texts = groups[domain]
        for label, ids in zip(labels, vocabulary.encode(texts)):
            place = 0
            while place < len(ids):
                length = generator.randint(*PIECE)
                if len(ids) - place > 5:
                    found.append((ids[place:place + length], label))
                place += length
    chosen = generator.permutation(len(found))[:PIECES]
    return [found[i][0] for i in chosen], numpy.array([found[i][1] for i in chosen])


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--vectors", required=True, help="file of the command word-vectors")
    parser.add_argument("--out", default="sentences.npz")


def main(arguments):
    torch.set_num_threads(1)
    began = time.time()

    def log(entry):
        print(json.dumps({**entry, "seconds": round(time.time() - began)}), flush=True)

    vocabulary = Vocabulary.load(arguments.vectors)
    groups = prepare.read_groups(arguments.data)
    texts, labels = pieces_of_reviews(groups, vocabulary)
    log({"pieces": len(texts), "words": sum(map(len, texts))})
    start = fit(Reader(vocabulary.vectors), texts, labels, EPOCHS["reviews"])
    ids = {name: vocabulary.encode(texts, LONGEST) for name, (_, texts) in groups.items()
           if name == "graded" or "sentences" in name}
    valid_labels = groups["valid_sentences"][0]

    def accuracy(scores, wanted):
        return round(float(((scores > 0) == wanted).mean()), 4)

    log({"reviews_alone": accuracy(score(start, ids["valid_sentences"]), valid_labels)})
    labels = numpy.concatenate([groups["sentences"][0], groups["graded"][0]])
    texts = ids["sentences"] + ids["graded"]
    folds = prepare.folds_of(groups["sentences"][1] + groups["graded"][1], groups["graded"][1])
    nets, own = [], numpy.zeros(len(texts), numpy.float32)
    for fold in range(ngrams.FOLDS):
        kept, left = numpy.flatnonzero(folds != fold), numpy.flatnonzero(folds == fold)
        nets.append(fit(copy.deepcopy(start), [texts[i] for i in kept], labels[kept], EPOCHS["sentences"], seed=fold))
        own[left] = score(nets[-1], [texts[i] for i in left])
        log({"fold": fold, "left_out": accuracy(own[left], labels[left] > 0.5),
             "valid": accuracy(score(nets[-1], ids["valid_sentences"]), valid_labels)})
    scores = {"sentences": own[:len(ids["sentences"])],
              "valid_sentences": numpy.mean([score(net, ids["valid_sentences"]) for net in nets], axis=0)}
    log({"valid": accuracy(scores["valid_sentences"], valid_labels)})
    for name in ("sentences_unlabeled", "sentences_varied"):
        scores[name] = numpy.mean([score(net, ids[name]) for net in nets[:COPIES]], axis=0)
        log({"read": name})
    numpy.savez(arguments.out, **scores)
