#!/usr/bin/python3
"""Writes schema.json: the forms of tokenizer.json that the original library opens, and their tokens of texts.

Every field of every component is absent, null, of another value, or of a wrong type, in turn. It needs the
package python3-tokenizers (0.23.1) of Debian sid.

    schema.py           the forms of `kept`, as schema.json
    schema.py FILE      all forms
"""

import json
import os
import pathlib
import sys

from tokenizers import Tokenizer, pre_tokenizers

HERE = pathlib.Path(__file__).parent

TEXTS = ["Hello  world!", " a lost, lost cause ", "", "Ünïcode 日本 e\u0301", "x123 45\t6\n7", "I'm don't 's do not",
         "<s>a</s> b <pad>c[X] d", "aa▁b▁▁ c", "<b>bold</b> B", "ab<0x41>Ġcd?"]

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def byte_level(text):
    splitter = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return "".join(word for word, _ in splitter.pre_tokenize_str(text))


def alphabet():
    """Returns all characters of the texts, and every pair of adjacent ones, so that splits show in the ids."""
    forms = [form for text in TEXTS for form in (text, text.lower(), text.replace(" ", "▁"), byte_level(text))]
    characters = sorted(set("".join(forms)) | set("▁ĠX#@"))
    pairs = sorted({form[i:i + 2] for form in forms for i in range(len(form) - 1)}
                   | {before + letter for before in "▁Ġ " for letter in "aHxIÃU"})
    pairs = [pair for pair in pairs if len(pair) == 2]
    return sorted(set(characters) | set("".join(pairs))), pairs


CHARACTERS, PAIRS = alphabet()
SPECIALS = ["<unk>", "<s>", "</s>", "<pad>"]
VOCABULARY = {token: i for i, token in enumerate([*SPECIALS, *BYTES, *CHARACTERS, *PAIRS])}
BPE = {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
       "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": True, "ignore_merges": False,
       "vocab": VOCABULARY, "merges": [list(pair) for pair in PAIRS]}
WORDS = ["<unk>", "<s>", "</s>", "<pad>", "a", "lost", "cause", "##e", "##t", "##l", "l", "##lo", "##s", "hell", "##o",
         "Hello", "world", "!", ",", "I", "'", "m", "don", "##a", "x", "##1", "##2", "##3", "b", "c"]
WORD_IDS = {word: i for i, word in enumerate(WORDS)}
WORDPIECE = {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 4, "vocab": WORD_IDS}
WORD_LEVEL = {"type": "WordLevel", "vocab": WORD_IDS, "unk_token": "<unk>"}
UNIGRAM = {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": [
    ["<unk>", 0.0], ["<s>", 0.0], ["</s>", 0.0], ["<pad>", 0.0], ["a", -2.5], ["l", -3], ["o", -3.25], ["lo", -4.0],
    ["st", -5], ["lost", -6.5], [" ", -1e0], ["H", -7.0], ["e", -3.125], ["<0x41>", -9.0], ["▁", -2.0], ["▁a", -3.0]]}
PRECOMPILED = json.loads((HERE / "precompiled.json").read_text())["normalizer"]
ADDED = {"id": 1, "content": "<s>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}


def base(**more):
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [ADDED | {"id": i, "content": token} for i, token in enumerate(SPECIALS)],
            "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": BPE} | more


def string(text):
    return {"String": text}


