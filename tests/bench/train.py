"""Trains the shape of the sentiment classifier with a plain PyTorch module, and prints tokens per second.

    OMP_NUM_THREADS=1 python3 tests/bench/train.py

The module is PyTorch's own: nn.TransformerEncoderLayer, 4 layers, d 128, 8 heads, feed-forward 512, norms first,
dropout 0.1, mean pooling, and AdamW. A step reads 16 texts of 256 random tokens. train.mjs runs it beside ours.
"""
import json
import time

import torch
from torch import nn

LENGTH, TEXTS, VOCABULARY, WARM_UP, STEPS = 256, 16, 8000, 2, 8


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 128)
        layer = nn.TransformerEncoderLayer(128, 8, 512, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4, norm=nn.LayerNorm(128))
        self.classifier = nn.Linear(128, 2)
        angles = torch.arange(LENGTH)[:, None] / 10000 ** (torch.arange(0, 128, 2) / 128)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).reshape(LENGTH, 128))

    def forward(self, ids):
        x = self.embed(ids) * 128**0.5 + self.positions
        return self.classifier(self.encoder(x).mean(1))


def main():
    torch.manual_seed(1)
    model = Classifier().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    times = []
    for _ in range(WARM_UP + STEPS):
        ids, labels = torch.randint(VOCABULARY, (TEXTS, LENGTH)), torch.randint(2, (TEXTS,))
        began = time.perf_counter()
        optimizer.zero_grad()
        loss_of(model(ids), labels).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        times.append(time.perf_counter() - began)
    median = sorted(times[WARM_UP:])[STEPS // 2]
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads(),
                      "tokens_per_second": round(TEXTS * LENGTH / median)}))


if __name__ == "__main__":
    main()
