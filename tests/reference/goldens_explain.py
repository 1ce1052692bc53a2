"""Writes explain.safetensors and explain.json for some goldens: explanations of those tiny models, which src/explain
must reproduce.

    /usr/bin/python3 tests/reference/goldens_explain.py       needs python3-torch, python3-sentencepiece

The models are some of tests/golden, and published ones of tests/checkpoints, which have poolers, token types and
embedding norms. Their files are named expected.explain.*.

The models run one text at a time, without padding, in float64. The ledger comes from autograd: every vector that is
added to the residual stream is a leaf, norms divide by a detached scale, and a leaf's part is its gradient times
itself. src/explain propagates the gradient with its own code. A transplant is a complete run with one row replaced;
src/explain resumes from a layer. Texts with words left out or with cut edges are complete runs, too
(explain_searches.py). Before it writes anything, this program checks the run against golden.safetensors or the answers
of the original library, and the ledger against its sum.

explain.safetensors, of text "text", T tokens:
    rollout [T, T], value_norms.heads [L, H, T, T], value_norms.layers [L, T, T]
    lens.logits [L + 1, C], lens.token_logits [L + 1, T, C]
    ledger.written, ledger.read [T, columns], ledger.effects [columns]     columns: see explain.json
    transplant.SITE [L + 1 or L, T]     y with the donor's vector, for tokens that have a partner; for others, y without
                                        the token from that layer on (residual), or 0
    faithfulness.ORDER.CURVE            ORDER order, leave_one_out; CURVE deletion, insertion [points], score [1],
                                        comprehensiveness, sufficiency [4]
    faithfulness.losses [words], faithfulness.random [orders]      scores of random orders
    many_words....                      the same for a text with enough words that curves have quantiles
    edges.CUT [edges + 1]               the fall of y without each edge by itself, then y without all of them
    circuit.kept [L, H, T, T]           1 for edges of the circuit
    circuit.numbers [4]                 y with everything, with only the circuit, without any edge; second / first
explain.json:
    text, label, value, columns         value: y, the explained number; text: an index of golden.json or expected.json
    transplant                          {base, donor: ids, donor_of, base_columns, donor_columns, base_value,
                                        donor_value, head}; published models also have base_text and donor_text
    faithfulness                        {words, scores: of tokens, probability, orders, seed, counts}
    many_words                          like faithfulness, with text, ids and label
    edges                               [[layer, head, query, key]]
    circuit                             {text, least, label, heads: [[layer, head]]}
"""

import os

import sentencepiece
import torch

from explain_searches import Circuit, cut_edges, faithfulness, points
from explain_subjects import Text, ours, published
from files import TESTS, load, read_json, save, write_json

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def recorded(subject, text):
    seen = {}

    def see(name, x):
        seen[name] = x
        return x

    seen["logits"] = subject(text, see)
    return seen


def contrast(label, labels):
    """Returns c with y = c · logits: the log-odds of two classes, or the logit minus the mean of all logits."""
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


def columns_of(subject):
    config, names = subject.config, ["embed_tokens", "embed_positions"]
    if "encoder.embed_types.weight" in subject.weights:
        names.append("embed_types")
    for layer in range(config["encoder_layers"]):
        for site in subject.sites:
            name = f"layers.{layer}.{site}"
            names += [name] if site in subject.units else [f"{name}.head.{head}" for head in range(config["n_heads"])]
        names.append(f"layers.{layer}.fc2")
    return names + ["bias"]


