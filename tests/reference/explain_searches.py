"""Explanations that run a model many times: words left out, cut edges, the search for a circuit. Each run is complete.

A run is `subject(text, ...)` of explain_subjects.py; y is its logits times `of_y`. Ties, and values too close to a
threshold to be certain in float32, are refused. Then another text or another threshold must be chosen.
"""

import torch

MOST_POINTS, QUANTILES = 40, 20
SHARES = (5, 10, 20, 50)
MOST_TRIES = 64


# Words left out: Samek et al. 2017; Petsiuk et al. 2018; DeYoung et al. 2020.

def points(words):
    """Returns the number of words that are left out, or kept, at each point of a curve."""
    if words <= MOST_POINTS:
        return list(range(1, words))
    return [int(q * words / (QUANTILES + 1) + 0.5) for q in range(1, QUANTILES + 1)]


class Words:
    """The answers of a model without some words: no token reads the tokens of these words, and they are not pooled."""

    def __init__(self, subject, text, words, of_y, probability):
        self.run = lambda gone: subject(text, without=lambda layer: gone)
        self.words, self.of_y, self.probability = words, of_y, probability
        self.known = {}

    def without(self, removed):
        """Returns (y, the probability of the label) without the words in `removed`."""
        key = frozenset(removed)
        if key not in self.known:
            logits = self.run([token for word in key for token in self.words[word]])
            label = int(self.of_y.argmax())
            of_label = {"softmax": torch.softmax(logits, 0), "sigmoid": torch.sigmoid(logits)}[self.probability][label]
            self.known[key] = ((self.of_y @ logits).item(), of_label.item())
        return self.known[key]

    def order(self, scores):
        """Returns the words by falling score; equal scores keep their order. Scores that are nearly equal are refused."""
        ranked = sorted(scores, reverse=True)
        assert all(a == b or a - b > 1e-5 for a, b in zip(ranked, ranked[1:])), "scores are too close"
        return sorted(range(len(scores)), key=lambda word: (-scores[word], word))

    def curves(self, order):
        """Returns (deletion, insertion, mean of insertion minus mean of deletion)."""
        every = range(len(order))
        counts = points(len(order))
        deletion = [self.without(order[:k])[0] for k in counts]
        insertion = [self.without(set(every) - set(order[:k]))[0] for k in counts]
        return deletion, insertion, (sum(insertion) - sum(deletion)) / len(counts)

    def test(self, order):
        deletion, insertion, score = self.curves(order)
        counts = [max(1, int(len(order) * share / 100 + 0.5)) for share in SHARES]
        full = self.without([])[1]
        rest = lambda k: set(range(len(order))) - set(order[:k])
        return {
            "deletion": deletion, "insertion": insertion, "score": [score],
            "comprehensiveness": [full - self.without(order[:k])[1] for k in counts],
            "sufficiency": [full - self.without(rest(k))[1] for k in counts],
        }


def random_orders(words, orders, seed):
    """Yields random orders: the Fisher-Yates shuffle with SplitMix64 (Steele et al. 2014)."""
    mask, state = (1 << 64) - 1, seed

    def draw():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    for _ in range(orders):
        order = list(range(words))
        for k in range(words, 1, -1):
            other = draw() % k
            order[k - 1], order[other] = order[other], order[k - 1]
        yield order


def faithfulness(subject, text, plan, of_y):
    """Returns {name: tensor}. plan: words, scores (of tokens), probability, orders, seed."""
    words = Words(subject, text, plan["words"], of_y, plan["probability"])
    full = words.without([])[0]
    losses = [full - words.without([word])[0] for word in range(len(plan["words"]))]
    tests = {
        "order": words.test(words.order([sum(plan["scores"][token] for token in word) for word in plan["words"]])),
        "leave_one_out": words.test(words.order(losses)),
    }
    random = [words.curves(order)[2] for order in random_orders(len(losses), plan["orders"], plan["seed"])]
    tensors = {f"{name}.{curve}": torch.tensor(values) for name, test in tests.items() for curve, values in test.items()}
    return tensors | {"losses": torch.tensor(losses), "random": torch.tensor(random)}


# Cut edges: Geva et al. 2023.

