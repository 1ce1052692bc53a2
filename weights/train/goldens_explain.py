"""Writes explain.safetensors and explain.json beside some goldens: what src/explain must find in those tiny models.

    /usr/bin/python3 weights/train/goldens_explain.py [GOLDEN_DIR]      needs python3-torch

One text at a time, without padding, in float64. The ledger comes from autograd: everything that is written into the
residual stream is a leaf of its own, norms divide by a detached scale, and a leaf's part is its gradient times itself;
src/explain leads the gradient back by hand. A transplant is a whole new run with one row replaced; src/explain resumes
from a layer. Before anything is written, the run is checked against golden.safetensors, and the ledger against its sum.

explain.safetensors, of text "text", T tokens:
    rollout [T, T], value_norms.heads [L, H, T, T], value_norms.layers [L, T, T]
    lens.logits [L + 1, C], lens.token_logits [L + 1, T, C]
    ledger.written, ledger.read [T, columns], ledger.effects [columns]     columns: see explain.json
    transplant.SITE [L + 1 or L, T]     y with the donor's vector, at tokens that have one; else y without the token
                                        from that layer on (residual), or 0
explain.json:
    text, label, value, columns         y is the number explained
    transplant                          {donor, donor_of, base_columns, donor_columns, base, donor_value, head}
"""

import json
import os
import sys

import torch
import torch.nn.functional as F

import safetensors_io
from goldens import write_json
from reference import linear, position_table

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
NOTHING = lambda name, x: x


