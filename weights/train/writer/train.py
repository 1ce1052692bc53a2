"""Trains the writer to predict the next token, with Muon. The learning rate has one warm-up and falls to zero in a
line.

    python3 -m writer train --run RUN --minutes 90

RUN is the folder of the command prepare. Each report is a line of RUN/log.jsonl. RUN/checkpoint.pt holds the state: the
same command again resumes from it. `--continue checkpoints/writer` starts with the weights of a model folder instead of random
ones, and with a new schedule. It requires a RUN that was prepared with `--tokenizer ../writer/tokenizer.json`.
"""
import json
import math
from pathlib import Path

import torch

from common.muon import Muon, layer_matrices
from common.trainer import Trainer, add_run_arguments, launch, read_weights
from writer import byte_bpe, kernels
from writer.batches import Reviews, training_batches
from writer.model import CONFIG, Writer

VALIDATION_REVIEWS = 200  # reviews that are read at a check


class WriterTrainer(Trainer):
    EMA = 0.99

    def make_model(self):
        tokenizer = byte_bpe.Tokenizer(Path(self.options.run) / "tokenizer.json")
        self.sizes = tokenizer.sizes()
        config = {**CONFIG, "vocab_size": len(self.sizes), "bos_token_id": tokenizer.end,
                  "eos_token_id": tokenizer.end}
        if self.options.folder:
            folder = Path(self.options.folder)
            if byte_bpe.Tokenizer(folder / "tokenizer.json").ids != tokenizer.ids:
                raise SystemExit(f"{self.run} was prepared with another tokenizer.json than {folder} has")
            config = json.loads((folder / "config.json").read_text())
        model = Writer(config)
        if self.options.folder:
            model.load_published(read_weights(folder / "model.safetensors"))
        return model, config

    def start_from(self, weights):
        self.model.load_state_dict(weights)

    def make_optimizer(self):
        matrices = layer_matrices(self.model, lambda name: name.startswith("h."))
        return Muon(*matrices, betas=(0.9, 0.95), compute=self.compute)

    def make_step(self):
        if self.device.type == "cpu" and self.compute == torch.bfloat16:
            kernels.use_compiled()
        length, rows = self.options.length or self.config["n_positions"], self.options.rows
        parts = self.options.tokens // (length * rows)
        reviews = Reviews(self.run / "reviews.npz", self.config["eos_token_id"], held_out=False)
        source = training_batches(reviews, length, rows, seed=self.options.seed + self.step * self.world + self.rank)
        count = length * rows * parts

        def add_gradients():
            total = 0.0
            for _ in range(parts):
                ids, targets = (part.to(self.device) for part in next(source))
                loss = self.model.loss(ids, targets, self.compute) / count
                loss.backward()
                total += float(loss)
            return [total], count

        return add_gradients

    def rate(self, progress):
        return self.options.lr * min(1.0, (self.step + 1) / self.options.warmup) * (1 - progress)

    @torch.no_grad()
    def validate(self):
        """Measures bits per byte of the moving average on held-out reviews, each cut to the model's positions."""
        self.average.swap()
        reviews = Reviews(self.run / "reviews.npz", self.config["eos_token_id"], held_out=True)
        bits, size = 0.0, 0
        for start, length in list(zip(reviews.starts, reviews.lengths))[:VALIDATION_REVIEWS]:
            row = torch.from_numpy(reviews.stream[start:start + min(length, self.config["n_positions"]) + 1])
            ids, targets = row[None, :-1].to(self.device), row[None, 1:].to(self.device)
            bits += float(self.model.loss(ids, targets, self.compute)) / math.log(2)
            size += int(self.sizes[row[1:]].sum())
        self.average.swap()
        scores = {"bits_per_byte": round(bits / size, 4)}
        self.log(scores)
        return scores

    def report(self, losses, steps, tokens, progress):
        self.log({"loss": round(float(losses[0]), 4), "lr": round(self.rate(progress), 6),
                  "tokens_per_second": round(tokens)})
        self.show(progress, f"{tokens:.0f} tokens/s loss {losses[0]:.3f}")


def add_arguments(parser):
    parser.add_argument("--continue", dest="folder", help="model folder with the first weights")
    parser.add_argument("--lr", type=float, default=3e-3, help="peak learning rate")
    parser.add_argument("--warmup", type=int, default=100, help="steps to the peak learning rate")
    parser.add_argument("--tokens", type=int, default=8192, help="per step")
    parser.add_argument("--rows", type=int, default=16, help="per forward pass")
    parser.add_argument("--length", type=int, help="tokens per row; default: all positions of the model. Shorter rows "
                        "take less time per token, and are useful for the first part of a run")
    parser.add_argument("--seed", type=int, default=0, help="use another one for a run that continues from the weights "
                        "of a run; otherwise it begins with the same reviews")
    add_run_arguments(parser, check_minutes=10, port=29513)


def main(options):
    launch(WriterTrainer, options)