def ledger(subject, text, of_y):
    """Returns the ledger: written and read [T, columns]. A decoder with an encoder has T + S rows."""
    length = len(text)
    leaves, seen = {}, {}
    writers = ("encoder.embed_tokens", "encoder.embed_positions", "encoder.embed_types", ".heads", ".fc2.product",
               *(f".{unit}.output" for unit in subject.units))

    def see(name, x):
        seen[name] = x.detach()
        if name.endswith(writers) or name.startswith("bias."):
            leaves[name] = x.detach().clone().requires_grad_()
            return leaves[name]
        return x

    y = of_y @ subject(text, see, frozen=True)
    y.backward()
    parts = {name: (leaf.grad * leaf.detach()).sum(-1) for name, leaf in leaves.items()}
    columns = columns_of(subject)
    written = torch.zeros(length + subject.sources(), len(columns))
    read = torch.zeros_like(written)
    for c, column in enumerate(columns[:-1]):
        if ".head." in column:
            name, head = column.split(".head.")
            grad = leaves[f"encoder.{name}.heads"].grad[:, int(head)]  # [T, D]
            a, f = seen[f"encoder.{name}.weights"][int(head)], seen[f"encoder.{name}.transformed"][:, int(head)]
            written[:length, c] = parts[f"encoder.{name}.heads"][:, int(head)]
            keys = slice(length, None) if "encoder_attn" in name else slice(length)
            read[keys, c] = (a * (grad @ f.T)).sum(0)
        elif column.endswith(subject.units):
            written[:length, c] = parts[f"encoder.{column}.output"]
            grad = leaves[f"encoder.{column}.output"].grad
            read[:length, c] = torch.einsum("td,tjd->j", grad, seen[f"encoder.{column}.read"])
        else:
            name = f"encoder.{column}.product" if column.endswith("fc2") else f"encoder.{column}"
            written[:length, c] = read[:length, c] = parts[name]
    of_head = of_y @ subject.weights["classifier.bias"] + parts.pop("bias.head.dense", 0)
    biases = sum(part for name, part in parts.items() if name.startswith("bias."))
    written[:length, -1] = read[:length, -1] = biases + subject.shares(length) * of_head
    for view in (written, read):
        assert abs(view.sum() - y).item() < 1e-11, "the ledger does not add up"
    return written, read


def effects(subject, text, of_y):
    y, results = of_y @ subject(text), []
    for column in columns_of(subject):
        def see(name, x):
            if ".head." in column and name == f"encoder.{column.split('.head.')[0]}.context":
                x = x.clone()
                x[:, int(column.split(".head.")[1])] = 0
            elif name == f"encoder.{column}" or (column.endswith(subject.units) and name == f"encoder.{column}.output"):
                x = torch.zeros_like(x)
            return x

        results.append(0.0 if column == "bias" else (y - of_y @ subject(text, see)).item())
    return torch.tensor(results)


def transplant(subject, base, donor, plan, of_y):
    """Returns {site: y of every cell}. Each cell is a complete run."""
    layers, head = subject.config["encoder_layers"], plan["head"]
    others = recorded(subject, donor)

    def run(name, token, source, only=None):
        def see(at, x):
            if at == name:
                x = x.clone()
                if only is None:
                    x[token] = others[name][source]
                else:
                    x[token, only] = others[name][source, only]
            return x

        return of_y @ subject(base, see)

    sites = {"residual": ".input", "attention": ".self_attn.output", "feed_forward": ".fc2", "head": ".self_attn.context"}
    tables = {}
    for site, suffix in sites.items():
        rows = layers + (site == "residual")
        table = torch.zeros(rows, len(base))
        for layer in range(rows):
            name = "stream" if layer == layers else f"encoder.layers.{layer}{suffix}"
            for token, source in enumerate(plan["donor_of"]):
                if source is not None:
                    table[layer, token] = run(name, token, source, head if site == "head" else None)
                elif site == "residual":
                    gone = lambda at: [token] if at >= layer else []
                    table[layer, token] = of_y @ subject(base, without=gone)
        tables[site] = table
    return tables


def side_by_side(base, donor, donor_of):
    """Returns a plan: the tokens of a pair have the same position; other tokens of the base come before those of the
    donor.
    """
    plan, columns = {"donor_of": donor_of, "base_columns": [], "donor_columns": []}, 0
    for source in [*donor_of, len(donor)]:
        while source is not None and len(plan["donor_columns"]) < source:
            plan["donor_columns"].append(columns)
            columns += 1
        if len(plan["base_columns"]) == len(base):
            break
        plan["base_columns"].append(columns)
        if source is not None:
            plan["donor_columns"].append(columns)
        columns += 1
    return {"base": base, "donor": donor, **plan, "head": HEAD}


def edges_of(subject, length):
    """Returns some edges of every layer, also of the first token, because it may be the only pooled one; and all edges
    of one query and head.
    """
    layers, heads = subject.config["encoder_layers"], subject.config["n_heads"]
    some = [[layer, (layer + 1) % heads, query, (3 * query + 5 * layer + 1) % length]
            for layer in range(layers) for query in (0, 2, length - 1)]
    return some + [[layers - 1, 0, 0, length - 2]] + [[0, 0, 1, key] for key in range(length)]


def words_by_pieces(pieces):
    """Groups tokens into words. A word begins at a piece with SentencePiece's space mark."""
    words = []
    for token, piece in enumerate(pieces):
        if piece.startswith("\u2581"):
            words.append([])
        words[-1].append(token)
    return words


