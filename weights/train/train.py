"""Trains the classifier, in stages that each start from the one before.

    pretrain  masked language model and soft labels from one forward pass
    finetune  soft labels alone, full length, learning rate to zero
    sst5      five classes, from a pretrained encoder

    python3 train.py --stage pretrain --items items.npz --run RUN --minutes 40 --processes 2
    python3 train.py --stage finetune --items items.npz --run RUN2 --init RUN/checkpoint.pt --minutes 35

RUN/log.jsonl gets a line per report, RUN/checkpoint.pt the state; the same command again resumes.
"""
import argparse
import json
import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
import torch.distributed
import torch.multiprocessing
from torch.nn import functional as F

import safetensors_io
from attention import use_compiled
from batches import Items, inference_batches, mask_tokens, training_batches
from model import CONFIG, Classifier

FILMS_AND_PRODUCTS = ["films", "films_unlabelled", "products", "products_unlabelled"]
SENTENCES = ["sentences", "sentences_unlabelled"]
VALIDATION = ["valid_films", "valid_products", "valid_sentences"]


class Stream(NamedTuple):
    """One source of batches; every step takes one batch of each of its stage's streams."""
    groups: list
    repeats: list  # how often each group's texts come in one round
    tokens: int  # a batch
    weight: float  # of its loss


STAGES = {
    "pretrain": dict(limit=256, mask=0.15, drop=0.0, lr=2e-3, last_lr=4e-4, validation=VALIDATION, streams=[
        Stream(FILMS_AND_PRODUCTS, [1.5, 1, 2.5, 1.5], 8192, 1.0),
        Stream([*SENTENCES, "graded"], [1, 0.5, 1], 3072, 1.0)]),
    "finetune": dict(limit=512, mask=0.0, drop=0.1, lr=5e-4, last_lr=0.0, validation=VALIDATION, streams=[
        Stream(FILMS_AND_PRODUCTS, [1.5, 1, 2.5, 1.5], 8192, 1.0),
        Stream([*SENTENCES, "graded"], [1, 0.5, 2], 3072, 1.0)]),
    "sst5": dict(limit=512, mask=0.0, drop=0.15, lr=3e-4, last_lr=0.0, validation=["valid_sst5"], streams=[
        Stream(["sst5"], [1], 2048, 1.0)]),
}
SST5_LABELS = ["very negative", "negative", "neutral", "positive", "very positive"]
EMA = 0.998
WEIGHT_DECAY = 0.01


def compute_type(device):
    """bfloat16 where the machine multiplies it in hardware, else float32."""
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        flags = ""
    return torch.bfloat16 if "avx512_bf16" in flags or "amx_bf16" in flags else torch.float32


@torch.no_grad()
def predict(model, items, device, compute, limit=512, tokens=8192):
    """Logits [texts, C] (numpy) of each text's first `limit` tokens."""
    logits = numpy.zeros((len(items.lengths), model.classifier.out_features), numpy.float32)
    for texts, ids in inference_batches(items, limit, tokens):
        logits[texts] = model.classify(model.encoder(ids.to(device), compute)).cpu().numpy()
    return logits


class Average:
    """Exponential moving average of the parameters; `applied` swaps it in."""

    def __init__(self, model):
        self.parameters = list(model.parameters())
        self.values = [p.detach().clone() for p in self.parameters]

    def update(self, decay):
        for value, parameter in zip(self.values, self.parameters):
            value.lerp_(parameter.detach(), 1 - decay)

    def swap(self):
        for value, parameter in zip(self.values, self.parameters):
            kept = parameter.data.clone()
            parameter.data.copy_(value)
            value.copy_(kept)


def loss_of(model, ids, targets, mask, compute):
    """Returns (classification loss, masked-token loss) of one batch."""
    if mask:
        ids, places, truth = mask_tokens(ids, mask, model.encoder.embed_tokens.num_embeddings)
    hidden = model.encoder(ids, compute)
    classification = -(targets * F.log_softmax(model.classify(hidden), dim=1)).sum(1).mean()
    if not mask or not len(places):
        return classification, classification.new_zeros(())
    tokens = model.predict_tokens(hidden.reshape(-1, hidden.shape[2])[places], compute)
    return classification, F.cross_entropy(tokens, truth)


def read_weights(path):
    """The averaged weights of a checkpoint, or those of a model folder's model.safetensors, by name."""
    if str(path).endswith(".safetensors"):
        tensors = safetensors_io.load(path)
        return {name: torch.from_numpy(array.astype(numpy.float32)) for name, array in tensors.items()}
    return torch.load(path, map_location="cpu")["average"]