NORMALIZERS = [
    {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
    {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "StripAccents"},
    *[{"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "ByteLevel")],
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]}, PRECOMPILED,
    {"type": "Replace", "pattern": string("a"), "content": "b"},
    {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}, {"type": "Prepend", "prepend": "▁"},
]
PRE_TOKENIZERS = [
    {"type": "BertPreTokenizer"}, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    {"type": "CharDelimiterSplit", "delimiter": "l"},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": False, "prepend_scheme": "never"},
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False, "prepend_scheme": "first"},
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "prepend_scheme": "never"},
    {"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "UnicodeScripts"}, {"type": "FixedLength", "length": 3},
    {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": True}]},
    {"type": "Split", "pattern": string("l"), "behavior": "Removed", "invert": False},
    {"type": "Split", "pattern": {"Regex": "\\s+"}, "behavior": "Isolated", "invert": True},
    {"type": "Punctuation", "behavior": "Isolated"}, {"type": "Digits", "individual_digits": True},
]
POST_PROCESSORS = [
    {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True, "add_prefix_space": True},
    {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
    {"type": "TemplateProcessing",
     "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
     "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
     "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
    {"type": "Sequence", "processors": [{"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False,
                                         "use_regex": True},
                                        {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]}]},
]
DECODERS = [
    {"type": "BPEDecoder", "suffix": "o"}, {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
                                             "use_regex": True},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False, "prepend_scheme": "first"},
    {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
    {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
    {"type": "Replace", "pattern": string("l"), "content": "m"}, {"type": "Fuse"}, {"type": "ByteFallback"},
    {"type": "Strip", "content": "l", "start": 1, "stop": 0},
]
MODELS = [BPE, BPE | {"continuing_subword_prefix": "##"}, BPE | {"end_of_word_suffix": "@"}, WORDPIECE, WORD_LEVEL,
          UNIGRAM, UNIGRAM | {"unk_id": None, "byte_fallback": True}]
TRUNCATION = {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0}
PADDING = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 3,
           "pad_type_id": 0, "pad_token": "<pad>"}

# Further values of fields, by name; all fields also get those of OTHER.
VALUES = {
    "strip_accents": [True, False], "behavior": ["Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous",
                                                 "isolated", "merged_with_next"],
    "prepend_scheme": ["first", "never", "always", "First"], "replacement": ["_", "▁▁", ""], "delimiter": ["lo", ""],
    "length": [0, 1, 5], "pattern": [string("lo"), string(""), "l", {"String": "a", "Regex": "b"}, {"Regex": "["}, {}],
    "content": ["", "xyz"], "prepend": ["", "ab"], "sep": [["</s>", -1], ["</s>"], ["</s>", 2, 3], {"</s>": 2}],
    "single": [["<s>", "A"], "<s> $A </s>", "$A:1 <s>", "<s>:0 $0", [], [{"Sequence": {"id": "A"}}],
               [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 1}}],
               [{"Sequence": {"id": "B", "type_id": 0}}], [{"SpecialToken": {"id": "<zz>", "type_id": 0}}]],
    "special_tokens": [{}, [{"id": "<s>", "ids": [1], "tokens": ["<s>"]}], {"<s>": {"id": "<s>", "ids": [1, 2], "tokens": ["<s>", "</s>"]}},
                       {"<s>": {"id": "<s>", "ids": [1], "tokens": []}}, {"<t>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
                       {"<s>": {"ids": [1], "tokens": ["<s>"]}}, {"<s>": {"id": "<s>", "ids": [1]}}],
    "suffix": ["", "</w>"], "prefix": ["", "l"], "start": [0, 2, -1], "stop": [1],
    "dropout": [0, 0.0, 1.5, -1], "unk_token": ["<zz>", ""], "continuing_subword_prefix": ["", "@@", "##"],
    "end_of_word_suffix": ["", "</w>"], "max_input_chars_per_word": [0, 1, 100, -1], "unk_id": [4, 99, -1],
    "merges": [[], ["a b"], ["l o"], [["l", "o"], "l l"], ["lo"], ["q w"], ["#version: 0.2", "l o"], [["l", "o", "o"]], ["l  o"]],
    "vocab": [{}, [], {"a": 0}, [["a", 0]], {"a": 0, "b": 0}, {"a": -1}, {"a": 1.0}, {"<unk>": 0, "a": 7}],
    "direction": ["Left", "left"], "strategy": ["OnlyFirst", "OnlySecond", "longest_first", {"Fixed": 4}, "Fixed", "BatchLongest"],
    "max_length": [0, 3, -1, 1.5], "stride": [1, 512, 600], "pad_to_multiple_of": [8, 0], "pad_id": [-1, 99999],
    "id": [2, 7, 99999, -1, 1.5], "single_word": [True], "lstrip": [True], "rstrip": [True], "normalized": [True], "special": [False],
    "precompiled_charsmap": ["", "AAAA", "###"],
    "normalizers": [[], [None], [{}], {"type": "NFC"}, [{"type": "Lowercase"}, None]], "pretokenizers": [[], [None], [{"type": "Digits"}]],
    "processors": [[], [None]], "decoders": [[], [None], [{"type": "Fuse", "x": 1}]],
}
OTHER = [None, True, False, "x", 1, [], {}]


def changed(component):
    """Yields the difference, and the changed component."""
    for field in component:
        if field == "type":
            continue
        yield f"without {field}", {key: value for key, value in component.items() if key != field}
        for value in VALUES.get(field, []) + OTHER:
            if type(value) is type(component[field]) and value == component[field]:
                continue
            yield f"{field} {json.dumps(value, ensure_ascii=False)}", component | {field: value}
    yield "with an unknown field", component | {"unknown": 1}
    kind = component.get("type")
    if kind:
        yield "without type", {key: value for key, value in component.items() if key != "type"}
        for value in (None, kind.lower(), f"{kind}2", 1):
            yield f"type {value}", component | {"type": value}
        yield "type last", {key: value for key, value in component.items() if key != "type"} | {"type": kind}


def forms():
    """Yields the name of each form, and the form."""
    for key in base():
        file = base()
        file.pop(key)
        yield f"without {key}", file
        for value in (None, [], {}, "x", 1, "2.0"):
            yield f"{key} {value}", base(**{key: value})
    yield "with an unknown field", base(unknown=1)
    sections = {"normalizer": NORMALIZERS, "pre_tokenizer": PRE_TOKENIZERS, "post_processor": POST_PROCESSORS,
                "decoder": DECODERS, "model": MODELS, "truncation": [TRUNCATION], "padding": [PADDING]}
    for section, components in sections.items():
        for number, component in enumerate(components):
            name = f"{section} {component.get('type', '')} {number}"
            more = {}
            if section == "decoder" and component["type"] == "WordPiece":
                more = {"model": WORDPIECE, "pre_tokenizer": {"type": "Whitespace"}}
            if section == "decoder" and component["type"] == "ByteLevel":
                more = {"pre_tokenizer": PRE_TOKENIZERS[1]}
            if section == "model":
                more = {"pre_tokenizer": {"type": "Whitespace"}}
            yield name, base(**more, **{section: component})
            for what, other in changed(component):
                yield f"{name}: {what}", base(**more, **{section: other})
    for what, token in changed(ADDED):
        yield f"added token: {what}", base(added_tokens=[ADDED | {"id": 0, "content": "<unk>"}, token])
    for what, token in changed(ADDED | {"content": "lost", "id": len(VOCABULARY), "special": False, "normalized": True}):
        yield f"added word: {what}", base(added_tokens=[token], normalizer={"type": "Lowercase"})
    for flags in range(32):
        names = ("single_word", "lstrip", "rstrip", "normalized", "special")
        token = ADDED | {"content": "b", "id": VOCABULARY["b"]} | {name: bool(flags >> i & 1) for i, name in enumerate(names)}
        yield f"added flags {flags}", base(added_tokens=[token], normalizer={"type": "Lowercase"}, pre_tokenizer=PRE_TOKENIZERS[3])
    double = [ADDED, ADDED | {"lstrip": True}]
    yield "added twice", base(added_tokens=double)
    yield "added in another order", base(added_tokens=[ADDED | {"id": 3, "content": "<pad>"}, ADDED])
    yield "added empty", base(added_tokens=[ADDED | {"content": ""}])


def answers(file):
    """Returns the library's tokens of the texts, and of the pair (a, b); None if it does not open the file."""
    try:
        tokenizer = Tokenizer.from_str(json.dumps(file))
    except BaseException as error:  # some are panics
        return None, str(error)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    results = []
    for text in TEXTS:
        try:
            ids = tokenizer.encode(text).ids
            results.append([ids, tokenizer.decode(ids)])
        except BaseException as error:
            results.append(str(error))
    try:
        pair = tokenizer.encode("a", "b")
        results.append([pair.ids, pair.type_ids])
    except BaseException as error:
        results.append(str(error))
    return results, None


def alone(file):
    """Does the same in a new process, because some forms crash it."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(into, "w") as pipe:
            json.dump(answers(file), pipe)
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else (None, "the process ended")


def difference(file):
    """Returns what to set in the base and what to remove from it, by JSON pointer, to get this file."""
    start, values, absent = base(), {}, []
    for key in start.keys() - file.keys():
        absent.append(f"/{key}")
    for key, value in file.items():
        if key in start and value == start[key] and type(value) is type(start[key]):
            continue
        if key == "model" and isinstance(value, dict) and len(value.keys() & BPE.keys()) > 6:
            absent += [f"/model/{field}" for field in BPE if field not in value]
            values |= {f"/model/{field}": other for field, other in value.items()
                       if field not in BPE or json.dumps(other) != json.dumps(BPE[field])}
        else:
            values[f"/{key}"] = value
    return {"set": values, "without": absent}


def kept(everything):
    """Returns, per section, one form per answer, and all refused forms except those with a wrong type."""
    known = set()
    for form in everything:
        failed = form["answers"] is not None and any(isinstance(answer, str) for answer in form["answers"])
        if failed or "slice index" in (form["error"] or "") or form["error"] == "the process ended":
            continue  # the library fails too late, or unintentionally
        section = form["name"].split(":")[0]
        wrong = any(form["name"].endswith(f" {json.dumps(value)}") for value in OTHER[1:])
        key = (section, json.dumps(form["answers"]))
        sensible = form["answers"] is None and not wrong
        if sensible or (form["answers"] is not None and (key not in known or " null" in form["name"]
                                                         or "without" in form["name"])):
            known.add(key)
            yield form


def main():
    everything = []
    for name, file in forms():
        found, error = alone(file)
        everything.append({"name": name, "file": file, "answers": found, "error": error})
    print(len(everything), sum(form["answers"] is not None for form in everything))
    if sys.argv[1:]:
        path = pathlib.Path(sys.argv[1])
        path.write_text(json.dumps({"texts": TEXTS, "forms": everything}, ensure_ascii=False))
        return
    write = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = [write({"name": form["name"]} | difference(form["file"]) | {"answers": form["answers"]})
             for form in kept(everything)]
    print(len(lines))
    (HERE / "schema.json").write_text(f'{{"texts":{write(TEXTS)},\n"base":{write(base())},\n"forms":[\n'
                                      + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