def words_by_ranges(entry):
    """Groups tokens into words. Adjacent letters of one text are a word, and so are adjacent other characters."""
    words, before = [], None
    for token, place in enumerate(entry["offsets"]):
        if place is None:
            before = None
            continue
        which = entry.get("sequences", [0] * len(entry["ids"]))[token]
        text = entry["pair" if which == 1 else "text"][place[0] : place[1]]
        if before != (which, place[0], text.isalnum()):
            words.append([])
        words[-1].append(token)
        before = (which, place[1], text.isalnum())
    return words


def scores_of(length):
    """Returns a score per token: quarters, so that sums are exact. Some scores are equal."""
    return [((5 * token) % 7 - 3) / 4 for token in range(length)]


def circuit(subject, text, least):
    """Returns the tensors of a circuit, and its entry of explain.json."""
    logits, seen = subject(text), recorded(subject, text)
    norms, _ = value_norms(seen, subject.config["encoder_layers"])
    of_y = contrast(int(logits.argmax()), len(logits))
    found = Circuit(subject, text, norms, of_y, least).search()
    heads = found.kept.sum((2, 3)).nonzero().tolist()
    assert heads, "the circuit is empty: choose another text"
    return {"circuit.kept": found.kept, "circuit.numbers": found.numbers()}, {"label": found.label, "heads": heads}


def explanations(subject, text, of_y, transplants, words, probability):
    """Returns all other tensors, and the entries of explain.json."""
    layers, seen = subject.config["encoder_layers"], recorded(subject, text)
    stream = [seen[f"encoder.layers.{layer}.input"] for layer in range(layers)] + [seen["stream"]]
    tensors = {"rollout": rollout([seen[f"encoder.layers.{layer}.self_attn.weights"] for layer in range(layers)])}
    tensors["value_norms.heads"], tensors["value_norms.layers"] = value_norms(seen, layers)
    tensors["lens.logits"] = torch.stack([subject.head(x) for x in stream])
    tensors["lens.token_logits"] = torch.stack(
        [torch.stack([subject.head(row[None]) for row in x]) for x in stream])
    tensors["ledger.written"], tensors["ledger.read"] = ledger(subject, text, of_y)
    tensors["ledger.effects"] = effects(subject, text, of_y)

    base, donor = (Text(transplants[name], positions=transplants[f"{name}_columns"]) for name in ("base", "donor"))
    of_label = contrast(int(subject(base).argmax()), len(of_y))
    for site, table in transplant(subject, base, donor, transplants, of_label).items():
        tensors[f"transplant.{site}"] = table
    values = {f"{name}_value": (of_label @ subject(of)).item() for name, of in (("base", base), ("donor", donor))}

    left_out, plan = left_out_words(subject, text, of_y, words, probability)
    tensors |= {f"faithfulness.{name}": x for name, x in left_out.items()}
    edges = edges_of(subject, len(text))
    tensors |= {f"edges.{cut}": x for cut, x in cut_edges(subject, text, edges, of_y).items()}
    return tensors, {
        "label": int(of_y.argmax()), "value": (of_y @ seen["logits"]).item(), "columns": columns_of(subject),
        "transplant": transplants | values, "faithfulness": plan, "edges": edges}


def left_out_words(subject, text, of_y, words, probability):
    plan = {"words": words, "scores": scores_of(len(text)), "probability": probability, "orders": 4, "seed": 7,
            "counts": points(len(words))}
    return faithfulness(subject, text, plan, of_y), plan


def write(path, tensors, plan):
    save(f"{path}.safetensors", tensors)
    write_json(f"{path}.json", plan)
    kept = int(tensors["circuit.kept"].sum()), tensors["circuit.kept"].numel()
    print(f"{os.path.relpath(path, TESTS)}: y {plan['value']:.3f}, {len(plan['faithfulness']['words'])} words, {kept[0]} of {kept[1]} edges")


# Models of tests/golden: the text of the circuit, and the share of y that it keeps.
CASES = {"pre_norm_mean": (3, 0.8), "post_norm_gelu_learned_first": (3, 0.9), "tutorial_post_norm": (3, 0.9)}
TEXT, REMOVED, HEAD = 2, (3, 4), 1  # the text; its tokens that the donor lacks; the head that is transplanted
MANY_WORDS = "a an i m b t g w no fi l o f p it s sc jo cri with last sho br to ca".split()


def many_words(subject, pieces):
    text = " ".join((MANY_WORDS * 2)[:45])
    ids = pieces.encode(text)
    words = words_by_pieces(pieces.id_to_piece(ids))
    assert len(ids) == len(words) == 45
    of_y = contrast(int(subject(Text(ids)).argmax()), len(subject.config["labels"]))
    tensors, plan = left_out_words(subject, Text(ids), of_y, words, "softmax")
    return ({f"many_words.{name}": x for name, x in tensors.items()},
            {"text": text, "ids": ids, "label": int(of_y.argmax()), **plan})