class Trainer:
    def __init__(self, options, rank):
        self.options, self.rank, self.world = options, rank, options.processes
        self.stage = STAGES[options.stage]
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.compute = compute_type(self.device)
        if self.device.type == "cpu":
            use_compiled()
        self.run = Path(options.run)
        self.run.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(1)
        self.config = {**CONFIG, "labels": SST5_LABELS} if options.stage == "sst5" else CONFIG
        self.model = Classifier(self.config).to(self.device)
        if options.init:
            self.start_from(read_weights(options.init))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.0, betas=(0.9, 0.98),
                                           weight_decay=WEIGHT_DECAY)
        self.average = Average(self.model)
        self.step, self.tokens, self.elapsed = 0, 0, 0.0
        if (self.run / "checkpoint.pt").exists():
            self.load()
        torch.manual_seed(1000 * self.step + rank)

    def start_from(self, weights):
        """Takes over every tensor of the same name and shape (another task has another classifier)."""
        own = self.model.state_dict()
        self.model.load_state_dict({**own, **{name: value for name, value in weights.items()
                                              if name in own and value.shape == own[name].shape}})

    def load(self):
        state = torch.load(self.run / "checkpoint.pt", map_location="cpu")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        names = [name for name, _ in self.model.named_parameters()]
        self.average.values = [state["average"][name].to(self.device) for name in names]
        self.step, self.tokens, self.elapsed = state["step"], state["tokens"], state["elapsed"]

    def save(self):
        names = [name for name, _ in self.model.named_parameters()]
        state = dict(model=self.model.state_dict(), optimizer=self.optimizer.state_dict(),
                     average=dict(zip(names, self.average.values)), step=self.step, tokens=self.tokens,
                     elapsed=self.elapsed, config=self.config)
        torch.save(state, self.run / "checkpoint.tmp")
        os.replace(self.run / "checkpoint.tmp", self.run / "checkpoint.pt")

    def log(self, entry):
        line = json.dumps({"step": self.step, "tokens": self.tokens, "seconds": round(self.elapsed), **entry})
        with open(self.run / "log.jsonl", "a") as log:
            log.write(line + "\n")

    def batches(self, stream):
        items = Items(self.options.items, stream.groups)
        return training_batches(items, stream.repeats, self.stage["limit"], stream.tokens, self.stage["drop"],
                                self.rank, self.world, seed=self.step + 1)

    def share(self, progress):
        """Averages the gradients, and the progress, over the processes."""
        if self.world == 1:
            return progress
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        flat = torch.cat([g.reshape(-1) for g in gradients] + [torch.tensor([progress])])
        torch.distributed.all_reduce(flat)
        flat /= self.world
        for gradient, piece in zip(gradients, flat[:-1].split([g.numel() for g in gradients])):
            gradient.copy_(piece.view_as(gradient))
        return float(flat[-1])

    def rate(self, progress):
        warmup = min(1.0, progress / 0.03)
        first = self.options.lr or self.stage["lr"]
        return warmup * (first + (self.stage["last_lr"] - first) * progress)

    def validate(self):
        self.average.swap()
        accuracy = {}
        for name in self.stage["validation"]:
            items = Items(self.options.items, [name])
            logits = predict(self.model, items, self.device, self.compute)
            accuracy[name] = round(float((logits.argmax(1) == items.targets.argmax(1)).mean()), 4)
        self.average.swap()
        self.log(accuracy)
        return accuracy

    def train(self):
        sources = [(self.batches(stream), stream.weight) for stream in self.stage["streams"]]
        began, sums, count, reported = time.time() - self.elapsed, numpy.zeros(2 * len(sources)), 0, time.time()
        progress, next_check = 0.0, self.elapsed + self.options.check_minutes * 60
        while progress < 1.0:
            losses = []
            self.optimizer.zero_grad(set_to_none=False)
            for source, weight in sources:
                ids, targets = next(source)
                parts = loss_of(self.model, ids.to(self.device), targets.to(self.device), self.stage["mask"],
                                self.compute)
                (weight * (parts[0] + parts[1])).backward()
                losses += [float(parts[0]), float(parts[1])]
                self.tokens += ids.numel() * self.world
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
            sums, count = sums + losses, count + 1
            if self.rank == 0 and (count == 50 or progress >= 1.0):
                self.report(sums / count, count, time.time() - reported, progress)
                sums, count, reported = numpy.zeros_like(sums), 0, time.time()
            if self.rank == 0 and (self.elapsed > next_check or progress >= 1.0):
                next_check = self.elapsed + self.options.check_minutes * 60
                self.save()
                print("\n", self.validate(), flush=True)

    def report(self, losses, count, seconds, progress):
        names = ["loss_long", "mlm_long", "loss_short", "mlm_short"] if len(losses) == 4 else ["loss", "mlm"]
        entry = {name: round(float(loss), 4) for name, loss in zip(names, losses)}
        self.log({**entry, "lr": round(self.rate(progress), 6)})
        done = int(progress * 30)
        print(f"\r[{'#' * done}{'.' * (30 - done)}] {progress:5.1%} step {self.step} {count / seconds:.2f} steps/s "
              + " ".join(f"{key} {value:.3f}" for key, value in entry.items()), end="", flush=True)


def worker(rank, options):
    if options.processes > 1:
        torch.set_num_threads(1)
        torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}", rank=rank,
                                             world_size=options.processes)
    Trainer(options, rank).train()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=STAGES, required=True)
    parser.add_argument("--items", default="items.npz", help="from prepare.py")
    parser.add_argument("--run", required=True, help="folder of log and checkpoint")
    parser.add_argument("--init", help="checkpoint or model.safetensors whose weights to start from")
    parser.add_argument("--lr", type=float, help="peak learning rate, where not the stage's own")
    parser.add_argument("--minutes", type=float, default=60, help="the schedule's length")
    parser.add_argument("--steps", type=int, help="its length in steps instead")
    parser.add_argument("--processes", type=int, default=1, help="CPU processes that average gradients")
    parser.add_argument("--check-minutes", type=float, default=5, help="between checkpoints")
    parser.add_argument("--port", type=int, default=29511)
    options = parser.parse_args()
    if options.processes > 1:
        torch.multiprocessing.spawn(worker, (options,), options.processes)
    else:
        worker(0, options)


if __name__ == "__main__":
    main()
