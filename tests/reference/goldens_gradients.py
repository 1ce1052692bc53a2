"""Writes gradients.safetensors and gradients.json for each model of tests/golden, integrated.json for the translators
with attention, and loss.safetensors and loss.json for some models: the gradients that the engine must compute.

    /usr/bin/python3 tests/reference/goldens_gradients.py       needs python3-torch

They come from autograd, in float64, through reference.py. It runs one text at a time, without padding. derivatives.py
describes the files. Before it writes anything, this program compares a trace with golden.trace.safetensors, the
gradients with finite differences, and the gradients of linear layers with those of their inputs and outputs.

A translator reads a text and the first tokens of its own greedy translation, or of the golden's target if the
translation is only one or two different tokens. "state" of a recurrent unit has the whole gradient of each row: a state
also acts on the states after it.
"""

import os

import torch

import derivatives
from files import TESTS, load, read_json
from reference import forward, is_recurrent, translate

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

LONGEST = 6  # tokens of a target, without the start token
LOSSES = {  # model: the texts of its loss
    "pre_norm_mean": [0, 1, 2],
    "post_norm_gelu_learned_first": [0, 1, 2],
    "linear_attention": [4, 1, 3],
    "translate_pre_norm_shared": [0, 1],
}


class Model:
    """A model of tests/golden, whose weights ask for gradients."""

    def __init__(self, name):
        self.folder = os.path.join(TESTS, "golden", name)
        self.config = read_json(self.folder, "config.json")
        self.golden = read_json(self.folder, "golden.json")
        self.weights = {name: x.requires_grad_() for name, x in load(os.path.join(self.folder, "model.safetensors")).items()}
        self.translates = "target_ids" in self.golden

    def run(self, ids, target_ids=None, replaced=lambda name, x: x):
        """Runs one text. Returns the logits, [1 or T, C], and {name: tensor}, batch first. replaced(name, x): the
        numbers of a tensor.
        """
        seen = {}

        def see(name, x):
            if not x.requires_grad:  # a table of sinusoids
                x.requires_grad_()
            x.data = replaced(name, x.data)
            seen[name] = x

        batch = lambda row: (torch.tensor([row]), torch.ones(1, len(row), dtype=torch.bool))
        if target_ids is None:
            return forward(self.config, self.weights, *batch(ids), see=see)["logits"], seen
        return translate(self.config, self.weights, batch(ids), batch(target_ids), see=see)["logits"][0], seen

    def target(self, text):
        """Returns what the decoder reads: the start token and some tokens."""
        start, *forced = self.golden["target_ids"][text]
        written = self.golden["greedy"][text]["ids"]
        assert len(written) > LONGEST, "the end token would be read"
        written = written[:LONGEST] if len(set(written[:LONGEST])) > 2 else forced[:LONGEST]
        return [start, *written]


def check_trace(model):
    """Compares the names and values of a trace with the golden's."""
    expected = load(os.path.join(model.folder, "golden.trace.safetensors"))
    text = int(next(iter(expected)).split("/")[0])
    first = len(next(x for name, x in expected.items() if name.endswith("decoder.embed_tokens"))) if model.translates else 0
    target = model.golden["target_ids"][text][:first] if model.translates else None
    seen = model.run(model.golden["ids"][text], target)[1]
    assert {f"{text}/{name}" for name in seen} == expected.keys(), model.folder
    for name, x in seen.items():
        finite = ~torch.isinf(expected[f"{text}/{name}"])
        derivatives.near(name, x[0][finite], expected[f"{text}/{name}"][finite], 1e-6)


def whole_states(trace, values):
    """Adds to the gradient of each state what it does to the states after it, through the gate that keeps it."""
    for name, gradient in trace.items():
        if name.endswith(".self_attn.state"):
            gate = values[name.replace(".state", ".gate")]
            for t in reversed(range(len(gradient) - 1)):
                gradient[t] += gate[t + 1] * gradient[t + 1]
            # A candidate acts only through its own state.
            derivatives.near(name, (1 - gate) * gradient, trace[name.replace(".state", ".candidate")])


def make_gradients(model):
    text = derivatives.chosen_text([len(ids) for ids in model.golden["ids"]])
    ids, target = model.golden["ids"][text], model.target(text) if model.translates else None
    logits, seen = model.run(ids, target)
    contrast = (derivatives.of_next if model.translates else derivatives.of_classes)(logits.detach())
    y = derivatives.value(contrast, logits)
    parameters = derivatives.gradients(y, model.weights)
    trace = {name: x[0] for name, x in derivatives.gradients(y, seen).items()}
    values = {name: x.detach()[0] for name, x in seen.items()}
    whole_states(trace, values)
    derivatives.check_trace(trace)
    derivatives.check_layers(values, trace, parameters)
    again = lambda: derivatives.value(contrast, model.run(ids, target)[0])
    derivatives.check_differences(again, model.weights, parameters)
    header = {"text": text, "ids": ids, "types": None} | ({"target_ids": target} if model.translates else {})
    derivatives.save_gradients(os.path.join(model.folder, ""), header, y, contrast, trace, parameters)


def make_integrated(model):
    """Explains the number of gradients.json."""
    found = read_json(model.folder, "gradients.json")
    ids = {"decoder": found["target_ids"], "encoder": found["ids"]}
    kept = {found["target_ids"][0], found["ids"][-1]}  # the start and the end token

    def run(ids, moved):
        replaced = lambda name, x: moved(name.split(".")[0], x) if name.endswith(".embed_tokens") else x
        logits, seen = model.run(ids["encoder"], ids["decoder"], replaced)
        embeddings = {stack: seen[f"{stack}.embed_tokens"] for stack in ids}
        return derivatives.value(found["contrast"], logits), embeddings

    header = {name: found[name] for name in ("text", "target_ids")}
    scores = derivatives.integrated(run, ids, kept)
    derivatives.save_integrated(os.path.join(model.folder, ""), header, found["contrast"], kept, scores)


def make_loss(model, texts):
    golden, count = model.golden, len(model.config.get("labels", []))
    header = {"ids": [golden["ids"][text] for text in texts], "types": None}
    if model.translates:
        header["target_ids"] = [golden["target_ids"][text] for text in texts]
        end = golden["ids"][0][-1]  # the shared vocabulary has one </s>
        labels = [[*target[1:], end] for target in header["target_ids"]]
    else:
        labels = [(2 * i + 1) % count for i in range(len(texts))]

    def run():
        rows = []
        for i, ids in enumerate(header["ids"]):
            logits = model.run(ids, *(header["target_ids"][i : i + 1] if model.translates else []))[0]
            rows += zip(logits, labels[i] if model.translates else [labels[i]])
        return derivatives.smoothed_loss(rows)

    loss = run()
    parameters = derivatives.gradients(loss, model.weights)
    derivatives.check_differences(run, model.weights, parameters)
    derivatives.save_loss(os.path.join(model.folder, ""), header, labels, loss, parameters)


def main():
    for name in sorted(os.listdir(os.path.join(TESTS, "golden"))):
        model = Model(name)
        check_trace(model)
        make_gradients(model)
        if model.translates and not is_recurrent(model.config):
            make_integrated(model)
        if name in LOSSES:
            make_loss(model, LOSSES[name])


if __name__ == "__main__":
    main()
