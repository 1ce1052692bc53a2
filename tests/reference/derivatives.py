"""The explained number y of a golden, its gradients and those of a loss, and their files. It is shared by
goldens_gradients.py and tests/checkpoints/gradients.py, and needs only torch.

y is a sum of logits times weights. A contrast is its list of [row, index, weight]: logits[row][index] counts `weight`
times. The logits of one text are a single row 0.

In tests/checkpoints the names of the files begin with "expected.". gradients.safetensors, float32:
    trace/NAME          the gradient of y with respect to each tensor of a trace, in its shape. Equal gradients are
                        stored once (`same`). A decoder's logits are left out: their gradient is the contrast
    parameter/NAME      the gradient of y with respect to each parameter, under our name. A shared table has the sum
gradients.json:
    text                the index of the text in the model's other golden; null if it has none with these ids
    ids, types          the input; types are null if the model has none. If a model continues texts, only the first
                        tokens of the text
    target_ids          with an encoder and a decoder: what the decoder reads, from the start token on
    y, contrast
    rows                {parameter: rows}: of these tables only the named rows are stored; the other rows are 0
    same                {name: name of another tensor of the trace with the same gradient, which is stored}
integrated.json has the integrated gradients of the embeddings, of a decoder's next token:
    text, target_ids, contrast      as above
    kept                ids whose embeddings do not change
    baseline_token      the id whose embedding the others begin with; null: zeros
    scores              of each token that the decoder reads, then of each token of the source; 0 for the ids in `kept`
    value, baseline     y, and y with the embeddings at the beginning
    gap, steps          value - baseline - the sum of the scores, for this number of steps
loss.safetensors has parameter/NAME: the gradients of a loss. loss.json:
    ids, types, target_ids      one list per text
    labels              one label per text, or a list with one label per row of the logits; a null row does not count
    smoothing, loss     the mean of the cross-entropies of all labels, with smoothed labels: the right one has
                        1 - smoothing + smoothing / C, any other smoothing / C
    rows
"""

import os
import random

import torch
import torch.nn.functional as F

from files import save, write_json

SMOOTHING = 0.1
TABLES = ("embed_tokens.weight", "embed_positions.weight", "embed_types.weight", "lm_head.weight")


def chosen_text(lengths):
    """Returns the index of the explained text: the first of 4 to 13 tokens, or else the shortest of more, because the
    files should be small. None: there is none.
    """
    middling = [i for i, length in enumerate(lengths) if 4 <= length <= 13]
    longer = [i for i, length in enumerate(lengths) if length > 13]
    return middling[0] if middling else min(longer, key=lambda i: lengths[i], default=None)


# ---------------------------------------------------------------- contrasts


def of_classes(logits, row=0):
    """Returns the contrast of the best class of a row: against the other one of two classes, or against the mean of
    all. A single class counts by itself.
    """
    z = logits[row]
    best, count = int(z.argmax()), len(z)
    if count > 1:
        check_gap(z)
    if count == 2:
        return [[row, best, 1.0], [row, 1 - best, -1.0]]
    return [[row, i, (i == best) - (1 / count if count > 1 else 0)] for i in range(count)]


def of_tokens(logits):
    """Returns the contrast of the token with index 1, or of the only token."""
    return of_classes(logits, min(1, len(logits) - 1))


def of_next(logits):
    """Returns the contrast of the best token after the last row against the second."""
    check_gap(logits[-1])
    best, second = logits[-1].topk(2).indices.tolist()
    return [[len(logits) - 1, best, 1.0], [len(logits) - 1, second, -1.0]]


def of_span(logits, rows):
    """Returns the contrast of an answer: the best start plus the best end. `rows` belong to the context."""
    contrast = []
    for side in (0, 1):
        check_gap(logits[rows, side])
        contrast.append([rows[int(logits[rows, side].argmax())], side, 1.0])
    return contrast


def check_gap(z):
    """Checks that the best number exceeds the others by more than any rounding."""
    best = z.topk(2).values
    assert best[0] - best[1] > 1e-4, "a tie: float32 might choose otherwise"


def value(contrast, logits):
    return sum(weight * logits[row, index] for row, index, weight in contrast)


# ---------------------------------------------------------------- gradients


