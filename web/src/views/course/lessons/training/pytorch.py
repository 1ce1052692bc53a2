import torch
from torch import nn

def schedule(progress, rate=0.005, warm_up=0.2):           # progress: 0 … 1
    if progress < warm_up:
        return rate * progress / warm_up                   # rises from 0
    return rate * (1 - progress) / (1 - warm_up)           # falls to 0

def train(model, batches, epochs=60):                      # model has nn.Dropout(0.1) in it
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    steps, step = epochs * len(batches), 0
    for _ in range(epochs):
        model.train()                                      # dropout on
        for tokens, labels in batches:
            step += 1
            for group in optimizer.param_groups:
                group['lr'] = schedule(step / steps)
            optimizer.zero_grad()
            loss = loss_of(model(tokens), labels)          # logits: [B, 2]
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
