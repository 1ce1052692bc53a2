"""The modules of sentence-transformers, in torch: they map a model's last hidden states to a vector."""

import torch

import tokens
from traces import near

OLD_MODES = {"pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max",
             "pooling_mode_mean_tokens": "mean", "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
             "pooling_mode_weightedmean_tokens": "weightedmean", "pooling_mode_lasttoken": "lasttoken"}


def weighted(x, first):
    weights = torch.arange(1, x.shape[0] + 1).to(x)[first:, None]
    return (x[first:] * weights).sum(0) / weights.sum()


# Poolings of all tokens [T, d_model] without those before `first`.
POOLINGS = {
    "cls": lambda x, first: x[first],
    "max": lambda x, first: x[first:].max(0).values,
    "mean": lambda x, first: x[first:].mean(0),
    "mean_sqrt_len_tokens": lambda x, first: x[first:].sum(0) / x[first:].shape[0] ** 0.5,
    "weightedmean": weighted,
    "lasttoken": lambda x, first: x[-1],
}


def pool(config, hidden, first):
    modes = config.get("pooling_mode") or [mode for key, mode in OLD_MODES.items() if config.get(key)]
    modes = [modes] if isinstance(modes, str) else modes
    first = 0 if config.get("include_prompt", True) else first
    return torch.cat([POOLINGS[mode](hidden, first) for mode in modes])


def dense(config, weights, x):
    x = torch.nn.functional.linear(x, weights["linear.weight"].float(),
                                   weights["linear.bias"].float() if config.get("bias", True) else None)
    path = config.get("activation_function", "torch.nn.modules.activation.Tanh")
    return getattr(torch.nn, path.split(".")[-1])()(x)


def layer_norm(config, weights, x):
    return torch.nn.functional.layer_norm(x, (config["dimension"],), weights["norm.weight"].float(),
                                          weights["norm.bias"].float())


def normalize(_, weights, x):
    return torch.nn.functional.normalize(x, dim=0, eps=1e-12)


STEPS = {"Dense": dense, "LayerNorm": layer_norm, "Normalize": normalize}


def vectors(files, hidden, first):
    """Returns the vector before and after a final Normalize."""
    before = after = None
    for module in files["modules.json"]:
        name, path = module["type"].split(".")[-1], module["path"]
        config, weights = (files.get(f"{path}/{file}", {}) for file in ("config.json", "model.safetensors"))
        if name == "Pooling":
            before = after = pool(config, hidden, first)
        elif name != "Transformer":
            after = STEPS[name](config, weights, after)
            before = before if name == "Normalize" else after
    ends = files["modules.json"][-1]["type"].endswith("Normalize")
    return (before if ends else after), after


def prompted(results):
    """Yields, for every text with its prompt, the index, the entry, the model's inputs and the prompt's token count."""
    prompts = results.variant.files["config_sentence_transformers.json"]["prompts"]
    default = results.variant.files["config_sentence_transformers.json"]["default_prompt_name"]
    for index, (text, name) in enumerate(results.variant.texts):
        prompt = prompts[name or default]
        cut, entry = tokens.encoded(results.tokenizer, prompt + text)
        alone = tokens.encoded(results.tokenizer, prompt)[1]["ids"]
        first = len(alone) - (alone[-1] in results.tokenizer.all_special_ids)
        before = tokens.units(prompt)[-1]
        entry["offsets"] = [place and [max(0, unit - before) for unit in place] for place in entry["offsets"]]
        entry = {"text": text} | ({"promptName": name} if name else {}) | entry
        results.texts.append(entry)
        yield index, entry, results.inputs(cut), first


def embed(results):
    files = results.variant.files
    with_prompts = "prompts" in files["config_sentence_transformers.json"]
    texts = prompted(results) if with_prompts else ((*each, 0) for each in results.each())
    embeddings = []
    for index, entry, inputs, first in texts:
        output = results.run(inputs)
        hidden = output.last_hidden_state[0]
        results.keep(f"last_hidden_state.{index}", hidden)
        results.attention(index, output)
        if index == results.variant.traced:
            results.trace(index, inputs)
        before, after = vectors(files, hidden, first)
        results.keep(f"pooled.{index}", before)
        results.keep(f"embedding.{index}", after)
        embeddings.append(after)
    if not with_prompts:
        results.check_batch("last_hidden_state")
    both = torch.nn.functional.normalize(torch.stack(embeddings), dim=1)
    near(both.norm(dim=1), torch.ones(len(both)))
    results.keep("similarity", both @ both.T)
    return {"normalized": files["modules.json"][-1]["type"].endswith("Normalize")}
