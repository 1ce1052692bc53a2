#!/usr/bin/python3
"""Writes classes.json: the ids of the library transformers for folders of tokenizer files.

It needs the packages python3-transformers (5.12.1) and python3-protobuf of Debian sid. A folder is described
by its files. A value {"of": NAME, "part": "vocab.txt"} is a part of NAME.json in this folder, in the older
form; "part": "tokenizer.json" is that file itself; {"model": NAME} is ../tokenizer/NAME.model. All folders
read "texts"; "ids" has one list per text.
"""

import json
import os
import pathlib
import tempfile
import types

os.environ["HF_HUB_OFFLINE"] = "1"

import transformers.models.herbert.tokenization_herbert as herbert
import transformers.models.roberta.tokenization_roberta as roberta
from tokenizers import processors
from transformers import AutoTokenizer, PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import DebertaV2Converter

HERE = pathlib.Path(__file__).parent
TEXTS = ["Hello world, this is GOOD!", "  Café au lait  naïve ÉCOLE", "don't stop-me now... 3.14", "東京 x",
         "<mask> a [MASK] b</s>", "the <extra_id_0> walks <|endoftext|> x", "<new1> and <new2>word <New1>",
         "[PAD] <pad> <unk> [UNK]"]


class ByPosition:
    """Adapts names of arguments that the tokenizers' processors do not have."""

    TemplateProcessing = processors.TemplateProcessing

    @staticmethod
    def RobertaProcessing(sep, cls, trim_offsets=True, add_prefix_space=True):
        return processors.RobertaProcessing(sep, cls, trim_offsets, add_prefix_space)

    @staticmethod
    def BertProcessing(sep, cls):
        return processors.BertProcessing(sep, cls)


roberta.processors = herbert.processors = ByPosition


def part(value):
    """Returns the content of a file."""
    if "model" in value:
        return (HERE.parent / "tokenizer" / f"{value['model']}.model").read_bytes()
    file = json.loads((HERE / f"{value['of']}.json").read_text())
    if value["part"] == "tokenizer.json":
        if value.get("untyped"):
            del file["model"]["type"]
        file["added_tokens"] += value.get("added", [])
        return json.dumps(file).encode()
    vocabulary = file["model"]["vocab"]
    if value["part"] == "vocab.txt":
        names = sorted(vocabulary, key=vocabulary.get)
        names = [name for name in names if name not in value.get("without", [])]
        return ("\n".join(names) + "\n").encode()
    if value["part"] == "vocab.json":
        return json.dumps(vocabulary).encode()
    merges = (merge if isinstance(merge, str) else " ".join(merge) for merge in file["model"]["merges"])
    return ("#version: 0.2\n" + "\n".join(merges) + "\n").encode()


def token(content, **flags):
    return dict(content=content, single_word=False, lstrip=False, rstrip=False, normalized=True, special=False) | flags


def wordpiece(settings=None, **more):
    return {"vocab.txt": {"of": "wordpiece_uncased", "part": "vocab.txt"}, "tokenizer_config.json": settings, **more}


def merges(settings=None, name="bytes_masked", **more):
    return {"vocab.json": {"of": name, "part": "vocab.json"}, "merges.txt": {"of": name, "part": "merges.txt"},
            "tokenizer_config.json": settings, **more}


def whole(name, settings=None, **more):
    return {"tokenizer.json": {"of": name, "part": "tokenizer.json"}, "tokenizer_config.json": settings, **more}


