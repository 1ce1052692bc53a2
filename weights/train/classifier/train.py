"""Trains the classifier in stages. Each stage starts from the weights of the one before.

    pretrain  masked language model and soft labels from one forward pass
    finetune  soft labels only, full length, learning rate to zero
    distil    the same with Muon and more sentences, most of them labeled only by the teacher
    negate    distil with a third stream of batches: sentences with a negator
    sst5      five classes, from a pretrained encoder

    python3 -m classifier train --stage pretrain --items items.npz --run RUN --minutes 40 --processes 2
    python3 -m classifier train --stage finetune --items items.npz --run RUN2 --init RUN/checkpoint.pt --minutes 35

Each report is a line of RUN/log.jsonl. RUN/checkpoint.pt holds the state: the same command again resumes from it.
"""
from typing import NamedTuple

import numpy
import torch
from torch.nn import functional as F

from classifier.batches import Items, inference_batches, mask_tokens, training_batches
from classifier.model import CONFIG, Classifier
from common.attention import use_compiled
from common.muon import Muon, layer_matrices
from common.trainer import Trainer, add_run_arguments, launch

FILMS_AND_PRODUCTS = ["films", "films_unlabeled", "products", "products_unlabeled"]
SENTENCES = ["sentences", "sentences_unlabeled"]
VALIDATION = ["valid_films", "valid_products", "valid_sentences"]
NEGATED = [f"valid_{name}" for name in ("cut", "customers", "praise", "blame", "short", "contrast", "plain")]


class Stream(NamedTuple):
    """A source of batches. Every step takes one batch from each stream of its stage."""
    groups: list
    repeats: list  # how often the texts of each group come in one round
    tokens: int  # per batch
    drop: float  # share of tokens that are left out
    weight: float = 1.0  # of the stream's loss


STAGES = {
    "pretrain": dict(limit=256, mask=0.15, lr=2e-3, last_lr=4e-4, validation=VALIDATION, streams=[
        Stream(FILMS_AND_PRODUCTS, [1.5, 1, 2.5, 1.5], 8192, 0.0),
        Stream([*SENTENCES, "graded"], [1, 0.5, 1], 3072, 0.0)]),
    "finetune": dict(limit=512, mask=0.0, lr=5e-4, last_lr=0.0, validation=VALIDATION, streams=[
        Stream(FILMS_AND_PRODUCTS, [1.5, 1, 2.5, 1.5], 8192, 0.1),
        Stream([*SENTENCES, "graded"], [1, 0.5, 2], 3072, 0.1)]),
    "distil": dict(limit=512, mask=0.0, lr=1e-3, last_lr=0.0, muon=True, validation=VALIDATION, streams=[
        Stream(FILMS_AND_PRODUCTS, [1.5, 1, 2.5, 1.5], 6144, 0.05),
        Stream([*SENTENCES, "sentences_varied", "graded"], [1.5, 0.7, 1, 2], 4096, 0.05)]),
    "negate": dict(limit=512, mask=0.0, lr=7e-4, last_lr=0.0, muon=True, validation=[*VALIDATION, *NEGATED], streams=[
        Stream(FILMS_AND_PRODUCTS, [1, 1.5, 1, 2], 6144, 0.05),
        Stream([*SENTENCES, "sentences_varied", "graded"], [0.4, 1, 1.5, 0.4], 6144, 0.05),
        Stream(["written", "contrasts", "cut", "cut_unlabeled", "customers"], [1, 1, 0.5, 0.5, 2], 2048, 0.0,
               weight=0.4)]),
    "sst5": dict(limit=512, mask=0.0, lr=3e-4, last_lr=0.0, validation=["valid_sst5"], streams=[
        Stream(["sst5"], [1], 2048, 0.15)]),
}
SST5_LABELS = ["very negative", "negative", "neutral", "positive", "very positive"]
WEIGHT_DECAY = 0.01


@torch.no_grad()
def predict(model, items, device, compute, limit=512, tokens=8192):
    """Returns the logits [texts, C] of all texts, as NumPy. A text over `limit` tokens is cut in its middle."""
    logits = numpy.zeros((len(items.lengths), model.classifier.out_features), numpy.float32)
    for texts, ids in inference_batches(items, limit, tokens):
        logits[texts] = model.classify(model.encoder(ids.to(device), compute)).cpu().numpy()
    return logits


def loss_of(model, ids, targets, mask, compute):
    """Computes (classification loss, masked-token loss) of one batch."""
    if mask:
        ids, places, truth = mask_tokens(ids, mask, model.encoder.embed_tokens.num_embeddings)
    hidden = model.encoder(ids, compute)
    classification = -(targets * F.log_softmax(model.classify(hidden), dim=1)).sum(1).mean()
    if not mask or not len(places):
        return classification, classification.new_zeros(())
    tokens = model.predict_tokens(hidden.reshape(-1, hidden.shape[2])[places], compute)
    return classification, F.cross_entropy(tokens, truth)


class ClassifierTrainer(Trainer):
    EMA = 0.998

    def make_model(self):
        self.stage = STAGES[self.options.stage]
        if self.device.type == "cpu":
            use_compiled()
        config = {**CONFIG, "labels": SST5_LABELS} if self.options.stage == "sst5" else CONFIG
        return Classifier(config), config

    def start_from(self, weights):
        """Copies every tensor of the same name and shape; another task has another classifier."""
        own = self.model.state_dict()
        self.model.load_state_dict({**own, **{name: value for name, value in weights.items()
                                              if name in own and value.shape == own[name].shape}})

    def make_optimizer(self):
        if self.stage.get("muon"):
            return Muon(*layer_matrices(self.model), weight_decay=WEIGHT_DECAY)
        return torch.optim.AdamW(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), weight_decay=WEIGHT_DECAY)

    def batches(self, stream):
        items = Items(self.options.items, stream.groups)
        return training_batches(items, stream.repeats, self.stage["limit"], stream.tokens, stream.drop,
                                self.rank, self.world, seed=self.step + 1)

    def make_step(self):
        sources = [(self.batches(stream), stream.weight) for stream in self.stage["streams"]]

        def add_gradients():
            losses, tokens = [], 0
            for source, weight in sources:
                ids, targets = next(source)
                parts = loss_of(self.model, ids.to(self.device), targets.to(self.device), self.stage["mask"],
                                self.compute)
                (weight * (parts[0] + parts[1])).backward()
                losses += [float(parts[0]), float(parts[1])]
                tokens += ids.numel()
            return losses, tokens

        return add_gradients

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

    def report(self, losses, steps, tokens, progress):
        names = ["loss", "mlm"]
        if len(losses) > 2:
            names = [f"{loss}_{stream}" for stream in ("long", "short", "negated") for loss in names]
        entry = {name: round(float(loss), 4) for name, loss in zip(names, losses)}
        self.log({**entry, "lr": round(self.rate(progress), 6)})
        self.show(progress, f"{steps:.2f} steps/s " + " ".join(f"{key} {value:.3f}" for key, value in entry.items()))


def add_arguments(parser):
    parser.add_argument("--stage", choices=STAGES, required=True)
    parser.add_argument("--items", default="items.npz", help="file of the command prepare")
    parser.add_argument("--lr", type=float, help="peak learning rate, instead of the stage's")
    add_run_arguments(parser, check_minutes=5, port=29511)


def main(options):
    launch(ClassifierTrainer, options)
