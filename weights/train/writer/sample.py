"""Writes the samples of the model card: each prompt once, cut at the end token, none replaced by a better one.

    python3 -m writer sample --model ../writer --tokens 120 --seed 1
"""

import torch

from writer.evaluate import load

PROMPTS = ["", "This film", "I watched it with my children and", "The plot is", "The acting was so bad that",
           "One of the best films of the year"]


def kept(probabilities, share):
    """Returns the probabilities [V] with only the smallest set that holds `share` of the mass, normalized."""
    ordered, places = probabilities.sort(descending=True)
    ordered[ordered.cumsum(0) - ordered >= share] = 0.0
    return torch.zeros_like(probabilities).scatter_(0, places, ordered / ordered.sum())


def continued(model, ids, end, options, generator):
    """Returns the ids and the model's continuation, without the end token."""
    positions = model.wpe.weight.shape[0]
    for _ in range(options.tokens):
        row = torch.tensor([[end, *ids][-positions:]], device=model.wpe.weight.device)
        log_p = model.log_probabilities(row)[0, -1].cpu()
        p = kept(torch.softmax(log_p / options.temperature, 0), options.top_p)
        token = int(torch.multinomial(p, 1, generator=generator))
        if token == end:
            break
        ids = [*ids, token]
    return ids


def add_arguments(parser):
    parser.add_argument("--model", required=True)
    parser.add_argument("--tokens", type=int, default=120, help="most new tokens per prompt")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--seed", type=int, default=1)


def main(options):
    model, _, tokenizer = load(options.model)
    generator = torch.Generator().manual_seed(options.seed)
    for prompt in PROMPTS:
        ids = continued(model, tokenizer.encode(prompt), tokenizer.end, options, generator)
        print(f"- **{prompt}**{tokenizer.decode(ids)[len(prompt):]}")