# The ways in which files name further tokens; the vocabularies have 400, 500 and 300 tokens.
ADDED = {
    "added_tokens.json": {"added_tokens.json": {"<new2>": 7000, "<new1>": 6000}},
    "with a list": {"added_tokens.json": {"<new1>": 6000},
                    "special_tokens_map.json": {"additional_special_tokens": ["<new1>"]}},
    "decoder": {"tokenizer_config.json": {"added_tokens_decoder": {
        "6000": token("<new1>", lstrip=True), "6001": token("<new2>", special=True, normalized=False)}}},
    "decoder and map": {"tokenizer_config.json": {"added_tokens_decoder": {"6000": token("<new1>")}},
                        "special_tokens_map.json": {"pad_token": "<new2>"}, "added_tokens.json": {"<new2>": 6000}},
    "map": {"special_tokens_map.json": {"mask_token": token("<new1>", rstrip=True)}},
    "map and role": {"tokenizer_config.json": {"pad_token": "<new1>"}, "special_tokens_map.json": {"pad_token": "<new2>"}},
    "pad": {"tokenizer_config.json": {"pad_token": "<new1>"}},
    "list": {"tokenizer_config.json": {"additional_special_tokens": ["<new1>", "<new2>"]}},
    "both lists": {"tokenizer_config.json": {"extra_special_tokens": ["<new2>"], "additional_special_tokens": ["<new1>"]}},
    "roles": {"tokenizer_config.json": {"extra_special_tokens": {"image_token": "<new1>"}, "sound_token": "<new2>"}},
    "no mask": {"tokenizer_config.json": {"mask_token": None}},
}
CASING = [{}, {"do_lower_case": True}, {"do_lower_case": False}, {"strip_accents": True}, {"strip_accents": False},
          {"do_lower_case": False, "strip_accents": True}, {"do_lower_case": True, "strip_accents": False},
          {"tokenize_chinese_chars": False}]
PREFIX = [{}, {"add_prefix_space": True}, {"add_prefix_space": False}]
ENDS = [{"add_bos_token": True}, {"add_eos_token": True, "add_bos_token": True}]


def cases():
    def named(cls, **more):
        return {"tokenizer_class": cls, **more}

    bert = ["BertTokenizer", "DistilBertTokenizerFast", "ElectraTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer",
            "ConvBertTokenizer", "LxmertTokenizer", "LayoutLMTokenizer", "DPRQuestionEncoderTokenizer", "MPNetTokenizer"]
    for cls in bert:
        yield f"{cls}, vocab.txt", "bert", wordpiece(named(cls))
    for settings in CASING:
        yield f"BertTokenizer, {settings}", "bert", wordpiece(named("BertTokenizer", **settings))
        for name in ("wordpiece_uncased", "wordpiece_cased"):
            yield f"{name}, {settings}", "bert", whole(name, named("BertTokenizer", **settings))
            yield f"{name} as it is, {settings}", "bert", whole(name, named("PreTrainedTokenizerFast", **settings))
    for missing in ("[MASK]", "[PAD]", "[CLS]"):
        yield f"no {missing}", "bert", {"vocab.txt": {"of": "wordpiece_uncased", "part": "vocab.txt", "without": [missing]}}
    yield "no class, DistilBERT", "distilbert", wordpiece()
    yield "a class that nobody knows", "bert", whole("wordpiece_uncased", named("NewTokenizer", do_lower_case=False))

    for cls in ("GPT2Tokenizer", "RobertaTokenizer", "LongformerTokenizer", "BartTokenizer", "LEDTokenizer", "MvpTokenizer"):
        for settings in PREFIX + ENDS:
            yield f"{cls}, {settings}", "t5", merges(named(cls, **settings))
    for name in ("bytes", "bytes_masked"):
        for settings in PREFIX + ENDS:
            yield f"{name}, {settings}", "gpt2", whole(name, named("GPT2Tokenizer", **settings))
    yield "no class, GPT-2", "gpt2", merges(name="bytes")
    yield "no class, RoBERTa", "roberta", merges()

    pieces = {"sentencepiece.bpe.model": {"model": "unigram"}}
    for cls in ("XLMRobertaTokenizer", "CamembertTokenizer"):
        for settings in PREFIX:
            yield f"{cls}, {settings}", "bert", {**pieces, "tokenizer_config.json": named(cls, **settings)}
    yield "no class, XLM-R", "xlm-roberta", pieces
    yield "no class, CamemBERT", "camembert", pieces

    deberta_pieces = {"spm.model": {"model": "unigram"}}
    for settings in [{}, {"do_lower_case": True}, {"split_by_punct": True}, {"cls_token": "<s>", "sep_token": "</s>"}]:
        named_too = named("DebertaV2Tokenizer", unk_token="<unk>", **settings)
        yield f"DebertaV2Tokenizer, {settings}", "bert", {**deberta_pieces, "tokenizer_config.json": named_too}
    yield "no class, DeBERTa", "deberta-v2", {**deberta_pieces, "tokenizer_config.json": {"unk_token": "<unk>"}}

    for name in ("wordpiece_uncased", "bytes", "unigram", "precompiled"):
        file = {"of": name, "part": "tokenizer.json"}
        settings = named("PreTrainedTokenizerFast")
        yield f"{name}, no model.type", "bert", {"tokenizer.json": file | {"untyped": True}, "tokenizer_config.json": settings}
        added = [token("<new1>", id=5000), token("<new2>", id=5005, special=True)]
        yield f"{name}, ids with gaps", "bert", {"tokenizer.json": file | {"added": added}, "tokenizer_config.json": settings}

    bases = {"BertTokenizer": wordpiece({}), "GPT2Tokenizer": merges({}), "RobertaTokenizer": merges({}),
             "CamembertTokenizer": pieces}
    for cls, files in bases.items():
        for way, more in ADDED.items():
            settings = named(cls, **more.get("tokenizer_config.json", {}))
            yield f"{cls}, {way}", "bert", {**files, **more, "tokenizer_config.json": settings}
    for way, more in ADDED.items():
        settings = named("BertTokenizer", **more.get("tokenizer_config.json", {}))
        yield f"tokenizer.json, {way}", "bert", {**whole("wordpiece_uncased"), **more, "tokenizer_config.json": settings}


