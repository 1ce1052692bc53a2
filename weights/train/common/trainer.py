"""The training loop: schedule, checkpoints, averages over processes, the moving average of the weights, reports."""
import json
import math
import os
import time
from pathlib import Path

import numpy
import torch
import torch.distributed
import torch.multiprocessing

from common import safetensors_io


def compute_type(device):
    """Returns bfloat16 if the device multiplies it in hardware, else float32."""
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        flags = ""
    return torch.bfloat16 if "avx512_bf16" in flags or "amx_bf16" in flags else torch.float32


class Average:
    """The exponential moving average of the parameters. swap() exchanges the two."""

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


def read_weights(path):
    """Returns {name: tensor}: the averaged weights of a checkpoint, or the weights of a model.safetensors."""
    if str(path).endswith(".safetensors"):
        tensors = safetensors_io.load(path)
        return {name: torch.from_numpy(array.astype(numpy.float32)) for name, array in tensors.items()}
    return torch.load(path, map_location="cpu")["average"]


def between(start, end, share):
    """Returns weights on the line from `start` (share 0) to `end` (share 1)."""
    return {name: start[name].lerp(value, share) for name, value in end.items()}


class Trainer:
    """One process of a training. A subclass defines EMA, the decay of the moving average, and

        make_model()             returns (model, config)
        start_from(weights)      copies the weights of --init into the model
        make_optimizer()         returns the optimizer, with any learning rate
        make_step()              returns a function that adds the gradients of one step and returns (losses, tokens)
        rate(progress)           returns the learning rate; progress goes from 0 to 1
        validate()               logs and returns figures of the moving average
        report(losses, steps, tokens, progress)    logs the mean losses, and steps and tokens per second
    """

    def __init__(self, options, rank):
        self.options, self.rank, self.world = options, rank, options.processes
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.compute = compute_type(self.device)
        self.run = Path(options.run)
        self.run.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(1)
        self.model, self.config = self.make_model()
        self.model.to(self.device)
        if options.init:
            self.start_from(read_weights(options.init))
        self.optimizer = self.make_optimizer()
        self.average = Average(self.model)
        self.step, self.tokens, self.elapsed = 0, 0, 0.0
        if (self.run / "checkpoint.pt").exists():
            self.load()
        self.shared = self.shares_by_now()
        torch.manual_seed(1000 * self.step + rank)

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

    def share_gradients(self, progress):
        """Averages the gradients and the progress over the processes. Returns the progress."""
        if self.world == 1 or self.options.share_minutes:
            return progress
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        flat = torch.cat([g.reshape(-1) for g in gradients] + [torch.tensor([progress])])
        torch.distributed.all_reduce(flat)
        flat /= self.world
        for gradient, piece in zip(gradients, flat[:-1].split([g.numel() for g in gradients])):
            gradient.copy_(piece.view_as(gradient))
        return float(flat[-1])

    @torch.no_grad()
    def share_weights(self, progress):
        """With --share-minutes, averages the weights over the processes: each time that period has passed, and at the
        end.
        """
        if self.world == 1 or not self.options.share_minutes:
            return
        times = math.ceil(self.options.minutes / self.options.share_minutes)
        due = times if progress >= 1.0 else min(times - 1, self.shares_by_now())
        while self.shared < due:
            self.shared += 1
            for parameter in self.model.parameters():
                torch.distributed.all_reduce(parameter)
                parameter /= self.world

    def shares_by_now(self):
        return int(self.elapsed / 60 / self.options.share_minutes) if self.options.share_minutes else 0

    def train(self):
        add_gradients = self.make_step()
        began, reported = time.time() - self.elapsed, time.time()
        sums, count, tokens = 0.0, 0, self.tokens
        progress, next_check = 0.0, self.elapsed + self.options.check_minutes * 60
        while progress < 1.0:
            self.optimizer.zero_grad(set_to_none=False)
            losses, size = add_gradients()
            self.tokens += size * self.world
            self.elapsed = time.time() - began
            progress = self.step / self.options.steps if self.options.steps else self.elapsed / (
                60 * self.options.minutes)
            progress = self.share_gradients(min(1.0, progress))
            for group in self.optimizer.param_groups:
                group["lr"] = self.rate(progress)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.step += 1
            self.share_weights(progress)
            self.average.update(min(self.EMA, self.step / (self.step + 10)))
            sums, count = sums + numpy.array(losses), count + 1
            if self.rank == 0 and (count == 50 or progress >= 1.0):
                seconds = time.time() - reported
                self.report(sums / count, count / seconds, (self.tokens - tokens) / seconds, progress)
                sums, count, tokens, reported = 0.0, 0, self.tokens, time.time()
            if self.rank == 0 and (self.elapsed > next_check or progress >= 1.0):
                next_check = self.elapsed + self.options.check_minutes * 60
                self.save()
                print("\n", self.validate(), flush=True)

    def show(self, progress, text):
        """Prints the progress bar, followed by `text`."""
        done = int(progress * 30)
        print(f"\r[{'#' * done}{'.' * (30 - done)}] {progress:5.1%} step {self.step} {text}", end="", flush=True)


def add_run_arguments(parser, check_minutes, port):
    """Adds the options of every training, with these defaults."""
    parser.add_argument("--run", required=True, help="folder for the log and the checkpoint")
    parser.add_argument("--init", help="checkpoint or model.safetensors with the first weights")
    parser.add_argument("--minutes", type=float, default=60, help="length of the schedule")
    parser.add_argument("--steps", type=int, help="length of the schedule in steps, instead of --minutes")
    parser.add_argument("--processes", type=int, default=1, help="CPU processes, which average their gradients")
    parser.add_argument("--share-minutes", type=float, help="average the weights of the processes after this many "
                        "minutes, instead of the gradients at every step; then no process waits for a slower one")
    parser.add_argument("--check-minutes", type=float, default=check_minutes, help="minutes between checkpoints")
    parser.add_argument("--port", type=int, default=port, help="local port that the processes use")


def worker(rank, trainer, options):
    if options.processes > 1:
        torch.set_num_threads(1)
        torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}", rank=rank,
                                             world_size=options.processes)
    trainer(options, rank).train()
    if options.processes > 1:
        torch.distributed.destroy_process_group()


def launch(trainer, options):
    """Runs a subclass of Trainer in the number of processes that the options give."""
    if options.share_minutes and options.steps:
        raise SystemExit("--share-minutes needs --minutes and cannot be combined with --steps")
    if options.processes > 1:
        torch.multiprocessing.spawn(worker, (trainer, options), options.processes)
    else:
        worker(0, trainer, options)
