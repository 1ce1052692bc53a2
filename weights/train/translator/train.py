"""Trains a translator, with label smoothing, warm-up and a moving average of the weights.

    python3 -m translator train --pairs RUN/pairs.npz --run RUN --minutes 120 --processes 2

Each report is a line of RUN/log.jsonl. RUN/checkpoint.pt holds the state: the same command again resumes from it. On a
GPU, leave --processes at 1 and raise --tokens.
"""
from pathlib import Path

import numpy
import sentencepiece
import torch

from common.muon import Muon, layer_matrices
from common.trainer import Trainer, add_run_arguments, launch
from translator import bleu, corpora
from translator.batches import Pairs, cut, in_order, training_batches
from translator.model import CONFIG, PAD, Translator

SMOOTHING = 0.1
VALIDATION_PAIRS = 100  # pairs of each corpus that are translated at a check


def candidates(wanted, vocabulary, negatives):
    """Returns (pieces [C], number of vocabulary pieces that each represents [C]): all wanted pieces, and `negatives`
    others.
    """
    present = torch.zeros(vocabulary, dtype=torch.bool, device=wanted.device)
    present[wanted] = True
    positive, rest = present.nonzero()[:, 0], (~present).nonzero()[:, 0]
    chosen = rest[torch.randperm(len(rest), device=wanted.device)[:negatives]]
    stands_for = torch.ones(len(positive) + len(chosen), device=wanted.device)
    stands_for[len(positive):] = len(rest) / max(1, len(chosen))
    return torch.cat([positive, chosen]), stands_for


def loss_of(model, source, fed, wanted, compute, negatives=None):
    """Returns (mean cross-entropy per target token with smoothed labels, without them, number of target tokens).

    With `negatives`, the sums over the vocabulary are estimated from the batch's own pieces and that many others (Jean
    et al. 2015). The remaining pieces take a third of a step's time on a CPU.
    """
    hidden = model.decode(fed, model.encode(source, compute))
    real = wanted.reshape(-1) != PAD
    hidden, wanted = hidden.reshape(-1, hidden.shape[-1])[real], wanted.reshape(-1)[real]
    vocabulary = model.lm_head.bias.numel()
    if negatives is None:
        logits = model.project(hidden).float()
        log_sum, mean = logits.logsumexp(1), logits.mean(1)
    else:
        pieces, stands_for = candidates(wanted, vocabulary, negatives)
        logits = model.project(hidden, pieces).float()
        log_sum, mean = (logits + stands_for.log()).logsumexp(1), logits @ (stands_for / vocabulary)
        place = torch.zeros(vocabulary, dtype=torch.long, device=wanted.device)
        place[pieces] = torch.arange(len(pieces), device=wanted.device)
        wanted = place[wanted]
    plain = (log_sum - logits.gather(1, wanted[:, None])[:, 0]).mean()
    return (1 - SMOOTHING) * plain + SMOOTHING * (log_sum - mean).mean(), plain.detach(), len(logits)


def pieces_of(path):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [processor.id_to_piece(number) for number in range(len(processor))]


def adopted(own, weights, theirs, ours):
    """Converts `weights` from a vocabulary with the pieces `theirs` to one with `ours`. New pieces keep their rows of
    `own`.
    """
    place = {piece: number for number, piece in enumerate(theirs)}
    shared = [(number, place[piece]) for number, piece in enumerate(ours) if piece in place]
    to, of = (torch.tensor(numbers) for numbers in zip(*shared))
    rows = {name: own[name].clone() for name in ("embed_tokens.weight", "lm_head.bias")}
    for name, values in rows.items():
        values[to] = weights[name][of]
    print(f"{len(shared)} of {len(ours)} pieces are known")
    return {**weights, **rows}


