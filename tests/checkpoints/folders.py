"""Writes checkpoint folders in their published form, with tiny random weights."""

import json
import shutil

import torch
from safetensors.torch import load_file, save_file

import tokens

# The tokens that generation_config.json names.
GENERATION_KEYS = {"generate": ("bos_token_id", "eos_token_id"),
                   "text2text": ("decoder_start_token_id", "eos_token_id", "pad_token_id")}
LAST_NORMS = ("decoder.final_layer_norm", "model.norm", "gpt_neox.final_layer_norm")
DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def gain(name, variant):
    if name.split(".")[-1] in ("classifier", "out_proj", "qa_outputs"):
        return 3.2
    if name in ("lm_head", "embed_out") and variant.family.formula:
        return 2.4
    if name.split(".")[-1] == "q":  # this family does not divide the scores
        return 0.6
    # In models with an answer per token, layers add less, so that the tokens don't become alike.
    added = name.endswith(("output.dense", "out_lin", "lin2", "Wo"))
    return 0.8 if added and variant.task == "tokens" else 1.6


def randomize(model, variant):
    """Sets weights with which every head and every label matter; the library's own weights are nearly flat.

    F32, F16 and BF16 hold all values exactly, so the same goldens are valid for each.
    """
    random = torch.Generator().manual_seed(variant.seed)
    for name, module in model.named_modules():
        for kind, parameter in module.named_parameters(recurse=False):
            value = torch.randn(parameter.shape, generator=random)
            if isinstance(module, torch.nn.Embedding):
                value *= variant.embeddings
            elif type(module).__name__.endswith(("LayerNorm", "RMSNorm")) and kind == "weight":
                value = 1 + 0.2 * value
                if name.endswith("ln_f") or name in LAST_NORMS:  # otherwise texts repeat themselves
                    value *= torch.randint(0, 2, value.shape, generator=random) * 2 - 1
                if type(module).__name__.startswith("Gemma"):
                    value -= 1  # the library adds 1
            elif parameter.dim() > 1:
                inputs = parameter.shape[0] if type(module).__name__ == "Conv1D" else parameter[0].numel()
                value *= gain(name, variant) / inputs ** 0.5
            else:
                value *= 0.2
            value = value.bfloat16().float()
            value = (value * 2**24).round() / 2**24
            assert torch.equal(value.half().float(), value) and torch.equal(value.bfloat16().float(), value)
            parameter.data.copy_(value)
    if hasattr(model, "final_logits_bias"):
        value = 0.2 * torch.randn(model.final_logits_bias.shape, generator=random)
        model.final_logits_bias.copy_(value.bfloat16().float())
    if variant.task == "text2text" or variant.task == "generate" and variant.family.formula:
        ends = (variant.generation or {}).get("eos_token_id", model.config.eos_token_id)
        model.get_output_embeddings().weight.data[ends] *= 2  # texts end
    return model.eval()


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def text_of(value):
    """Returns the text of expected.json, with one line per text."""
    value = dict(value)
    texts = value.pop("texts", None)
    head = json.dumps(value, ensure_ascii=False)
    if texts is None:
        return head + "\n"
    lines = ",\n  ".join(json.dumps(text, ensure_ascii=False, separators=(",", ":")) for text in texts)
    return f'{head[:-1]}, "texts": [\n  {lines}\n]}}\n'


def build(variant, config):
    """Returns the library's model. It ties an output matrix that was not read from a file."""
    model = variant.model_class(config)
    if variant.own_output:
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    return model


def write(variant, folder):
    """Writes the variant's checkpoint: as the library saves it, then with the variant's changes."""
    shutil.rmtree(folder, ignore_errors=True)
    whole, folder = folder, folder / variant.transformer
    folder.mkdir(parents=True)
    config = variant.family.config(**variant.settings())
    model = randomize(build(variant, config), variant)
    model.to(DTYPES[variant.dtype]).save_pretrained(folder, max_shard_size=variant.shard_size)
    if variant.tensors:
        tensors = load_file(folder / "model.safetensors")
        tensors = {name: tensor.contiguous() for name, tensor in variant.tensors(tensors).items()}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    written = json.loads((folder / "config.json").read_text())
    write_json(folder / "config.json", variant.config(written) if variant.config else written)
    tokens.write(variant, folder)
    if variant.generation is None:
        (folder / "generation_config.json").unlink()
    elif variant.task in GENERATION_KEYS:
        ids = {key: getattr(config, key) for key in GENERATION_KEYS[variant.task]}
        write_json(folder / "generation_config.json", ids | variant.generation)
    for name, value in variant.files.items():
        path = whole / name
        path.parent.mkdir(exist_ok=True)
        if name.endswith(".safetensors"):
            save_file(value, path, metadata={"format": "pt"})
        else:
            write_json(path, value)


def load(variant, folder):
    """Loads the folder with the library. No tensor may be missing, and no tensor may be left over that the
    variant did not add on purpose."""
    model, info = variant.model_class.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"], (variant.name, info)
    assert set(info["unexpected_keys"]) <= set(variant.unused), (variant.name, info["unexpected_keys"])
    original = randomize(build(variant, model.config), variant).state_dict()
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, original[name]), (variant.name, name)
    return model.eval()
