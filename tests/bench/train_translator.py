"""Trains a translator with PyTorch's own nn.Transformer, as `glassformer train` does, and prints its BLEU.

    python3 tests/bench/train_translator.py MODEL_DIR TRAIN.tsv TEST.tsv --steps 2000 --seed 1

MODEL_DIR is a folder that `glassformer train` wrote. It gives the shape and the tokenizer; its weights are not read.
The files have an English text, a tab and a translation per line. The recipe is that of the command's options: AdamW
with warm-up and a linear decay, dropout, label smoothing, clipping, a moving average of the weights, and steps of at
least --batch-tokens tokens. Prints one line of JSON per report, the last with BLEU of greedy translations.
"""
import argparse
import json
import pathlib
import random
import sys
import time

import sentencepiece
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "weights/train"))
from translator.bleu import corpus_bleu  # noqa: E402

START, END, PAD = 1, 2, 0  # <s>, </s>; <unk> stands for padding, which no loss and no attention reads


class Translator(nn.Module):
    def __init__(self, config, dropout):
        super().__init__()
        d_model, self.longest = config["d_model"], config["max_target_length"]
        self.embed = nn.Embedding(config["target_vocab_size"], d_model)
        self.transformer = nn.Transformer(d_model, config["n_heads"], config["encoder_layers"],
                                          config["decoder_layers"], config["d_ff"], dropout, batch_first=True,
                                          norm_first=True)
        self.bias = nn.Parameter(torch.zeros(config["target_vocab_size"]))
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(512)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).reshape(512, d_model))
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def embedded(self, ids):
        return self.dropout(self.embed(ids) * self.embed.embedding_dim**0.5 + self.positions[:ids.shape[1]])

    def encode(self, sources, padding):
        return self.transformer.encoder(self.embedded(sources), src_key_padding_mask=padding)

    def decode(self, targets, states, padding):
        ahead = torch.ones(targets.shape[1], targets.shape[1], dtype=torch.bool, device=targets.device).triu(1)
        hidden = self.transformer.decoder(self.embedded(targets), states, tgt_mask=ahead,
                                          memory_key_padding_mask=padding)
        return hidden @ self.embed.weight.T + self.bias


def read(path, tokenizer, config):
    """Returns the pairs of a file as ids (source, target), and the references."""
    pairs, references = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            source, target = line.rstrip("\n").split("\t")
            pairs.append((tokenizer.encode(source)[:config["max_source_length"] - 1] + [END],
                          [START] + tokenizer.encode(target)[:config["max_target_length"] - 1] + [END]))
            references.append([target])
    return pairs, references


def padded(rows, device):
    """Returns the rows as ids [B, longest], and which of them are padding."""
    ids = pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD).to(device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, torch.arange(ids.shape[1], device=device)[None] >= lengths[:, None]


def batches(pairs, tokens, seed):
    """Yields batches of at least so many tokens, for ever. An epoch's last batch may be smaller."""
    order, chance = list(range(len(pairs))), random.Random(seed)
    while True:
        chance.shuffle(order)
        batch, count = [], 0
        for i in order:
            batch.append(pairs[i])
            count += len(pairs[i][0]) + len(pairs[i][1])
            if count >= tokens:
                yield batch
                batch, count = [], 0
        if batch:
            yield batch


@torch.no_grad()
def translate(model, sources, device):
    """Returns greedy translations as ids, of 100 sources at a time."""
    model.eval()
    results = []
    for first in range(0, len(sources), 100):
        ids, padding = padded(sources[first:first + 100], device)
        states = model.encode(ids, padding)
        written = torch.full((len(ids), 1), START, device=device)
        ended = torch.zeros(len(ids), dtype=torch.bool, device=device)
        while written.shape[1] < min(model.longest, 100) and not ended.all():
            next_ids = model.decode(written, states, padding)[:, -1].argmax(-1)
            next_ids[ended] = END
            ended |= next_ids == END
            written = torch.cat([written, next_ids[:, None]], 1)
        for row in written[:, 1:].tolist():
            results.append(row[:row.index(END)] if END in row else row)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--warm-up", type=float, default=0.05)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--smoothing", type=float, default=0.1)
    parser.add_argument("--averaging", type=float, default=0.998)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    config = json.loads((options.model / "config.json").read_text())
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(options.model / "tokenizer.model"))
    pairs, _ = read(options.train, tokenizer, config)
    tests, references = read(options.test, tokenizer, config)
    model = Translator(config, options.dropout).to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01)
    loss_of = nn.CrossEntropyLoss(label_smoothing=options.smoothing, reduction="sum")
    average = [parameter.detach().clone() for parameter in model.parameters()]
    began = time.perf_counter()
    for step, batch in zip(range(1, options.steps + 1), batches(pairs, options.batch_tokens, options.seed)):
        model.train()
        progress = step / options.steps
        rate = options.rate * min(progress / options.warm_up, (1 - progress) / (1 - options.warm_up))
        for group in optimizer.param_groups:
            group["lr"] = rate
        sources, padding = padded([source for source, _ in batch], options.device)
        targets, hidden = padded([target for _, target in batch], options.device)
        read_targets, kept = targets[:, :-1], ~hidden[:, 1:]
        logits = model.decode(read_targets, model.encode(sources, padding), padding)[kept]
        loss = loss_of(logits, targets[:, 1:][kept])
        optimizer.zero_grad()
        (loss / len(logits)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        kept_share = min(options.averaging, step / (step + 10))
        with torch.no_grad():
            for mean, parameter in zip(average, model.parameters()):
                mean.lerp_(parameter, 1 - kept_share)
        if step % max(options.steps // 20, 1) == 0 or step == options.steps:
            print(json.dumps({"step": step, "seconds": round(time.perf_counter() - began, 2),
                              "loss": round(float(loss) / len(logits), 4)}), flush=True)
    seconds = time.perf_counter() - began
    with torch.no_grad():
        for mean, parameter in zip(average, model.parameters()):
            parameter.copy_(mean)
    texts = [tokenizer.decode(ids) for ids in translate(model, [source for source, _ in tests], options.device)]
    print(json.dumps({"torch": torch.__version__, "device": options.device, "seed": options.seed,
                      "parameters": sum(parameter.numel() for parameter in model.parameters()),
                      "steps": options.steps, "seconds": round(seconds, 1),
                      "bleu": round(corpus_bleu(texts, references), 2)}), flush=True)


if __name__ == "__main__":
    main()