DEBERTA = {"bos_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]",
           "cls_token": "[CLS]", "mask_token": "[MASK]"}


def deberta(folder):
    """Returns the tokenizer that version 4 makes of an spm.model: version 5 leaves out the model's normalizer."""
    settings = DEBERTA | json.loads((folder / "tokenizer_config.json").read_text())
    slow = types.SimpleNamespace(
        vocab_file=str(folder / "spm.model"), do_lower_case=settings.pop("do_lower_case", False),
        split_by_punct=settings.pop("split_by_punct", False), add_prefix_space=settings.pop("add_prefix_space", True),
        convert_tokens_to_ids=lambda name: 0)
    backend = DebertaV2Converter(slow).converted()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **{name: settings[name] for name in DEBERTA})
    cls, sep = (settings[name] for name in ("cls_token", "sep_token"))
    tokenizer._tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls}:0 $A:0 {sep}:0", pair=f"{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1",
        special_tokens=[(name, tokenizer.convert_tokens_to_ids(name)) for name in (cls, sep)])
    return tokenizer


def read(model_type, files):
    """Returns the ids of all texts, or the library's error message for a folder that it cannot read."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
        for name, value in files.items():
            if value is None:
                continue
            source = "of" in value or "model" in value
            (folder / name).write_bytes(part(value) if source else json.dumps(value).encode())
        tokenizer = deberta(folder) if "spm.model" in files else AutoTokenizer.from_pretrained(folder)
        return [tokenizer(text)["input_ids"] for text in TEXTS]


lines = []
for name, model_type, files in cases():
    files = {key: value for key, value in files.items() if value is not None}
    try:
        ids = read(model_type, files)
    except Exception as error:  # a folder that the library cannot read has no reference
        print(name, "left out:", repr(error)[:120])
        continue
    entry = {"name": name, "model_type": model_type, "files": files, "ids": ids}
    lines.append(json.dumps(entry, ensure_ascii=False, separators=(",", ":")))
texts = json.dumps(TEXTS, ensure_ascii=False)
(HERE / "classes.json").write_text('{"texts":' + texts + ',\n"cases":[\n' + ",\n".join(lines) + "\n]}\n")
print(len(lines), "folders")