def gradients(y, tensors):
    """Returns {name: gradient of y}. It is 0 for a tensor that y does not depend on."""
    found = torch.autograd.grad(y, list(tensors.values()), retain_graph=True, allow_unused=True)
    return {name: torch.zeros_like(x) if gradient is None else gradient
            for (name, x), gradient in zip(tensors.items(), found)}


def integrated(run, ids, kept, baseline_token=None):
    """Returns integrated gradients from zeros, or from the embedding of a token, at the midpoints of 64 steps, or of up
    to 256 until the scores miss the difference of both ends by at most 2 %.

    ids: {stack: ids}. run(ids, moved): y and {stack: embeddings [T, D]}, where moved(stack, x) are set instead of x.
    """
    changes = {stack: torch.tensor([[float(id not in kept)] for id in row]) for stack, row in ids.items()}
    same = lambda stack, x: x
    whole = {stack: x.detach().clone() for stack, x in run(ids, same)[1].items()}
    start = {stack: torch.zeros_like(x) for stack, x in whole.items()}
    if baseline_token is not None:
        start = run({stack: [id if id in kept else baseline_token for id in row] for stack, row in ids.items()}, same)[1]
        start = {stack: x.detach().clone() for stack, x in start.items()}
    way = {stack: changes[stack] * (whole[stack] - start[stack]) for stack in ids}
    at = lambda share: run(ids, lambda stack, x: x - (1 - share) * way[stack])
    value, baseline, steps = at(1.0)[0], at(0.0)[0], 64
    while True:
        sums = {stack: 0 for stack in ids}
        for i in range(steps):
            y, embeddings = at((i + 0.5) / steps)
            for stack, gradient in gradients(y, embeddings).items():
                sums[stack] = sums[stack] + (way[stack] * gradient).sum(-1).flatten() / steps
        scores = torch.cat(list(sums.values()))
        gap = value - baseline - scores.sum()
        if abs(gap) <= 0.02 * abs(value - baseline) or steps == 256:
            break
        steps *= 2
    return {"baseline_token": baseline_token, "scores": [number(x) for x in scores], "value": number(value),
            "baseline": number(baseline), "gap": number(gap), "steps": steps}


def save_integrated(start, header, contrast, kept, found):
    """Writes integrated.json. start: as in save_gradients. header: the text and target_ids."""
    write_json(f"{start}integrated.json", {**header, "contrast": contrast, "kept": sorted(kept), **found})
    print(f"{os.path.basename(os.path.dirname(start))}, integrated: gap {found['gap']:.2e} after {found['steps']} steps")


def smoothed_loss(rows):
    """Returns the mean cross-entropy of [(logits [C], label)], with smoothed labels."""
    logits, labels = torch.stack([z for z, _ in rows]), torch.tensor([label for _, label in rows])
    loss = F.cross_entropy(logits, labels, label_smoothing=SMOOTHING)
    right = torch.full_like(logits, SMOOTHING / logits.shape[1])
    right[range(len(labels)), labels] += 1 - SMOOTHING
    assert abs(loss - -(right * torch.log_softmax(logits, -1)).sum(-1).mean()) < 1e-12
    return loss


def check_differences(run, parameters, found, count=8):
    """Compares gradients with finite differences of `run()`. Changes one element of a parameter at a time: the one with
    the largest gradient, and a random one.
    """
    picked = random.Random(len(parameters))
    step = 1e-5
    for name in picked.sample(sorted(parameters), min(count, len(parameters))):
        flat, gradient = parameters[name].data.view(-1), found[name].reshape(-1)
        for i in (int(gradient.abs().argmax()), picked.randrange(len(flat))):
            before = flat[i].item()
            ends = []
            for change in (step, -step):
                flat[i] = before + change
                with torch.no_grad():
                    ends.append(float(run()))
            flat[i] = before
            difference = (ends[0] - ends[1]) / (2 * step)
            error = abs(difference - float(gradient[i]))
            assert error < 1e-7 * max(1, abs(difference)), f"{name}[{i}]: {difference}, but the gradient is {gradient[i]}"


