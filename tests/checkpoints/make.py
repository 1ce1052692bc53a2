#!/usr/bin/python3
"""Writes the tiny checkpoints of this folder and what the original library answers to texts: README.md.

    make.py            all
    make.py NAME…      some

Needs Debian sid's python3-transformers (5.12.1), python3-torch and python3-tokenizers.
"""

import dataclasses
import json
import pathlib
import sys
from collections.abc import Callable

import tokenizers
import torch
import transformers
from safetensors.torch import save_file

import folders
import results
import tokens
import traces

HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass
class Family:
    """What the checkpoints of one model_type have in common."""
    config: type
    models: dict  # task: the library's class
    size: dict
    trace: dict
    specials: dict
    inputs: list
    positions: Callable = lambda settings: settings["max_position_embeddings"]  # for how many tokens


@dataclasses.dataclass
class Variant:
    """One checkpoint. Where same_as names another, only the files differ, and that one's goldens serve."""
    name: str
    family: Family
    task: str
    seed: int
    texts: list = dataclasses.field(default_factory=list)
    same_as: str = ""
    tokenizer: str = "wordpiece_uncased"
    size: dict = dataclasses.field(default_factory=dict)  # of the model, besides the family's
    labels: list = dataclasses.field(default_factory=list)
    score: str = "softmax"
    traced: int = -1  # the text of which every named tensor is kept
    dtype: str = "F32"
    shard_size: str = "1GB"
    unused: tuple = ()  # tensors that no part of the model reads
    tensors: Callable | None = None  # {name: tensor} as saved -> as published
    config: Callable | None = None  # config.json as saved -> as published
    files: dict = dataclasses.field(default_factory=dict)  # further files
    tokenizer_json: Callable | None = None  # changes tokenizer.json in place
    tokenizer_files: Callable | None = None  # writes other files instead of tokenizer.json
    tokenizer_config: dict = dataclasses.field(default_factory=dict)

    @property
    def model_class(self):
        return self.family.models[self.task]

    def settings(self):
        vocabulary = json.loads((tokens.SHARED / f"{self.tokenizer}.json").read_text())
        ids = [token["id"] for token in vocabulary["added_tokens"]]
        size = max(len(vocabulary["model"]["vocab"]), *(i + 1 for i in ids))
        settings = {"vocab_size": size, "bos_token_id": None, "eos_token_id": None}
        if self.labels:
            settings["id2label"] = dict(enumerate(self.labels))
            settings["label2id"] = {label: i for i, label in enumerate(self.labels)}
        return settings | self.family.size | self.size

    @property
    def max_length(self):
        most = self.family.positions(self.family.size | self.size)
        return min(most, self.tokenizer_config.get("model_max_length", most))


BERT = Family(
    config=transformers.BertConfig,
    models={"sequence": transformers.BertForSequenceClassification},
    size=dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
              max_position_embeddings=20),
    trace=traces.BERT, specials=tokens.BERT, inputs=["input_ids", "token_type_ids", "attention_mask"])

REVIEWS = [
    ("Great cast.", "Not good!"),
    "I loved it!",
    "Où est la MAGIE ? Straße, ΣΊΣΥΦΟΣ",
    "Meh 😐👍🏽 2⁵ 日本の映画 𠀋",
    "a [MASK] film [SEP] [sep] …",
    "\u200b",
    "She plays the widow with such restraint that you forget she is acting, and the camera lingers.",
    ("The plot is thin and the jokes are old, the pacing is worse still.", "Loved it!"),
    ("The very idea of a very, very long film is very appealing.", "It is not."),
    ("It is not.", "The very idea of a very, very long film is very appealing."),
    ("the film is not good the film is not good the film", "it is not bad and it is not bad and it"),
]


def disordered(config):
    """id2label in another order than its numbers."""
    names = config["id2label"]
    config["id2label"] = {key: names[key] for key in sorted(names, key=lambda key: (int(key) * 7 + 2) % 5)}
    return config


VARIANTS = [
    Variant("bert_sequence", BERT, "sequence", seed=8, texts=REVIEWS, traced=0,
            labels=["negative", "neutral", "positive"], config=disordered),
]


def text_of(value):
    """One text a line."""
    value = dict(value)
    texts = value.pop("texts", None)
    head = json.dumps(value, ensure_ascii=False)
    if texts is None:
        return head + "\n"
    lines = ",\n  ".join(json.dumps(text, ensure_ascii=False, separators=(",", ":")) for text in texts)
    return f'{head[:-1]}, "texts": [\n  {lines}\n]}}\n'


def make(variant):
    folder = HERE / variant.name
    folders.write(variant, folder)
    model = folders.load(variant, folder)
    if variant.same_as:
        same = next(other for other in VARIANTS if other.name == variant.same_as)
        assert (same.seed, same.settings()) == (variant.seed, variant.settings()), variant.name
        expected = {"same_as": variant.same_as}
    else:
        found = results.Results(variant, model, tokens.load(variant, folder))
        more = results.TASKS[variant.task](found)
        save_file(found.tensors, folder / "expected.safetensors")
        libraries = {m.__name__: m.__version__.split("+")[0] for m in (transformers, torch, tokenizers)}
        expected = {"task": variant.task, "libraries": libraries, "max_length": variant.max_length, **more,
                    "texts": found.texts}
        labels = {text.get("label") for text in found.texts}
        print(f"{variant.name}: float32 against float64 {found.error:.1e}; {labels}")
    (folder / "expected.json").write_text(text_of(expected))
    for file in folder.rglob("*.safetensors"):
        file.chmod(0o644)


def main():
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    for variant in VARIANTS:
        if not sys.argv[1:] or variant.name in sys.argv[1:]:
            make(variant)


main()
