#!/usr/bin/python3
"""Writes the tiny checkpoints of CLIP in this folder, and the answers of the library transformers: see README.md.
It needs the same packages as make.py, which writes the picture files.
"""

import json
import pathlib
import shutil

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import pre_tokenizers, processors, trainers
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

from make import COLORS, DTYPES, HERE, open_picture, write_json
from make import answer as answer_classes

FOLDER = HERE / "clip"
PICTURES = ["rgb8.png", "jpeg_large.jpg", "gray8.png"]
LABELS = ["a red square", "two blue circles", "grey noise, ÉTÉ 1999", "nothing"]
TEXTS = ["A photo of a cat.", "", "  Straße\t\n😀 it's I'LL 42nd, naïve ﬁne e\u0301 ", "<|endoftext|> after the end",
         "don't", "ÀÉÎ ΑΣ ΟΔΟΣ İstanbul", "a_b--c!!??", "x" * 90, " ".join(["word"] * 60), "日本語 テキスト", "a<|startoftext|>b",
         "</w> </w>x"]
CORPUS = ("a photo of a cat. two photos of the red square and three blue circles in the grey noise. this is a photo of "
          "nothing. it's what they'll say: don't count words, count letters. straße naïve fine été 1999 42 ") * 3
TEXT = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, max_position_embeddings=32)
VISION = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=16,
              patch_size=4)
# Debian's tokenizers has other names for the arguments than the library expects.
RobertaProcessing = processors.RobertaProcessing
processors.RobertaProcessing = lambda sep, cls, **more: RobertaProcessing(sep, cls, **more)

STARTS, ENDS = "<|startoftext|>", "<|endoftext|>"


