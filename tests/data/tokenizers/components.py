#!/usr/bin/python3
"""Writes components.json: the output of each component of the original library for some texts.

It needs the package python3-tokenizers (0.23.1) of Debian sid. The file has five lists of [component, [[input,
output], ...]]. Normalizers map a text to a text, pre-tokenizers map a text to words, models map a word to ids,
and decoders map tokens to a text. A post-processor's input is the number of texts; its output is the ids and
the token types, where the first text is the token 10 and the second is the token 11.
"""

import base64
import json
import pathlib

from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent


def fields(message):
    """Yields the fields of a protobuf message that hold bytes."""

    def number(at):
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value, at

    at = 0
    while at < len(message):
        tag, at = number(at)
        if tag & 7 == 2:
            size, at = number(at)
            yield tag >> 3, message[at:at + size]
            at += size
        elif tag & 7 == 0:
            at = number(at)[1]
        else:
            at += 4 if tag & 7 == 5 else 8


def characters_map():
    """Returns the rules of ../tokenizer/bpe.model."""
    model = (HERE.parent / "tokenizer" / "bpe.model").read_bytes()
    spec = next(value for field, value in fields(model) if field == 3)
    blob = next(value for field, value in fields(spec) if field == 2)
    return base64.b64encode(blob).decode()


def string(text):
    return {"String": text}


def regex(expression):
    return {"Regex": expression}


BYTE_LEVEL = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
SPACES = " \t a\u00a0b \u2003\n"
ODD = "ﬁ Å e\u0301 é 한 ½ ① \u0928\u093f \u20dd ΑΣ İ ǅ \u212b"
CONTROLS = "a\u0000b\ufffdc\u00add\ue000e\u0378f\tg\nh\u2028i\u200bj"
CHINESE = "a漢b\u3400\uf900\U0002a6df\U0002a6e0\U0002b820\U0002b920\U0002f800ひ"

NORMALIZERS = [
    *[({"type": form}, [ODD]) for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")],
    *[({"type": "Strip", "strip_left": left, "strip_right": right}, [SPACES, "\u3000", ""])
      for left in (True, False) for right in (True, False)],
    ({"type": "Prepend", "prepend": "▁x"}, ["a b", "▁x", ""]),
    ({"type": "Replace", "pattern": string("aa"), "content": "b-"}, ["aaaaa a aa", "", "aa"]),
    ({"type": "Replace", "pattern": string(" "), "content": ""}, [" a  b "]),
    ({"type": "Replace", "pattern": regex(" {2,}"), "content": "▁"}, ["a b  c    d \n  "]),
    ({"type": "Replace", "pattern": regex(r"\s+"), "content": " "}, [SPACES]),
    ({"type": "Replace", "pattern": regex(r"(?<=\p{Ll})(?=\p{Lu})|-*$"), "content": "_"},
     ["camelCaseÉtéÀ--", "", "-"]),
    ({"type": "ByteLevel"}, ["naïve 😀\u00a0x\n\u007f"]),
    *[({"type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese,
        "strip_accents": accents, "lowercase": lower}, [ODD, CONTROLS, CHINESE])
      for clean, chinese, accents, lower in ((True, True, None, True), (True, False, None, False),
                                             (False, True, True, False), (False, False, False, True))],
    ({"type": "Precompiled", "precompiled_charsmap": characters_map()},
     ["Aa Äﬁn…", "e\u0301e", "e\u0301\u0323e", "A\u0301", "a\u200bb", "Ae\u0301\U0001f1e9\U0001f1ea",
      "e\u0323\u0301", ""]),
    ({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"},
                                          {"type": "Prepend", "prepend": "_"}]}, ["é", ""]),
    ({"type": "Sequence", "normalizers": []}, ["É"]),
]

BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
PRE_TOKENIZERS = [
    *[({"type": "Split", "pattern": string("-"), "behavior": behavior, "invert": invert},
       ["--a--b-c-", "-", "a"]) for behavior in BEHAVIORS for invert in (False, True)],
    *[({"type": "Split", "pattern": regex(pattern), "behavior": behavior, "invert": False},
       ["I'll  see\n\n 42½ naïve's…! 'S\t", "  "])
      for pattern in (r"\s+", " {2,}", BYTE_LEVEL) for behavior in ("Removed", "Isolated")],
    *[({"type": "Split", "pattern": regex(r"(?=\p{Lu})|\d*"), "behavior": behavior, "invert": invert},
       ["aB12CD3", "12", "Ab"]) for behavior in BEHAVIORS for invert in (False, True)],
    *[({"type": "Punctuation", "behavior": behavior}, ["a,.b¿ $_c…"]) for behavior in BEHAVIORS],
    *[({"type": "Digits", "individual_digits": each}, ["a12½٣b4"]) for each in (True, False)],
    *[({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split},
       ["a b  c", " a", "▁a"]) for scheme in ("always", "first", "never") for split in (True, False)],
    *[({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": use},
       ["it's 日本,  ok", " it", "\n\n x"]) for prefix in (True, False) for use in (True, False)],
    ({"type": "Whitespace"}, ["a_b-c  d…é\u0301!"]),
    ({"type": "WhitespaceSplit"}, [SPACES, "a-b c"]),
    ({"type": "BertPreTokenizer"}, ["a_b-c  d…é!\u3000漢"]),
    ({"type": "Sequence", "pretokenizers": [
        {"type": "WhitespaceSplit"}, {"type": "Digits", "individual_digits": False}]}, ["ab12 3c"]),
]



def numbered(*tokens):
    return {token: i for i, token in enumerate(tokens)}


def bpe(vocabulary, merges, **options):
    return {"type": "BPE", "vocab": vocabulary, "merges": [pair.split() for pair in merges], **options}


EURO = ["<0xE2>", "<0x82>", "<0xAC>"]
LETTERS = numbered("<unk>", "a", "b", "c", "aa", "ab", "bc", "aab", "abc", *EURO)
PIECES = [[token, score] for token, score in (
    ("<unk>", 0), ("a", -1), ("aa", -2), ("aaa", -3), ("b", -1.5), ("ab", -2.5), ("ba", -2.5), *(
        (byte, -9) for byte in EURO))]
RUNS_OF_A = ["a" * count for count in range(1, 8)]
MODELS = [
    # Equal ranks and equal scores.
    (bpe(LETTERS, ["a a"]), RUNS_OF_A),
    (bpe(LETTERS, ["a b", "b c", "aa b", "a a"]), ["abc", "aabc", "aab", "bcab"]),
    (bpe(LETTERS, ["b c", "a b", "a bc"]), ["abc", "aabc", "bcab", "ababc"]),
    (bpe(LETTERS, ["a a", "a b", "a a"]), ["aab", "aaab"]),
    ({"type": "Unigram", "vocab": PIECES, "unk_id": 0}, RUNS_OF_A + ["ab", "aba", "abab", "baab", "axxb", "xa"]),
    ({"type": "Unigram", "vocab": PIECES[::-1], "unk_id": len(PIECES) - 1}, RUNS_OF_A + ["aba", "abab"]),
    # Characters that the vocabulary lacks.
    *[(bpe(LETTERS, ["a b"], unk_token="<unk>", fuse_unk=fuse, byte_fallback=True), ["xyab", "a€b", "€x", "xé"])
      for fuse in (True, False)],
    (bpe(LETTERS, ["a b"]), ["xaxb", "x"]),
    (bpe(LETTERS, ["a b"], ignore_merges=True), ["abc", "aab", "aabc"]),
    ({"type": "Unigram", "vocab": PIECES, "unk_id": 0, "byte_fallback": True}, ["a€b", "a¢b", "€€"]),
    ({"type": "WordPiece", "vocab": numbered("[UNK]", "a", "##a", "##b", "ab", "##ab"), "unk_token": "[UNK]",
      "continuing_subword_prefix": "##", "max_input_chars_per_word": 4}, ["abab", "ababa", "aaab", "ba", "axb"]),
]

BYTES = [["<0xE6>", "<0x97>", "<0xA5>", "a"], ["<0xE6>", "<0x97>", "a", "<0x41>"], ["<0xFF>", "<0x41>"],
         ["<0xGG>", "<0x4>", "<0x411>", "0x41"], ["<0xe6>", "<0x97>", "<0xa5>"], []]
DECODERS = [
    ({"type": "ByteFallback"}, BYTES),
    ({"type": "Fuse"}, [["a", " b", ""], []]),
    *[({"type": "Strip", "content": "_", "start": start, "stop": stop}, [["__a__", "a__b"], ["_x_"]])
      for start, stop in ((1, 0), (0, 1), (3, 0), (0, 2), (1, 1))],
    ({"type": "Replace", "pattern": string("▁"), "content": " "}, [["▁a▁▁b", "c▁"]]),
    ({"type": "Replace", "pattern": regex(r"\s+"), "content": "-"}, [["a \n b", " "]]),
    *[({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True},
       [["▁a▁b", "▁c", "▁"], ["a", "▁▁b"]]) for scheme in ("always", "first", "never")],
    *[({"type": "WordPiece", "prefix": "##", "cleanup": cleanup},
       [["it", "is", "##n", "'", "t", "a", ".", "b", ",", "c", "?", "!"], ["##a", "##b", "##"],
        ["I", "n't", "'m", "'s", "'ve", "'re", "do not", "a ' b"]]) for cleanup in (True, False)],
    ({"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
     [["ĠnaÃ¯ve", "Ċ"], ["Ã", "¯"], ["Ã", "x"], ["æĹ", "ĠÿĀ"], ["ðŁĺ", "a"], ["é漢", "Ġb"], ["í", "ł", "Ģ"],
      ["ô", "Ĳ", "Ģ"], ["à", "Ģ"], []]),
    ({"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": string("▁"), "content": " "}, {"type": "ByteFallback"},
        {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
     [["▁▁a", "<0xE6>", "<0x97>", "<0xA5>", "▁b"], ["a", "<0xE6>", "▁"]]),
]

TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "two", "type_id": 3}}],
    "pair": [{"Sequence": {"id": "B", "type_id": 2}}, {"SpecialToken": {"id": "[CLS]", "type_id": 1}},
             {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [5], "tokens": ["[CLS]"]},
                       "two": {"id": "two", "ids": [6, 7], "tokens": ["x", "y"]}},
}
TRIMMING = {"trim_offsets": True, "add_prefix_space": False}
POST_PROCESSORS = [
    (None, [1, 2]),
    (TEMPLATE, [1, 2]),
    ({"type": "BertProcessing", "sep": ["[SEP]", 8], "cls": ["[CLS]", 9]}, [1, 2]),
    ({"type": "RobertaProcessing", "sep": ["</s>", 8], "cls": ["<s>", 9], **TRIMMING}, [1, 2]),
    ({"type": "ByteLevel", "use_regex": True, **TRIMMING}, [1, 2]),
    ({"type": "Sequence", "processors": [{"type": "ByteLevel", "use_regex": True, **TRIMMING}, TEMPLATE]},
     [1, 2]),
]