class Subject:
    """A golden's model, run on one text; `see(name, x)` may look at each named tensor, and returns what replaces it."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.weights = load(os.path.join(folder, "model.safetensors"))

    def norm(self, name, x, see, frozen):
        centered = x - x.mean(-1, keepdim=True)
        if self.config["layer_norm"] == "standard":
            scale = torch.sqrt((centered**2).mean(-1, keepdim=True) + self.config["layer_norm_eps"])
        else:
            scale = torch.sqrt((centered**2).sum(-1, keepdim=True) / (x.shape[-1] - 1)) + self.config["layer_norm_eps"]
        scale = scale.detach() if frozen else scale
        bias = see(f"bias.{name}", self.weights[f"{name}.bias"].expand_as(x))
        return centered / scale * self.weights[f"{name}.weight"] + bias

    def attention(self, layer, x, see, keys):
        name, heads = f"encoder.layers.{layer}.self_attn", self.config["n_heads"]
        q, k, v = (linear(self.weights, f"{name}.{part}_proj", x).view(len(x), heads, -1).transpose(0, 1) for part in "qkv")
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        a = see(f"{name}.weights", torch.softmax(scores.masked_fill(~keys(layer), float("-inf")), -1))  # [H, T, T]
        w = self.weights[f"{name}.out_proj.weight"].view(x.shape[-1], heads, -1)  # [D, H, d]
        see(f"{name}.transformed", torch.einsum("htd,chd->thc", v, w))  # f(x_j) of every head
        context = see(f"{name}.context", (a @ v).transpose(0, 1))  # [T, H, d]
        added = see(f"{name}.heads", torch.einsum("thd,chd->thc", context, w)).sum(1)
        if f"{name}.out_proj.bias" in self.weights:
            added = added + see(f"bias.{name}", self.weights[f"{name}.out_proj.bias"].expand_as(added))
        return see(f"{name}.output", added)

    def feed_forward(self, layer, x, see):
        name = f"encoder.layers.{layer}"
        hidden = {"relu": F.relu, "gelu": F.gelu}[self.config["activation"]](linear(self.weights, f"{name}.fc1", x))
        bias = self.weights[f"{name}.fc2.bias"].expand_as(x)
        product = see(f"{name}.fc2.product", hidden @ self.weights[f"{name}.fc2.weight"].T)
        return see(f"{name}.fc2", product + see(f"bias.{name}.fc2", bias))

    def __call__(self, ids, see=NOTHING, positions=None, without=None, frozen=False):
        """Logits [C]. without(layer): the tokens that nobody reads in a layer, and after the last that are not pooled."""
        config, length = self.config, len(ids)
        gone = without or (lambda layer: [])
        keys = lambda layer: torch.tensor([j not in gone(layer) for j in range(length)])
        x = self.weights["encoder.embed_tokens.weight"][ids]
        x = see("encoder.embed_tokens", x * config["d_model"] ** 0.5 if config["scale_embedding"] else x)
        places = list(range(length)) if positions is None else positions
        x = x + see("encoder.embed_positions", position_table(config, self.weights)[places])
        for layer in range(config["encoder_layers"]):
            name = f"encoder.layers.{layer}"
            x = see(f"{name}.input", x)
            norm = lambda what, y: self.norm(f"{name}.{what}_layer_norm", y, see, frozen)
            inner = lambda what, y: self.norm(f"{name}.{what}_layer_norm", y, NOTHING, False)
            if config["norm"] == "pre":
                x = x + self.attention(layer, inner("self_attn", x), see, keys)
                x = x + self.feed_forward(layer, inner("final", x), see)
            else:
                x = norm("self_attn", x + self.attention(layer, x, see, keys))
                x = norm("final", x + self.feed_forward(layer, x, see))
        return self.head(see("stream", x), see, frozen, keys(config["encoder_layers"]))

    def head(self, x, see=NOTHING, frozen=False, keys=None):
        if self.config["final_norm"]:
            x = self.norm("encoder.layer_norm", x, see, frozen)
        if self.config["pooling"] == "first":
            pooled = x[0]
        else:
            pooled = x.mean(0) if keys is None else x[keys].mean(0)
        return pooled @ self.weights["classifier.weight"].T + self.weights["classifier.bias"]


def load(path):
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        body = file.read()
    tensors = {}
    for name, info in header.items():
        if name != "__metadata__":
            begin, end = info["data_offsets"]
            array = safetensors_io.from_bytes(body[begin:end], info["dtype"], info["shape"])
            tensors[name] = torch.tensor(array.astype("f8"))
    return tensors


def recorded(subject, ids, positions=None):
    seen = {}

    def see(name, x):
        seen[name] = x
        return x

    seen["logits"] = subject(ids, see, positions)
    return seen


def contrast(label, labels):
    """Two classes: the log-odds; more: the logit above their mean."""
    c = torch.full((labels,), -1.0 / labels) if labels > 2 else -torch.ones(labels)
    c[label] += 1 if labels > 2 else 2
    return c


def rollout(maps):
    r = torch.eye(maps[0].shape[-1])
    for a in maps:
        r = (a.mean(0) + torch.eye(len(r))) / 2 @ r
    return r


def value_norms(seen, layers):
    heads, together = [], []
    for layer in range(layers):
        name = f"encoder.layers.{layer}.self_attn"
        moved = torch.einsum("hij,jhc->hijc", seen[f"{name}.weights"], seen[f"{name}.transformed"])
        heads.append(moved.norm(dim=-1))
        together.append(moved.sum(0).norm(dim=-1))
    return torch.stack(heads), torch.stack(together)


def columns_of(config):
    names = ["embed_tokens", "embed_positions"]
    for layer in range(config["encoder_layers"]):
        names += [f"layers.{layer}.self_attn.head.{head}" for head in range(config["n_heads"])]
        names.append(f"layers.{layer}.fc2")
    return names + ["bias"]


def ledger(subject, ids, weights_of_y):
    """Written and read [T, columns]."""
    config, length = subject.config, len(ids)
    leaves, seen = {}, {}
    writers = ("encoder.embed_tokens", "encoder.embed_positions", ".heads", ".fc2.product")

    def see(name, x):
        seen[name] = x.detach()
        if name.endswith(writers) or name.startswith("bias."):
            leaves[name] = x.detach().clone().requires_grad_()
            return leaves[name]
        return x

    y = weights_of_y @ subject(ids, see, frozen=True)
    y.backward()
    parts = {name: (leaf.grad * leaf.detach()).sum(-1) for name, leaf in leaves.items()}
    columns = columns_of(config)
    written = torch.zeros(length, len(columns))
    read = torch.zeros_like(written)
    for c, column in enumerate(columns[:-1]):
        if ".head." in column:
            name, head = column.split(".head.")
            grad = leaves[f"encoder.{name}.heads"].grad[:, int(head)]  # [T, D]
            a, f = seen[f"encoder.{name}.weights"][int(head)], seen[f"encoder.{name}.transformed"][:, int(head)]
            written[:, c] = parts[f"encoder.{name}.heads"][:, int(head)]
            read[:, c] = (a * (grad @ f.T)).sum(0)
        else:
            name = f"encoder.{column}.product" if column.endswith("fc2") else f"encoder.{column}"
            written[:, c] = read[:, c] = parts[name]
    biases = sum(part for name, part in parts.items() if name.startswith("bias."))
    of_head = weights_of_y @ subject.weights["classifier.bias"]
    share = torch.full((length,), 1 / length) if config["pooling"] == "mean" else F.one_hot(torch.tensor(0), length)
    written[:, -1] = read[:, -1] = biases + share * of_head
    for view in (written, read):
        assert abs(view.sum() - y).item() < 1e-11, "the ledger does not add up"
    return written, read


def effects(subject, ids, weights_of_y):
    y, results = weights_of_y @ subject(ids), []
    for column in columns_of(subject.config):
        def see(name, x):
            if ".head." in column and name == f"encoder.{column.split('.head.')[0]}.context":
                x = x.clone()
                x[:, int(column.split(".head.")[1])] = 0
            elif name == f"encoder.{column}":
                x = torch.zeros_like(x)
            return x

        results.append(0.0 if column == "bias" else (y - weights_of_y @ subject(ids, see)).item())
    return torch.tensor(results)


def transplant(subject, ids, donor, plan, weights_of_y):
    """y of every cell, by site; each a whole run."""
    layers, head = subject.config["encoder_layers"], plan["head"]
    others = recorded(subject, donor, plan["donor_columns"])

    def run(name, token, source, only=None):
        def see(at, x):
            if at == name:
                x = x.clone()
                if only is None:
                    x[token] = others[name][source]
                else:
                    x[token, only] = others[name][source, only]
            return x

        return weights_of_y @ subject(ids, see, plan["base_columns"])

    sites = {"residual": ".input", "attention": ".self_attn.output", "feed_forward": ".fc2", "head": ".self_attn.context"}
    tables = {}
    for site, suffix in sites.items():
        rows = layers + (site == "residual")
        table = torch.zeros(rows, len(ids))
        for layer in range(rows):
            name = "stream" if layer == layers else f"encoder.layers.{layer}{suffix}"
            for token, source in enumerate(plan["donor_of"]):
                if source is not None:
                    table[layer, token] = run(name, token, source, head if site == "head" else None)
                elif site == "residual":
                    gone = lambda at: [token] if at >= layer else []
                    table[layer, token] = weights_of_y @ subject(ids, NOTHING, plan["base_columns"], gone)
        tables[site] = table
    return tables


CASES = ["pre_norm_mean", "post_norm_gelu_learned_first", "tutorial_post_norm"]
TEXT, REMOVED, HEAD = 2, (3, 4), 1  # the text; which of its tokens the donor lacks; the head that is carried


def make_case(folder):
    subject = Subject(folder)
    with open(os.path.join(folder, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    ids = golden["ids"][TEXT]
    layers, labels = subject.config["encoder_layers"], len(subject.config["labels"])
    seen = recorded(subject, ids)
    expected = load(os.path.join(folder, "golden.safetensors"))["logits"][TEXT]
    assert (seen["logits"] - expected).abs().max() < 1e-5, "another run than the golden's"
    label = int(seen["logits"].argmax())
    weights_of_y = contrast(label, labels)

    stream = [seen[f"encoder.layers.{layer}.input"] for layer in range(layers)] + [seen["stream"]]
    tensors = {"rollout": rollout([seen[f"encoder.layers.{layer}.self_attn.weights"] for layer in range(layers)])}
    tensors["value_norms.heads"], tensors["value_norms.layers"] = value_norms(seen, layers)
    tensors["lens.logits"] = torch.stack([subject.head(x) for x in stream])
    tensors["lens.token_logits"] = torch.stack(
        [torch.stack([subject.head(row[None]) for row in x]) for x in stream])
    tensors["ledger.written"], tensors["ledger.read"] = ledger(subject, ids, weights_of_y)
    tensors["ledger.effects"] = effects(subject, ids, weights_of_y)

    # The donor lacks two of the text's tokens and has another one in place of a third.
    donor = [token for place, token in enumerate(ids) if place not in REMOVED]
    donor[-1] = next(token for token in range(len(golden["ids"][0])) if token not in ids)
    donor_of, columns, following = [], [], 0
    for place in range(len(ids)):
        donor_of.append(None if place in REMOVED else following)
        if place not in REMOVED:
            columns.append(place)
            following += 1
    plan = {"donor_of": donor_of, "base_columns": list(range(len(ids))), "donor_columns": columns, "head": HEAD}
    for site, table in transplant(subject, ids, donor, plan, weights_of_y).items():
        tensors[f"transplant.{site}"] = table
    values = {"base": ids, "donor": donor}
    values = {f"{name}_value": (weights_of_y @ subject(of, positions=plan[f"{name}_columns"])).item()
              for name, of in values.items()}

    safetensors_io.save(os.path.join(folder, "explain.safetensors"),
                        {name: tensor.detach().contiguous().numpy() for name, tensor in tensors.items()})
    write_json(os.path.join(folder, "explain.json"), {
        "text": TEXT, "label": label, "value": (weights_of_y @ seen["logits"]).item(),
        "columns": columns_of(subject.config), "transplant": {"donor": donor, **plan, **values}})
    print(f"{os.path.basename(folder)}: {len(ids)} tokens, y {(weights_of_y @ seen['logits']).item():.3f}")


def main():
    goldens = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "../../tests/golden")
    for name in CASES:
        make_case(os.path.join(goldens, name))


if __name__ == "__main__":
    main()
