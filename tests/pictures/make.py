#!/usr/bin/python3
"""Writes the picture files and the tiny checkpoints of this folder, and what Pillow and the library transformers
make of them: see README.md. It needs python3-transformers (5.12.1), python3-torch and python3-pil from Debian sid.
"""

import copy
import json
import pathlib
import shutil

import PIL
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

import files

HERE = pathlib.Path(__file__).parent
DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}

# Our name: (the library's module in the base model or in a layer, the recorded value).
STACK = {"embeddings": ("embeddings", "out"), "layer_norm": ("layernorm", "out")}
LAYER = {
    "input": ("", "in"),
    "self_attn_layer_norm": ("layernorm_before", "out"),
    "self_attn.q": ("attention.q_proj", "heads"),
    "self_attn.k": ("attention.k_proj", "heads"),
    "self_attn.v": ("attention.v_proj", "heads"),
    "self_attn.context": ("attention.o_proj", "heads in"),
    "self_attn.output": ("attention.o_proj", "out"),
    "self_attn.residual": ("layernorm_after", "in"),
    "final_layer_norm": ("layernorm_after", "out"),
    "fc1": ("mlp.fc2", "in"),
    "fc2": ("mlp.fc2", "out"),
    "output": ("", "out"),
}

SMALL = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40)
COLORS = ["red", "green", "blue", "gray", "none of them"]
PICTURES = ["rgb8.png", "jpeg_large.jpg", "rgba8.png", "jpeg_exif6.jpg", "webp_animated.webp"]


def variant(name, model, processor, seed, *, config=None, steps=None, labels=COLORS, pictures=PICTURES, **more):
    return dict(name=name, model=model, processor=processor, seed=seed, config=SMALL | (config or {}),
                steps=steps, labels=labels, pictures=pictures, **more)


VARIANTS = [
    # The keys of the first version; labels not in order; the second run interpolates positions.
    variant("vit", transformers.ViTForImageClassification, ViTImageProcessorPil, 11,
            config=dict(image_size=16, patch_size=4), steps=dict(size=16, feature_extractor_type="ViTFeatureExtractor"),
            traced=1, sizes=[[24, 20], [8, 16]], disordered=True, dtype="F32"),
    # Neither the picture nor the patches are square, and the pictures are cropped and padded.
    variant("vit_wide", transformers.ViTForImageClassification, ViTImageProcessorPil, 2,
            config=dict(image_size=[12, 20], patch_size=[4, 5], qkv_bias=False, hidden_act="gelu_new",
                        layer_norm_eps=0.01),
            steps=dict(size={"shortest_edge": 14}, resample=1, do_center_crop=True,
                       crop_size={"height": 12, "width": 20}, image_mean=[0.48, 0.45, 0.4],
                       image_std=[0.22, 0.23, 0.25])),
    # One channel, resized by the nearest pixels; the pooler and the mask token are in the file, its names bare.
    variant("vit_gray", transformers.ViTForImageClassification, ViTImageProcessorPil, 3,
            config=dict(image_size=14, patch_size=7, num_channels=1, hidden_act="relu",
                        problem_type="multi_label_classification", hidden_size=16, num_attention_heads=2),
            steps=dict(size={"height": 14, "width": 14}, resample=0, image_mean=0.1307, image_std=0.3081),
            labels=[str(digit) for digit in range(10)], pictures=["gray8.png", "jpeg_large.jpg"], bare=True, dtype="BF16"),
    # Without a preprocessor_config.json.
    variant("vit_defaults", transformers.ViTForImageClassification, ViTImageProcessorPil, 4,
            config=dict(image_size=224, patch_size=16, hidden_act="quick_gelu", hidden_size=8, num_attention_heads=2,
                        intermediate_size=12), pictures=PICTURES[:2], only_logits=True),
    variant("deit", transformers.DeiTForImageClassification, DeiTImageProcessorPil, 8,
            config=dict(image_size=16, patch_size=8), sizes=[[24, 24]],
            steps=dict(size={"height": 20, "width": 18}, crop_size=16, image_processor_type="DeiTImageProcessorFast")),
    variant("deit_teacher", transformers.DeiTForImageClassificationWithTeacher, DeiTImageProcessorPil, 7,
            config=dict(image_size=16, patch_size=8),
            # The bytes themselves are normalized.
            steps=dict(size={"height": 20, "width": 20}, crop_size={"height": 16, "width": 16}, do_rescale=False,
                       image_mean=[120.0, 118, 105], image_std=[58.0, 57, 57.5]), traced=0),
]