def tokenizer(**components):
    vocabulary = {"first": 10, "second": 11}
    file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None,
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "first"}}
    return Tokenizer.from_str(json.dumps({**file, **components}))


def processed(component, count):
    encoding = tokenizer(post_processor=component).encode(*["first", "second"][:count])
    return [encoding.ids, encoding.type_ids]


def words(component, text):
    return [word for word, _ in tokenizer(pre_tokenizer=component).pre_tokenizer.pre_tokenize_str(text)]


RUNS = {
    "normalizers": (NORMALIZERS, lambda component, text: tokenizer(
        normalizer=component).normalizer.normalize_str(text)),
    "pre_tokenizers": (PRE_TOKENIZERS, words),
    "models": (MODELS, lambda component, word: tokenizer(model=component).encode(word).ids),
    "decoders": (DECODERS, lambda component, tokens: tokenizer(decoder=component).decoder.decode(tokens)),
    "post_processors": (POST_PROCESSORS, processed),
}


def main():
    def line(value):
        return json.dumps(value, separators=(",", ":"))

    lists = []
    for name, (components, run) in RUNS.items():
        cases = [line([component, [[given, run(component, given)] for given in inputs]])
                 for component, inputs in components]
        lists.append(f'"{name}":[\n' + ",\n".join(cases) + "\n]")
    (HERE / "components.json").write_text("{\n" + ",\n".join(lists) + "\n}\n")


main()
