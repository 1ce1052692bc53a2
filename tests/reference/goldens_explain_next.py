"""Writes expected.explain.safetensors and .json for each GPT-2 of tests/checkpoints: explanations of the next token,
which src/explain must reproduce.

    /usr/bin/python3 tests/reference/goldens_explain_next.py        needs python3-torch, python3-sentencepiece

It works like goldens_explain.py, with the same ledger by autograd: one text at a time, in float64, y = z_token -
z_against. Before it writes anything, it checks the run against the answers of the original library, and the ledger
against its sum.

expected.explain.safetensors, of text "text", T tokens:
    rollout [T, T], value_norms.heads [L, H, T, T], value_norms.layers [L, T, T]
    lens.logprobs [L + 1, T, WORDS]    of the likeliest next tokens from each layer, best first
    ledger.written, ledger.read [T, columns], ledger.effects [columns]
    other.written, other.read          the ledger of the pair "other"
expected.explain.json:
    text, token, against, value, columns, other: {token, against, value}; the first two tokens are the likeliest
    lens                               [L + 1, T] ids of the likeliest token
"""

import os

import torch

from explain_subjects import Text, writer
from files import TESTS, load, read_json, save, write_json
from goldens_explain import columns_of, effects, ledger, recorded, rollout, value_norms

WORDS = 4
CASES = {"gpt2_generate": 3, "gpt2_scaled": 1, "gpt2_unscaled": 0}  # the text of expected.json
OTHER = (17, 300)  # ids of any two tokens


def check(subject, expected, tensors):
    for index, entry in enumerate(expected["texts"]):
        seen = recorded(subject, Text(entry["ids"]))
        layers = subject.config["encoder_layers"]
        maps = torch.stack([seen[f"encoder.layers.{layer}.self_attn.weights"] for layer in range(layers)])
        for got, name in ((maps, "attention"), (subject.project(seen["stream"]), "logits")):
            assert (got - tensors[f"{name}.{index}"]).abs().max() < 2e-5, f"the run differs from the library's: {name}"


def difference(token, against, vocabulary):
    of_y = torch.zeros(vocabulary)
    of_y[token], of_y[against] = 1, -1
    return of_y


def make(name, index):
    folder = os.path.join(TESTS, "checkpoints", name)
    subject, expected = writer(folder), read_json(folder, "expected.json")
    check(subject, expected, load(os.path.join(folder, "expected.safetensors")))
    text = Text(expected["texts"][index]["ids"])
    layers, seen = subject.config["encoder_layers"], recorded(subject, text)
    token, against = seen["logits"].topk(2).indices.tolist()
    of_y = difference(token, against, len(seen["logits"]))

    tensors = {"rollout": rollout([seen[f"encoder.layers.{layer}.self_attn.weights"] for layer in range(layers)])}
    tensors["value_norms.heads"], tensors["value_norms.layers"] = value_norms(seen, layers)
    stream = [seen[f"encoder.layers.{layer}.input"] for layer in range(layers)] + [seen["stream"]]
    best = torch.stack([torch.log_softmax(subject.project(x), -1) for x in stream]).topk(WORDS + 1)
    gaps = best.values[..., :-1] - best.values[..., 1:]
    assert gaps[..., 0].min() > 1e-4, "two tokens are equally likely: choose another text"
    tensors["lens.logprobs"] = best.values[..., :-1]
    tensors["ledger.written"], tensors["ledger.read"] = ledger(subject, text, of_y)
    tensors["ledger.effects"] = effects(subject, text, of_y)
    of_other = difference(*OTHER, len(seen["logits"]))
    tensors["other.written"], tensors["other.read"] = ledger(subject, text, of_other)

    path = os.path.join(folder, "expected.explain")
    save(f"{path}.safetensors", tensors)
    value = (of_y @ seen["logits"]).item()
    write_json(f"{path}.json", {
        "text": index, "token": token, "against": against, "value": value, "columns": columns_of(subject),
        "other": {"token": OTHER[0], "against": OTHER[1], "value": (of_other @ seen["logits"]).item()},
        "lens": best.indices[..., 0].tolist()})
    print(f"{os.path.relpath(path, TESTS)}: y {value:.3f}")


if __name__ == "__main__":
    for case in CASES.items():
        make(*case)