def randomize(model, seed):
    """Sets weights with which every head and every label matter. F16 and BF16 hold them exactly."""
    random = torch.Generator().manual_seed(seed)
    for name, module in model.named_modules():
        for kind, parameter in module.named_parameters(recurse=False):
            value = torch.randn(parameter.shape, generator=random)
            if isinstance(module, torch.nn.LayerNorm) and kind == "weight":
                value = 1 + 0.2 * value
            elif kind.endswith(("token", "embeddings")):
                value *= 0.7
            elif parameter.dim() > 1:
                value *= (3.2 if "classifier" in name else 1.6) / parameter[0].numel() ** 0.5
            else:
                value *= 0.2
            parameter.data.copy_(value.bfloat16().float())
    return model.eval()


def traced(model, pixels):
    """Returns the tensors of a run under our names."""
    found, heads = {}, model.config.num_attention_heads

    def record(name, kind):
        def hook(_, inputs, output):
            value = (inputs if "in" in kind.split() else output)
            value = (value[0] if isinstance(value, tuple) else value)[0]
            found[name] = value.reshape(len(value), heads, -1) if "heads" in kind else value
        return hook

    base = model.base_model
    hooks = []
    for name, (path, kind) in STACK.items():
        hooks.append(base.get_submodule(path).register_forward_hook(record(f"encoder.{name}", kind)))
    for i, layer in enumerate(base.layers):
        for name, (path, kind) in LAYER.items():
            module = layer.get_submodule(path) if path else layer
            hooks.append(module.register_forward_hook(record(f"encoder.layers.{i}.{name}", kind)))
    with torch.no_grad():
        output = model(pixel_values=pixels, output_attentions=True)
    for hook in hooks:
        hook.remove()
    embeddings = base.embeddings
    special = [embeddings.cls_token[0]] + ([embeddings.distillation_token[0]]
                                           if hasattr(embeddings, "distillation_token") else [])
    found["encoder.embed_patches"] = torch.cat([*special, embeddings.patch_embeddings(pixels)[0]])
    found["encoder.embed_positions"] = embeddings.position_embeddings[0]
    found["encoder.output"] = found["encoder.layer_norm"]
    for i, weights in enumerate(output.attentions):
        name = f"encoder.layers.{i}.self_attn"
        found[f"{name}.weights"] = weights[0]
        q, k = (found[f"{name}.{part}"].transpose(0, 1) for part in "qk")
        found[f"{name}.scores"] = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    found["pooled"] = found["encoder.output"][0]
    found["logits"] = output.logits[0]
    return found


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def gradients(model, pixels):
    """Returns the gradients of the explained number in float64: the best label's logit minus the mean of all."""
    found = {}

    def keep(name):
        def hook(_, inputs, output):
            output = output[1] if isinstance(output, tuple) else output
            output.retain_grad()
            found[name] = output
        return hook

    base = model.base_model
    hooks = [base.embeddings.register_forward_hook(keep("encoder.embeddings"))]
    hooks += [layer.attention.register_forward_hook(keep(f"encoder.layers.{i}.self_attn.weights"))
              for i, layer in enumerate(base.layers)]
    logits = model(pixel_values=pixels.double()).logits[0]
    (logits.max() - logits.mean()).backward()
    for hook in hooks:
        hook.remove()
    return {name: value.grad[0].float() for name, value in found.items()}


def write(of, folder):
    """Writes the checkpoint: as the library saves it, then with the changes of older files."""
    folder.mkdir(parents=True)
    labels = dict(enumerate(of["labels"]))
    config = of["model"].config_class(**of["config"], id2label=labels,
                                      label2id={label: i for i, label in labels.items()})
    config._attn_implementation = "eager"
    model = randomize(of["model"](config), of["seed"])
    model.to(DTYPES[of.get("dtype", "F16")]).save_pretrained(folder)
    written = json.loads((folder / "config.json").read_text())
    if of.get("disordered"):
        names = written["id2label"]
        written["id2label"] = {key: names[key] for key in sorted(names, key=lambda key: int(key) * 3 % 5)}
    write_json(folder / "config.json", written)
    if of["steps"] is not None:
        write_json(folder / "preprocessor_config.json", of["steps"])