def check_layers(values, trace, parameters, distances=False):
    """Compares the gradients of matrices with products of a trace's gradients and values, where the trace has both
    sides of a linear layer. Compares the gradients of biases with sums over the rows, those of scores with the formula
    for softmax, and those of q with those of k: a product has the same share in each, unless scores have further
    products, with `distances`.
    """
    products = 0
    for name, gradient in trace.items():
        if name.endswith(".scores"):
            weights, of_weights = (x[name.replace(".scores", ".weights")] for x in (values, trace))
            near(name, gradient, weights * (of_weights - (weights * of_weights).sum(-1, keepdim=True)))
            if distances:
                continue
            q, k = ((values[part] * trace[part]).sum((0, 2)) for part in (name.replace(".scores", f".{x}") for x in "qk"))
            near(name, q.view(len(k), -1).sum(1), k)  # one head of k may serve several of q
        if name.endswith(".v") and f"{name}_proj.bias" in parameters:
            near(name, gradient.flatten(1).sum(0), parameters[f"{name}_proj.bias"])
        if name.endswith(".fc2"):
            layer, read = name, values[name.replace(".fc2", ".fc1")]
        elif name.endswith(("_attn.output", "attn.output")) and name.replace(".output", ".context") in values:
            layer, read = name.replace(".output", ".out_proj"), values[name.replace(".output", ".context")].flatten(1)
        else:
            continue
        near(layer, gradient.T @ read, parameters[f"{layer}.weight"])
        if f"{layer}.bias" in parameters:
            near(layer, gradient.sum(0), parameters[f"{layer}.bias"])
        products += 1
    assert products, "the trace has no linear layer"


def check_trace(trace):
    """Checks that a tensor with two names has one gradient, and that a row of attention weights can be shifted."""
    for name, gradient in trace.items():
        if name.endswith(".input") and ".layers.0." not in name:
            stack, layer = name.removesuffix(".input").split(".layers.")
            near(name, gradient, trace[f"{stack}.layers.{int(layer) - 1}.output"])
        if name.endswith(".layers.0.input"):
            near(name, gradient, trace[name.replace("layers.0.input", "embeddings")])
        if name.endswith(".scores"):  # adding a number to a whole row of scores changes nothing
            near(name, gradient.sum(-1), torch.zeros_like(gradient[..., 0]))


def near(name, a, b, tolerance=1e-9):
    error = float((a - b).abs().max())
    assert a.shape == b.shape and error <= tolerance * max(1.0, float(b.abs().max())), f"{name}: off by {error}"


# ---------------------------------------------------------------- files


def with_rows(parameters):
    """Returns the parameters, with only the rows of tables that are not 0, and those rows."""
    kept, rows = {}, {}
    for name, gradient in parameters.items():
        used = gradient.flatten(1).any(1).nonzero().flatten() if gradient.dim() > 1 else []
        if name.endswith(TABLES) and len(used) < len(gradient):
            rows[name] = used.tolist()
            gradient = gradient[used]
        kept[f"parameter/{name}"] = gradient
    return kept, rows


def save_gradients(start, header, y, contrast, trace, parameters):
    """Writes gradients.safetensors and gradients.json. start: the beginning of the files' paths. header: the text, its
    ids and types.
    """
    kept, rows = with_rows(parameters)
    stored, same = {}, {}
    for name, gradient in trace.items():
        gradient = gradient.float()
        assert torch.isfinite(gradient).all(), name
        equal = next((other for other, x in stored.items() if torch.equal(x, gradient)), None)
        if equal:
            same[name] = equal
        elif name != "logits" or "decoder.output" not in trace:
            stored[name] = gradient
    kept |= {f"trace/{name}": gradient for name, gradient in stored.items()}
    write(f"{start}gradients", kept, {**header, "y": number(y), "contrast": contrast, "rows": rows, "same": same})


def save_loss(start, header, labels, loss, parameters):
    """Writes loss.safetensors and loss.json. start: as above. header: the ids, and types or target_ids."""
    kept, rows = with_rows(parameters)
    write(f"{start}loss", kept, {**header, "labels": labels, "smoothing": SMOOTHING, "loss": number(loss), "rows": rows})


def write(path, tensors, value):
    save(f"{path}.safetensors", {key: tensor.float() for key, tensor in tensors.items()})
    write_json(f"{path}.json", value)
    size = os.path.getsize(f"{path}.safetensors")
    folder, name = os.path.split(path)
    print(f"{os.path.basename(folder)}, {name}: {value.get('y', value.get('loss')):.4f}, {size // 1024} KB")


def number(x):
    return float(f"{x.item():.12g}")