class TranslationTrainer(Trainer):
    EMA = 0.999

    def make_model(self):
        config = {**CONFIG, "target_language": self.options.languages.split("-")[1]}
        return Translator(config, self.options.dropout), config

    def start_from(self, weights):
        """Copies the weights. With --init-tokenizer, copies only the rows of pieces that both vocabularies have."""
        if self.options.init_tokenizer:
            weights = adopted(self.model.state_dict(), weights, pieces_of(self.options.init_tokenizer),
                              pieces_of(Path(self.options.pairs).with_name("tokenizer.model")))
        self.model.load_state_dict(weights)

    def make_optimizer(self):
        if self.options.optimizer == "adam":
            return torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        return Muon(*layer_matrices(self.model))

    def make_step(self):
        names = corpora.training_corpora_in(self.options.pairs)
        repeats = {**corpora.CORPORA, **dict(self.options.repeats)}
        source = training_batches(Pairs(self.options.pairs, names), [repeats[name] for name in names],
                                  self.options.tokens, self.rank, self.world,
                                  seed=self.options.seed + self.step + 1)

        def add_gradients():
            loss, plain, tokens = loss_of(self.model, *(part.to(self.device) for part in next(source)), self.compute,
                                          self.options.negatives)
            loss.backward()
            return [float(loss), float(plain)], tokens

        return add_gradients

    def rate(self, progress):
        """Returns a linear warm-up over the first steps, then a straight line to --last-lr of the peak."""
        warmup = min(1.0, self.step / self.options.warmup)
        return self.options.lr * warmup * (1 + (self.options.last_lr - 1) * progress)

    @torch.no_grad()
    def validate(self):
        """Measures cross-entropy and greedy BLEU of the moving average on the first pairs of each validation file."""
        self.average.swap()
        self.model.drop.share, share = 0.0, self.model.drop.share
        processor = sentencepiece.SentencePieceProcessor(model_file=str(
            Path(self.options.pairs).with_name("tokenizer.model")))
        scores = {}
        for name in corpora.VALIDATION:
            pairs = Pairs(self.options.pairs, [f"valid_{name}"])
            chosen = numpy.arange(min(len(pairs), VALIDATION_PAIRS))
            losses, hypotheses, references = [], [], []
            for batch in in_order(pairs, chosen, 2048):
                source, fed, wanted = (part.to(self.device) for part in cut(pairs, batch))
                _, plain, count = loss_of(self.model, source, fed, wanted, self.compute)
                losses.append((float(plain) * count, count))
                hypotheses += processor.decode(self.model.greedy(source, source.shape[1] * 2 + 10, self.compute))
                references += processor.decode([[i for i in row if i != PAD] for row in wanted.tolist()])
            scores[f"{name}_loss"] = round(sum(l for l, _ in losses) / sum(n for _, n in losses), 3)
            scores[f"{name}_bleu"] = round(bleu.corpus_bleu(hypotheses, [[r] for r in references]), 1)
        self.average.swap()
        self.model.drop.share = share
        self.log(scores)
        return scores

    def report(self, losses, steps, tokens, progress):
        self.log({"loss": round(float(losses[0]), 4), "plain": round(float(losses[1]), 4),
                  "lr": round(self.rate(progress), 6), "tokens_per_second": round(tokens)})
        self.show(progress, f"{tokens:.0f} tokens/s loss {losses[0]:.3f} plain {losses[1]:.3f}")


def repeat(text):
    name, _, count = text.partition("=")
    return name, float(count)


def add_arguments(parser):
    parser.add_argument("--pairs", required=True, help="pairs.npz of the command prepare, with tokenizer.model in its folder")
    parser.add_argument("--languages", default="en-de")
    parser.add_argument("--init-tokenizer", help="tokenizer.model of --init, if it was trained on other languages")
    parser.add_argument("--repeats", type=repeat, nargs="*", default=[], metavar="CORPUS=N",
                        help="how often a corpus counts in a round, instead of the number in corpora.py")
    parser.add_argument("--lr", type=float, default=1.5e-3, help="peak learning rate")
    parser.add_argument("--last-lr", type=float, default=0.1, help="last learning rate, as a share of the peak")
    parser.add_argument("--warmup", type=int, default=500, help="steps to the peak learning rate")
    parser.add_argument("--optimizer", choices=["adam", "muon"], default="adam")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0, help="use another one for a run that continues from the weights "
                        "of a run; otherwise it begins with the same pairs")
    parser.add_argument("--negatives", type=int, help="number of pieces that represent those which a batch lacks; default all")
    parser.add_argument("--tokens", type=int, default=2048, help="per side of a batch and process")
    add_run_arguments(parser, check_minutes=10, port=29512)


def main(options):
    launch(TranslationTrainer, options)