def make_tokenizer():
    """Trains a tokenizer of the library's class. Its two special tokens have the last ids, as in the published ones."""
    blank = transformers.CLIPTokenizer()
    backend = blank._tokenizer
    trainer = trainers.BpeTrainer(vocab_size=700, min_frequency=1, end_of_word_suffix="</w>", show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    backend.train_from_iterator([CORPUS], trainer)
    model = json.loads(backend.to_str())["model"]
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = letters + [letter + "</w>" for letter in letters]
    pieces += [piece for piece in ("".join(merge) for merge in model["merges"]) if piece not in pieces] + [STARTS, ENDS]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    return transformers.CLIPTokenizer(vocab=vocabulary, merges=[tuple(merge) for merge in model["merges"]])


def randomize(model, seed):
    """Sets weights with which every head and every label matter. F16 and BF16 hold them exactly."""
    random = torch.Generator().manual_seed(seed)
    for name, module in model.named_modules():
        for kind, parameter in module.named_parameters(recurse=False):
            value = torch.randn(parameter.shape, generator=random)
            if kind == "logit_scale":
                value = torch.tensor(2.6592)
            elif isinstance(module, torch.nn.LayerNorm) and kind == "weight":
                value = 1 + 0.2 * value
            elif kind == "class_embedding" or isinstance(module, torch.nn.Embedding):
                value *= 0.7
            elif parameter.dim() > 1:
                value *= 1.6 / parameter[0].numel() ** 0.5
            else:
                value *= 0.2
            parameter.data.copy_(value.bfloat16().float())
    return model.eval()


def write(name, seed, dtype, *, text=None, vision=None, old=False, projection=20):
    folder = FOLDER / name
    folder.mkdir(parents=True)
    tokenizer = make_tokenizer()
    text = TEXT | dict(vocab_size=len(tokenizer), bos_token_id=tokenizer.bos_token_id,
                       eos_token_id=2 if old else tokenizer.eos_token_id) | (text or {})
    config = transformers.CLIPConfig(text_config=text, vision_config=VISION | (vision or {}), projection_dim=projection)
    model = randomize(transformers.CLIPModel(config), seed)
    model.to(DTYPES[dtype]).save_pretrained(folder)
    if old:
        # The files of the first version, with names of defaults that later ones leave out.
        written = json.loads((folder / "config.json").read_text())
        written |= {"text_config_dict": text, "vision_config_dict": None}
        written["text_config"] = {"hidden_size": 999}
        write_json(folder / "config.json", written)
        write_json(folder / "preprocessor_config.json", {
            "crop_size": 16, "do_center_crop": True, "do_normalize": True, "do_resize": True,
            "feature_extractor_type": "CLIPFeatureExtractor", "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711], "resample": 3, "size": 16})
        backend = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
        write_json(folder / "vocab.json", backend["vocab"])
        merges = [" ".join(merge) if isinstance(merge, list) else merge for merge in backend["merges"]]
        (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{merge}\n" for merge in merges))
        write_json(folder / "tokenizer_config.json", {"tokenizer_class": "CLIPTokenizer", "model_max_length": 32})
        tensors = load_file(folder / "model.safetensors")
        tensors["text_model.embeddings.position_ids"] = torch.arange(32)[None]
        tensors["vision_model.embeddings.position_ids"] = torch.arange(17)[None]
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        steps = CLIPImageProcessorPil(size={"shortest_edge": 24}, crop_size={"height": 20, "width": 20})
        transformers.CLIPProcessor(steps, tokenizer).save_pretrained(folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    answer(folder, old)


def write_classes(name, seed):
    """Writes a classifier of pictures, which has no texts, and its answers in the form of make.py."""
    folder = FOLDER / name
    folder.mkdir(parents=True)
    labels = dict(enumerate(COLORS))
    config = transformers.CLIPConfig(vision_config=VISION, text_config=TEXT, id2label=labels,
                                     label2id={label: i for i, label in labels.items()})
    model = randomize(transformers.CLIPForImageClassification(config), seed)
    model.to(DTYPES["BF16"]).save_pretrained(folder)
    steps = dict(size={"shortest_edge": 20}, crop_size={"height": 16, "width": 16})
    write_json(folder / "preprocessor_config.json", steps | {"image_processor_type": "CLIPImageProcessor"})
    answer_classes(dict(name=name, model=transformers.CLIPForImageClassification, processor=CLIPImageProcessorPil,
                        steps=steps, pictures=PICTURES, labels=COLORS), folder)
    for file in folder.iterdir():
        file.chmod(0o644)


def explain(model, said, pixels, tensors):
    """Adds three explanations of the best label's logit minus the mean of all, computed from the library's modules."""
    vision, scale = model.vision_model, model.logit_scale.detach().exp()
    with torch.no_grad():
        texts = model.text_projection(model.text_model(**said).pooler_output)
        texts = texts / texts.norm(dim=-1, keepdim=True)
        read = vision(pixel_values=pixels, output_hidden_states=True, output_attentions=True)
        vectors = model.visual_projection(vision.post_layernorm(torch.stack(read.hidden_states)[:, 0]))
        lens = scale * vectors / vectors.norm(dim=-1, keepdim=True) @ texts.T  # [L + 1, T, C]
    contrast = -torch.ones(len(LABELS)).double() / len(LABELS)
    contrast[lens[-1, 0].argmax()] += 1
    tensors["explain.lens"] = lens.float().contiguous()

    # Chefer et al. 2021, equations 5 and 6.
    output = vision(pixel_values=pixels, output_attentions=True)
    for weights in output.attentions:
        weights.retain_grad()
    vector = model.visual_projection(output.pooler_output)[0]
    (scale * vector / vector.norm() @ texts.T @ contrast).backward()
    tokens = len(output.last_hidden_state[0])
    relevance = torch.eye(tokens).double()
    for weights in output.attentions:
        relevance = relevance + (weights * weights.grad)[0].double().clamp(min=0).mean(0) @ relevance
    tensors["explain.relevance"] = (relevance - torch.eye(tokens)).float().detach()

    # The ledger: with norms' spreads frozen, the number is linear in what each sublayer adds, times its gradient.
    added, kept = {}, {}

    def leaf(name):
        def replace(_, __, output):
            given = output[0] if isinstance(output, tuple) else output
            added[name] = given.detach().requires_grad_()
            return (added[name], *output[1:]) if isinstance(output, tuple) else added[name]
        return replace

    def keep(name, values):
        kept[name] = values.detach()

    def frozen(self, x):
        spread = (x.var(-1, correction=0, keepdim=True) + self.eps).sqrt().detach()
        return (x - x.mean(-1, keepdim=True)) / spread * self.weight + self.bias

    embeddings = vision.embeddings
    positions = embeddings.position_embedding.weight.detach().clone()
    hooks = [embeddings.register_forward_hook(leaf("embeddings"))]
    for i, layer in enumerate(vision.encoder.layers):
        attention = layer.self_attn
        hooks += [attention.register_forward_hook(leaf(f"attention.{i}")),
                  layer.mlp.register_forward_hook(leaf(f"mlp.{i}")),
                  attention.v_proj.register_forward_hook(lambda _, __, v, i=i: keep(f"v.{i}", v[0]))]
    forward, torch.nn.LayerNorm.forward = torch.nn.LayerNorm.forward, frozen
    states = vision(pixel_values=pixels).last_hidden_state
    vector = model.visual_projection(vision.post_layernorm(states[0, 0]))
    number = scale * vector / vector.norm().detach() @ texts.T @ contrast
    number.backward()
    torch.nn.LayerNorm.forward = forward
    for hook in hooks:
        hook.remove()
    gradient = added["embeddings"].grad[0]
    patches = added["embeddings"][0] - positions
    columns = [(gradient * part).sum(-1) for part in (patches, positions)]  # each [T], by the token that is read
    for i, layer in enumerate(vision.encoder.layers):
        attention, rows = layer.self_attn, added[f"attention.{i}"].grad[0]
        assert not rows[1:].any() or i < len(vision.encoder.layers) - 1
        heads = attention.num_heads
        values = kept[f"v.{i}"].reshape(tokens, heads, -1).transpose(0, 1)
        weights = read.attentions[i][0].double()
        led_back = (rows @ attention.out_proj.weight).reshape(tokens, heads, -1).transpose(0, 1)
        for head in range(heads):
            columns.append((weights[head].T @ led_back[head] * values[head]).sum(-1))
        rows = added[f"mlp.{i}"]
        columns.append((rows.grad[0] * (rows[0] - layer.mlp.fc2.bias)).sum(-1))
    tensors["explain.ledger"] = torch.stack(columns, 1).float().detach().contiguous()  # without the biases
    tensors["explain.value"] = number.detach().float()[None]


def write_texts(name, seed, kind, **text):
    """Writes a model that has only the part for texts, and the vectors of TEXTS."""
    folder = FOLDER / name
    folder.mkdir(parents=True)
    tokenizer = make_tokenizer()
    text = TEXT | dict(vocab_size=len(tokenizer), bos_token_id=tokenizer.bos_token_id,
                       eos_token_id=tokenizer.eos_token_id, projection_dim=12) | text
    model = randomize(kind(transformers.CLIPTextConfig(**text)), seed)
    model.to(DTYPES["BF16"]).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for file in folder.iterdir():
        file.chmod(0o644)
    answer_texts(folder, kind)


def answer_texts(folder, kind):
    model = kind.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.CLIPTokenizer.from_pretrained(folder)
    tensors, found = {}, []
    for i, text in enumerate(TEXTS):
        tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=model.config.max_position_embeddings)
        with torch.no_grad():
            output = model(**tokens)
        vector = output.text_embeds if kind is transformers.CLIPTextModelWithProjection else output.pooler_output
        tensors[f"text.{i}"] = vector[0].contiguous()
        found.append({"text": text, "ids": tokens["input_ids"][0].tolist()})
    save_file(tensors, folder / "expected.safetensors")
    libraries = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}
    found = {"libraries": libraries, "texts": found}
    (folder / "expected.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")


def answer(folder, old):
    model, info = transformers.CLIPModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                                         output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"], info
    model = model.eval()
    tokenizer = transformers.CLIPTokenizer.from_pretrained(folder)
    processor = CLIPImageProcessorPil.from_pretrained(folder)
    limit = model.config.text_config.max_position_embeddings
    tensors, found = {}, {"texts": [], "pictures": []}
    for i, text in enumerate(TEXTS):
        tokens = tokenizer(text, return_tensors="pt", truncation=True, max_length=limit)
        with torch.no_grad():
            output = model.text_model(**tokens, output_attentions=True)
            vector = model.text_projection(output.pooler_output)[0]
        tensors[f"text.{i}"] = vector / vector.norm()
        if len(text) < 40:
            tensors[f"text.attention.{i}"] = torch.cat(output.attentions).contiguous()
        found["texts"].append({"text": text, "ids": tokens["input_ids"][0].tolist(),
                               "decoded": tokenizer.decode(tokens["input_ids"][0], skip_special_tokens=True)})
    said = tokenizer([f"This is a photo of {label}." for label in LABELS], padding=True, return_tensors="pt")
    for i, name in enumerate(PICTURES):
        image = open_picture(name).convert("RGB")
        pixels = torch.tensor(processor(images=image)["pixel_values"][0])[None].float()
        with torch.no_grad():
            output = model(**said, pixel_values=pixels)
            maps = model.vision_model(pixel_values=pixels, output_attentions=True).attentions
        logits = output.logits_per_image[0]
        best = logits.topk(2).values
        assert best[0] - best[1] > 1e-3, name
        tensors[f"pixels.{i}"] = pixels[0].contiguous()
        tensors[f"picture.{i}"] = output.image_embeds[0]
        tensors[f"logits.{i}"] = logits
        tensors[f"attention.{i}"] = torch.cat(maps).contiguous()
        found["pictures"].append({"file": name, "label": LABELS[int(logits.argmax())],
                                  "scores": [float(f"{float(score):.9g}") for score in logits.softmax(-1)]})
    # The gradient of the best label's logit minus the mean of all, by the vectors before the first layer.
    exact = model.double()
    kept = []
    hook = exact.vision_model.pre_layrnorm.register_forward_hook(
        lambda _, inputs, output: (output.retain_grad(), kept.append(output))[0])
    logits = exact(**said, pixel_values=tensors["pixels.0"][None].double()).logits_per_image[0]
    (logits.max() - logits.mean()).backward()
    hook.remove()
    tensors["gradient.0/encoder.embeddings"] = kept[0].grad[0].float()
    explain(exact, said, tensors["pixels.0"][None].double(), tensors)
    save_file(tensors, folder / "expected.safetensors")
    libraries = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]}
    found = {"libraries": libraries, "labels": LABELS, **found}
    (folder / "expected.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    print(folder.name, [entry["label"] for entry in found["pictures"]], float(model.logit_scale.detach().exp()))


def main():
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    shutil.rmtree(FOLDER, ignore_errors=True)
    write("clip", 5, "F16", old=True)
    write("clip_wide", 6, "F32", projection=12, text=dict(hidden_act="gelu"),
          vision=dict(image_size=20, patch_size=5, hidden_act="gelu", layer_norm_eps=0.001))
    write_classes("clip_classes", 7)
    write_texts("clip_text", 8, transformers.CLIPTextModelWithProjection)
    write_texts("clip_text_bare", 9, transformers.CLIPTextModel, hidden_act="gelu", num_attention_heads=4)


if __name__ == "__main__":
    main()