def run_without(subject, text, edges, cut):
    """Returns the logits without these edges (layer, head, query, key): with scores of -inf, or weights of 0."""
    none = float("-inf") if cut == "scores" else 0.0

    def see(name, x):
        for layer, head, query, key in edges:
            if name == f"encoder.layers.{layer}.self_attn.{cut}":
                x = x.clone()
                x[head, query, key] = none
        return x

    return subject(text, see)


def cut_edges(subject, text, edges, of_y):
    """Returns {cut: [the fall of y without each edge by itself, then y without all of them]}."""
    full = of_y @ subject(text)
    return {
        cut: torch.stack([full - of_y @ run_without(subject, text, [edge], cut) for edge in edges]
                         + [of_y @ run_without(subject, text, edges, cut)])
        for cut in ("scores", "weights")
    }


# A circuit: the greedy search of Conmy et al. 2023.

class Circuit:
    """A few heads and edges that keep the label and at least the share `least` of y, if the weights of all others are
    0.
    """

    def __init__(self, subject, text, norms, of_y, least):
        self.subject, self.text, self.norms, self.of_y, self.least = subject, text, norms, of_y, least
        self.kept = torch.ones_like(norms)  # [L, H, T, T]
        self.full = of_y @ subject(text)
        self.label = int(of_y.argmax())
        self.value = self.full

    def logits(self, kept):
        def see(name, x):
            if name.endswith(".self_attn.weights"):
                x = x * kept[int(name.split(".")[2])]
            return x

        return self.subject(self.text, see)

    def try_keep(self, kept):
        logits = self.logits(kept)
        value = self.of_y @ logits
        others = torch.cat([logits[: self.label], logits[self.label + 1 :]])
        assert (logits[self.label] - others.max()).abs() > 1e-3, "two labels are too close"
        assert (value / self.full - self.least).abs() > 1e-4, "a try is too close to the threshold"
        if logits.argmax() != self.label or value / self.full < self.least:
            return False
        self.kept, self.value = kept, value
        return True

    def search(self):
        kept_heads = []
        for layer, head in self.heads():
            without = self.kept.clone()
            without[layer, head] = 0
            if not self.try_keep(without):
                kept_heads.append((layer, head))
        # In the heads that stay, the edges that move least are removed first: as many at once as bisection finds.
        arrows = [(layer, head, query, key) for layer, head in kept_heads
                  for query in range(len(self.text)) for key in range(len(self.text))]
        # Sorting is stable: equal edges stay in the order in which their heads were tried.
        arrows.sort(key=lambda arrow: self.norms[arrow].item())
        low, high = 0, len(arrows)
        while low < high:
            middle = low + (high - low + 1) // 2
            low, high = (middle, high) if self.try_keep(self.cut(arrows, 0, middle)) else (low, middle - 1)
        rest = arrows[low:]
        size = -(-len(rest) // MOST_TRIES)
        for first in range(0, len(rest), size or 1):
            self.try_keep(self.cut(rest, first, min(first + size, len(rest))))
        return self

    def heads(self):
        """Returns the heads by rising loss of y without each."""
        losses = {}
        for layer in range(self.norms.shape[0]):
            for head in range(self.norms.shape[1]):
                without = torch.ones_like(self.norms)
                without[layer, head] = 0
                losses[layer, head] = (self.full - self.of_y @ self.logits(without)).item()
        ranked = sorted(losses.values())
        assert all(b - a > 1e-4 for a, b in zip(ranked, ranked[1:])), "two heads are too close"
        return sorted(losses, key=losses.get)

    def cut(self, arrows, first, end):
        for at in (first, end):
            if 0 < at < len(arrows):
                before, after = (self.norms[arrows[i]].item() for i in (at - 1, at))
                assert after - before > 2e-6, "two edges are too close"
        kept = self.kept.clone()
        for arrow in arrows[first:end]:
            kept[arrow] = 0
        return kept

    def numbers(self):
        """Returns y with everything, with only the circuit, without any edge, and the second as a share of the first."""
        nothing = self.of_y @ self.logits(torch.zeros_like(self.norms))
        return torch.stack([self.full, self.value, nothing, self.value / self.full])