def make_case(name, circuit_text, least):
    folder = os.path.join(TESTS, "golden", name)
    subject, golden = ours(folder), read_json(folder, "golden.json")
    ids = golden["ids"][TEXT]
    text = Text(ids)
    logits = subject(text)
    expected = load(os.path.join(folder, "golden.safetensors"))["logits"][TEXT]
    assert (logits - expected).abs().max() < 1e-5, "the run differs from the golden"
    of_y = contrast(int(logits.argmax()), len(subject.config["labels"]))

    # The donor lacks two tokens of the text and replaces a third one.
    donor = [token for place, token in enumerate(ids) if place not in REMOVED]
    donor[-1] = next(token for token in range(len(golden["ids"][0])) if token not in ids)
    donor_of, following = [], 0
    for place in range(len(ids)):
        donor_of.append(None if place in REMOVED else following)
        following += place not in REMOVED

    pieces = sentencepiece.SentencePieceProcessor(os.path.join(folder, "tokenizer.model"))
    prefix = len(subject.config["prefix_tokens"])
    words = [[token + prefix for token in word] for word in words_by_pieces(pieces.id_to_piece(ids[prefix:]))]
    tensors, plan = explanations(subject, text, of_y, side_by_side(ids, donor, donor_of), words, "softmax")
    if name == "pre_norm_mean":
        more, plan["many_words"] = many_words(subject, pieces)
        tensors |= more
    found, of_circuit = circuit(subject, Text(golden["ids"][circuit_text]), least)
    plan["circuit"] = {"text": circuit_text, "least": least, **of_circuit}
    write(os.path.join(folder, "explain"), tensors | found, {"text": TEXT, **plan})


# Models of tests/checkpoints: a text of expected.json, the function of probabilities, the text of the circuit, and the share
# of y that it keeps.
PUBLISHED = {
    "bert_sequence": (7, "softmax", 9, 0.8),
    "bert_many_labels": (0, "sigmoid", 2, 0.8),
    "distilbert_sequence": (6, "softmax", 2, 0.8),
}
# Two texts with the ids of all three models. "very long" and "old" are unpaired; "not" and "very", "." and "!" are pairs.
BASE = {"the very long film is not good.": [2, 212, 279, 340, 232, 222, 256, 336, 12, 3]}
DONOR = {"the old film is very good!": [2, 212, 291, 232, 222, 279, 336, 5, 3]}
DONOR_OF = [0, 1, None, None, 3, 4, 5, 6, 7, 8]


def make_published(name, index, probability, circuit_text, least):
    folder = os.path.join(TESTS, "checkpoints", name)
    subject, expected = published(folder), read_json(folder, "expected.json")
    check_published(subject, expected, load(os.path.join(folder, "expected.safetensors")))
    texts = [Text(entry["ids"], entry["types"]) for entry in expected["texts"]]
    text = texts[index]
    of_y = contrast(int(subject(text).argmax()), len(expected["labels"]))
    (base_text, base), (donor_text, donor) = (*BASE.items(), *DONOR.items())
    transplants = {"base_text": base_text, "donor_text": donor_text, **side_by_side(base, donor, DONOR_OF)}
    words = words_by_ranges(expected["texts"][index])
    tensors, plan = explanations(subject, text, of_y, transplants, words, probability)
    found, of_circuit = circuit(subject, texts[circuit_text], least)
    plan["circuit"] = {"text": circuit_text, "least": least, **of_circuit}
    write(os.path.join(folder, "expected.explain"), tensors | found, {"text": index, **plan})


def check_published(subject, expected, tensors):
    """Compares attention and logits of every text, and the pooler of traced texts, with the original library."""
    for index, entry in enumerate(expected["texts"]):
        seen = recorded(subject, Text(entry["ids"], entry["types"]))
        maps = torch.stack([seen[f"encoder.layers.{layer}.self_attn.weights"]
                            for layer in range(subject.config["encoder_layers"])])
        pairs = [(maps, f"attention.{index}"), (seen["logits"], f"logits.{index}")]
        pairs += [(seen["head.dense"], f"{index}/head.dense")] if f"{index}/head.dense" in tensors else []
        for got, name in pairs:
            assert (got - tensors[name]).abs().max() < 2e-5, f"the run differs from the library's: {name}"


def main():
    for name, case in CASES.items():
        make_case(name, *case)
    for name, case in PUBLISHED.items():
        make_published(name, *case)


if __name__ == "__main__":
    main()
