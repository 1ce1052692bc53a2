"""Trains the translator: label smoothing, warm-up, moving average of the weights.

    python3 translation_train.py --pairs RUN/pairs.npz --run RUN --minutes 120 --processes 2

RUN/log.jsonl gets a line per report, RUN/checkpoint.pt the state; the same command again resumes. On a GPU leave
--processes at 1 and raise --tokens.
"""
import argparse
import json
import os
import time
from pathlib import Path

import numpy
import sentencepiece
import torch
import torch.distributed
import torch.multiprocessing
from torch.nn import functional as F

import bleu
import translation_data as data
from train import Average, compute_type, read_weights
from translation_batches import Pairs, cut, in_order, training_batches
from translation_model import CONFIG, PAD, Translator

SMOOTHING = 0.1
EMA = 0.999
VALIDATION_PAIRS = 100  # of each corpus are translated at a check


def loss_of(model, source, fed, wanted, compute):
    """Mean cross-entropy a target token, with smoothed labels and without."""
    hidden = model.decode(fed, model.encode(source, compute))
    real = wanted.reshape(-1) != PAD
    logits = model.project(hidden.reshape(-1, hidden.shape[-1])[real]).float()
    log_probabilities = F.log_softmax(logits, dim=1)
    plain = F.nll_loss(log_probabilities, wanted.reshape(-1)[real])
    return (1 - SMOOTHING) * plain - SMOOTHING * log_probabilities.mean(), plain.detach(), len(logits)