def make_bare(folder):
    """Removes the prefix "vit." and adds tensors that the model does not need, as in a model that was saved with
    other heads. Version 5 of the library does not read such files, but version 4 did."""
    path = folder / "model.safetensors"
    tensors = {name.removeprefix("vit."): tensor for name, tensor in load_file(path).items()}
    tensors |= {"pooler.dense.weight": torch.zeros(16, 16), "embeddings.mask_token": torch.zeros(1, 1, 16)}
    save_file(tensors, path, metadata={"format": "pt"})


def open_picture(name):
    return files.decoded((HERE / "files" / name).read_bytes())


def answer(of, folder):
    model, info = of["model"].from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                              output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"], info
    model = model.eval()
    exact = copy.deepcopy(model).double()
    steps = {key: value for key, value in (of["steps"] or {}).items() if not key.endswith("_type")}
    processor = of["processor"](**steps)
    tensors, entries, worst = {}, [], 0.0
    runs = [(name, None) for name in of["pictures"]]
    runs += [(of["pictures"][1], size) for size in of.get("sizes", [])]
    for i, (name, size) in enumerate(runs):
        image = open_picture(name)
        if getattr(model.config, "vision_config", model.config).num_channels == 1:
            image = image.convert("L")
        changed = dict(size={"height": size[0], "width": size[1]}, do_center_crop=False) if size else {}
        pixels = torch.tensor(processor(images=image, **changed)["pixel_values"][0])[None].float()
        more = dict(interpolate_pos_encoding=True) if size else {}
        with torch.no_grad():
            output = model(pixel_values=pixels, output_attentions=True, **more)
            double = exact(pixel_values=pixels.double(), **more).logits
        worst = max(worst, float((output.logits - double).abs().max()))
        logits = output.logits[0]
        scores = logits.sigmoid() if model.config.problem_type else logits.softmax(-1)
        best = logits.topk(2).values
        assert best[0] - best[1] > 1e-3, (of["name"], name)
        tensors[f"logits.{i}"] = logits
        if not of.get("only_logits"):
            tensors[f"pixels.{i}"] = pixels[0].contiguous()
            tensors[f"attention.{i}"] = torch.cat(output.attentions).contiguous()
        if of.get("traced") == i:
            for key, value in traced(model, pixels).items():
                tensors[f"{i}/{key}"] = value.contiguous().clone()
            for key, value in gradients(exact, pixels).items():
                tensors[f"gradient.{i}/{key}"] = value.contiguous()
        entries.append({"file": name, **({"size": size} if size else {}), "pixels": list(pixels.shape[2:]),
                        "label": model.config.id2label[int(logits.argmax())], "scores": [float(f"{float(s):.9g}") for s in scores]})
    save_file(tensors, folder / "expected.safetensors")
    (folder / "expected.safetensors").chmod(0o644)
    libraries = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0], "PIL": PIL.__version__}
    lines = ",\n  ".join(json.dumps(entry) for entry in entries)
    head = json.dumps({"libraries": libraries, "labels": [model.config.id2label[i] for i in range(len(of["labels"]))]})
    (folder / "expected.json").write_text(f'{head[:-1]}, "pictures": [\n  {lines}\n]}}\n')
    print(f"{of['name']}: float32 against float64 {worst:.1e}; {[entry['label'] for entry in entries]}")


def main():
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    files.write(HERE)
    shutil.rmtree(HERE / "checkpoints", ignore_errors=True)
    for of in VARIANTS:
        write(of, HERE / "checkpoints" / of["name"])
        answer(of, HERE / "checkpoints" / of["name"])
        if of.get("bare"):
            make_bare(HERE / "checkpoints" / of["name"])
        (HERE / "checkpoints" / of["name"] / "model.safetensors").chmod(0o644)


if __name__ == "__main__":
    main()