class Trainer:
    def __init__(self, options, rank):
        self.options, self.rank, self.world = options, rank, options.processes
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.compute = compute_type(self.device)
        self.run = Path(options.run)
        self.run.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(1)
        self.config = {**CONFIG, "target_language": options.languages.split("-")[1]}
        self.model = Translator(self.config, options.dropout).to(self.device)
        if options.init:
            self.model.load_state_dict(read_weights(options.init))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        self.average = Average(self.model)
        self.step, self.tokens, self.elapsed = 0, 0, 0.0
        if (self.run / "checkpoint.pt").exists():
            self.load()
        torch.manual_seed(1000 * self.step + rank)

    def load(self):
        state = torch.load(self.run / "checkpoint.pt", map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average.values = [state["average"][name].to(self.device) for name, _ in self.model.named_parameters()]
        self.step, self.tokens, self.elapsed = state["step"], state["tokens"], state["elapsed"]

    def save(self):
        names = [name for name, _ in self.model.named_parameters()]
        torch.save(dict(model=self.model.state_dict(), optimizer=self.optimizer.state_dict(),
                        average=dict(zip(names, self.average.values)), step=self.step, tokens=self.tokens,
                        elapsed=self.elapsed, config=self.config), self.run / "checkpoint.tmp")
        os.replace(self.run / "checkpoint.tmp", self.run / "checkpoint.pt")

    def log(self, entry):
        line = json.dumps({"step": self.step, "tokens": self.tokens, "seconds": round(self.elapsed), **entry})
        with open(self.run / "log.jsonl", "a") as log:
            log.write(line + "\n")

    def share(self, progress):
        """Averages the gradients, and the progress, over the processes."""
        if self.world == 1:
            return progress
        gradients = [p.grad for p in self.model.parameters()]
        flat = torch.cat([g.reshape(-1) for g in gradients] + [torch.tensor([progress])])
        torch.distributed.all_reduce(flat)
        flat /= self.world
        for gradient, piece in zip(gradients, flat[:-1].split([g.numel() for g in gradients])):
            gradient.copy_(piece.view_as(gradient))
        return float(flat[-1])

    def rate(self, progress):
        """Linear warm-up over the first steps, then a straight line to --last-lr of the peak."""
        warmup = min(1.0, self.step / self.options.warmup)
        return self.options.lr * warmup * (1 + (self.options.last_lr - 1) * progress)

    @torch.no_grad()
    def validate(self):
        """Cross-entropy and greedy BLEU of the moving average on the first pairs of each validation file."""
        self.average.swap()
        self.model.drop.share, share = 0.0, self.model.drop.share
        processor = sentencepiece.SentencePieceProcessor(model_file=str(
            Path(self.options.pairs).with_name("tokenizer.model")))
        scores = {}
        for name in data.VALIDATION:
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

    def train(self):
        names = list(data.training_corpora_in(self.options.pairs))
        repeats = {**data.CORPORA, **dict(self.options.repeats)}
        source = training_batches(Pairs(self.options.pairs, names), [repeats[name] for name in names],
                                  self.options.tokens, self.rank, self.world, seed=self.step + 1)
        began, reported = time.time() - self.elapsed, time.time()
        sums, count, tokens = numpy.zeros(2), 0, self.tokens
        progress, next_check = 0.0, self.elapsed + self.options.check_minutes * 60
        while progress < 1.0:
            self.optimizer.zero_grad(set_to_none=False)
            loss, plain, size = loss_of(self.model, *(part.to(self.device) for part in next(source)), self.compute)
            loss.backward()
            self.tokens += size * self.world
            self.elapsed = time.time() - began
            progress = self.step / self.options.steps if self.options.steps else self.elapsed / (
                60 * self.options.minutes)
            progress = self.share(min(1.0, progress))
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate(progress)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.step += 1
            self.average.update(min(EMA, self.step / (self.step + 10)))
            sums, count = sums + [float(loss), float(plain)], count + 1
            if self.rank == 0 and (count == 50 or progress >= 1.0):
                self.report(sums / count, (self.tokens - tokens) / (time.time() - reported), progress)
                sums, count, tokens, reported = numpy.zeros(2), 0, self.tokens, time.time()
            if self.rank == 0 and (self.elapsed > next_check or progress >= 1.0):
                next_check = self.elapsed + self.options.check_minutes * 60
                self.save()
                print("\n", self.validate(), flush=True)

    def report(self, losses, speed, progress):
        self.log({"loss": round(float(losses[0]), 4), "plain": round(float(losses[1]), 4),
                  "lr": round(self.rate(progress), 6), "tokens_per_second": round(speed)})
        done = int(progress * 30)
        print(f"\r[{'#' * done}{'.' * (30 - done)}] {progress:5.1%} step {self.step} {speed:.0f} tokens/s "
              f"loss {losses[0]:.3f} plain {losses[1]:.3f}", end="", flush=True)


def worker(rank, options):
    if options.processes > 1:
        torch.set_num_threads(1)
        torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}", rank=rank,
                                             world_size=options.processes)
    Trainer(options, rank).train()


def repeat(text):
    name, _, count = text.partition("=")
    return name, float(count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", required=True, help="from translation_prepare.py, beside its tokenizer.model")
    parser.add_argument("--run", required=True, help="folder of log and checkpoint")
    parser.add_argument("--languages", default="en-de")
    parser.add_argument("--init", help="checkpoint or model.safetensors whose weights to start from")
    parser.add_argument("--repeats", type=repeat, nargs="*", default=[], metavar="CORPUS=N",
                        help="how often a corpus counts in a round, where not as in translation_data.py")
    parser.add_argument("--lr", type=float, default=1.5e-3, help="peak learning rate")
    parser.add_argument("--last-lr", type=float, default=0.1, help="the last one, as a share of the peak")
    parser.add_argument("--warmup", type=int, default=500, help="steps to the peak")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--tokens", type=int, default=2048, help="of a side of a batch, a process")
    parser.add_argument("--minutes", type=float, default=60, help="the schedule's length")
    parser.add_argument("--steps", type=int, help="its length in steps instead")
    parser.add_argument("--processes", type=int, default=1, help="CPU processes that average gradients")
    parser.add_argument("--check-minutes", type=float, default=10, help="between checkpoints")
    parser.add_argument("--port", type=int, default=29512)
    options = parser.parse_args()
    if options.processes > 1:
        torch.multiprocessing.spawn(worker, (options,), options.processes)
    else:
        worker(0, options)


if __name__ == "__main__":
    main()
