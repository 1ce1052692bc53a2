"""Tokenizers of newer families in their published form, made from the small tokenizers of tests/data/tokenizers.

Each function changes the contents of a tokenizer.json in place.
"""

import json
import pathlib

SHARED = pathlib.Path(__file__).parent.parent / "data" / "tokenizers"

# The patterns with which the makers split texts into words.
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
LLAMA3 = WORDS + r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = WORDS + r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

# The tokenizer of Llama 2.
SPACE = "▁"
LETTERS = "éüß—…日の"  # non-ASCII characters that are pieces; others are read as bytes


def added(token, id, special=True, **more):
    return {"id": id, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": not special, "special": special} | more


def append(file, *names, **more):
    """Appends new tokens to the vocabulary."""
    first = max([*file["model"]["vocab"].values(), *(token["id"] for token in file["added_tokens"])]) + 1
    file["added_tokens"] += [added(name, first + i, **more) for i, name in enumerate(names)]


def shorten(file, merges):
    """Keeps only the 256 bytes and the first merges, without added tokens."""
    model = file["model"]
    made = {"".join(merge) for merge in model["merges"]}
    known = {token["content"] for token in file["added_tokens"]}
    model["merges"] = model["merges"][:merges]
    names = [name for name in sorted(model["vocab"], key=model["vocab"].get) if name not in made | known]
    names += dict.fromkeys("".join(merge) for merge in model["merges"])
    model["vocab"] = {name: i for i, name in enumerate(names)}
    file["added_tokens"] = []


def template(file, single, pair, ids):
    """Returns a post-processor from lists of tokens. "A" and "B" are the texts; entries ending in ":1" have type 1."""
    def part(name):
        name, _, kind = name.partition(":")
        what = "Sequence" if name in "AB" else "SpecialToken"
        return {what: {"id": name, "type_id": int(kind or 0)}}
    return {"type": "TemplateProcessing", "single": [part(name) for name in single.split()],
            "pair": [part(name) for name in pair.split()],
            "special_tokens": {name: {"id": name, "ids": [id], "tokens": [name]} for name, id in ids.items()}}


def id_of(file, name):
    return next(token["id"] for token in file["added_tokens"] if token["content"] == name)


def split_and_bytes(pattern, trim_offsets):
    """Returns a pre-tokenizer that splits into words with a pattern, then into bytes."""
    return {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": trim_offsets, "use_regex": False}]}


def llama3(file):
    """Llama 3's tokenizer, with the token that begins a text."""
    shorten(file, 84)
    append(file, "<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>")
    file["model"]["ignore_merges"] = True
    file["pre_tokenizer"] = split_and_bytes(LLAMA3, trim_offsets=True)
    begin = "<|begin_of_text|>"
    plain = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    file["post_processor"] = {"type": "Sequence", "processors": [
        plain, template(file, f"{begin} A", f"{begin} A {begin}:1 B:1", {begin: id_of(file, begin)})]}


def smollm3(file):
    """SmolLM3's tokenizer: Llama 3's without the token that begins a text."""
    llama3(file)
    file["post_processor"] = file["post_processor"]["processors"][0]


def qwen2(file):
    """Qwen 2's tokenizer: NFC, single digits, and no tokens around a text."""
    shorten(file, 84)
    append(file, "<|endoftext|>", "<|im_start|>", "<|im_end|>")
    append(file, "<think>", normalized=False, special=False)
    file["model"] |= {"continuing_subword_prefix": "", "end_of_word_suffix": ""}
    file["normalizer"] = {"type": "NFC"}
    file["pre_tokenizer"] = split_and_bytes(QWEN2, trim_offsets=False)
    parts = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    file["post_processor"] = file["decoder"] = parts


def modernbert(file):
    """ModernBERT's tokenizer: two old tokens first, runs of spaces after the vocabulary, then BERT's special tokens."""
    shorten(file, 84)
    model = file["model"]
    model["vocab"] = {name: i for i, name in enumerate(["|||IP_ADDRESS|||", "<|padding|>", *model["vocab"]])}
    file["added_tokens"] = [added("|||IP_ADDRESS|||", 0, special=False), added("<|padding|>", 1)]
    append(file, "    ", "  ", special=False)
    append(file, "[UNK]", "[CLS]", "[SEP]", "[PAD]")
    append(file, "[MASK]", lstrip=True)
    append(file, "[unused0]", special=False)
    file["normalizer"] = {"type": "NFC"}
    file["post_processor"] = template(file, "[CLS] A [SEP]", "[CLS] A [SEP] B [SEP]",
                                      {name: id_of(file, name) for name in ("[CLS]", "[SEP]")})


def renamed(file, names):
    """Puts other special tokens in place of the first four and the last of a Unigram tokenizer."""
    model = file["model"]
    model["vocab"] = [[name, 0.0] for name in names] + model["vocab"][4:]
    model["unk_id"] = names.index(next(name for name in names if "unk" in name.lower()))
    file["added_tokens"] = [added(name, i) for i, name in enumerate(names)]
    file["post_processor"] = template(file, "[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1",
                                      {name: names.index(name) for name in ("[CLS]", "[SEP]")})


def albert(file):
    """ALBERT's tokenizer: SentencePiece's Unigram, lower case, without accents, with one kind of quotation marks."""
    precompiled = file["normalizer"]
    renamed(file, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    file["added_tokens"][4]["lstrip"] = True
    replace = {"type": "Replace", "content": '"'}
    file["normalizer"] = {"type": "Sequence", "normalizers": [
        replace | {"pattern": {"String": "``"}}, replace | {"pattern": {"String": "''"}}, {"type": "NFKD"},
        {"type": "StripAccents"}, {"type": "Lowercase"}, precompiled]}


def deberta(file):
    """DeBERTa-v3's tokenizer: SentencePiece's Unigram with BERT's special tokens, of which [MASK] follows the vocabulary."""
    precompiled = file["normalizer"]
    renamed(file, ["[PAD]", "[CLS]", "[SEP]", "[UNK]"])
    file["added_tokens"].append(added("[MASK]", len(file["model"]["vocab"])))
    file["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Strip", "strip_left": True, "strip_right": True}, precompiled,
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [file["pre_tokenizer"]["pretokenizers"][1]]}


def deberta_old(file):
    """The same with the keys of the first such files."""
    deberta(file)
    file["pre_tokenizer"] = file["decoder"] = {"type": "Metaspace", "replacement": SPACE, "add_prefix_space": True}


def bart(file):
    """BART's tokenizer: RoBERTa's, without a space before a text."""
    for part in ("pre_tokenizer", "post_processor"):
        file[part]["add_prefix_space"] = False


def mpnet(file):
    """MPNet's tokenizer: BERT's with RoBERTa's special tokens."""
    model = file["model"]
    old = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    pieces = [name for name in sorted(model["vocab"], key=model["vocab"].get) if name not in old]
    names = ["<s>", "<pad>", "</s>", "[UNK]", *pieces, "<mask>"]
    model["vocab"] = {name: i for i, name in enumerate(names)}
    file["added_tokens"] = [added(name, i) for i, name in enumerate(names[:4])]
    file["added_tokens"].append(added("<mask>", len(names) - 1, lstrip=True))
    file["post_processor"] = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
                              "add_prefix_space": False}


def text_of(name):
    """Returns the text of a byte-level token, if it is text."""
    from tokenizers import decoders
    text = decoders.ByteLevel().decode([name])
    return None if "\ufffd" in text else text.replace(" ", SPACE)


def llama2(file):
    """Llama 2's tokenizer: SentencePiece's BPE as its converter writes it, bytes for unknown characters, `▁` before the
    text.
    """
    shorten(file, 80)
    pieces = [text_of("".join(merge)) for merge in file["model"]["merges"]]
    pieces = [piece for piece in dict.fromkeys(pieces) if piece and len(piece) > 1 and piece.isprintable()]
    letters = [SPACE, *sorted(set("".join(pieces)) - {SPACE}), *"?!-:;0123456789", *LETTERS]
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces, *letters]
    vocabulary = {name: i for i, name in enumerate(dict.fromkeys(names))}
    merges = []
    for piece in pieces:  # every way to merge two pieces into one
        halves = [(piece[:at], piece[at:]) for at in range(1, len(piece))]
        halves = [(left, right) for left, right in halves if left in vocabulary and right in vocabulary]
        merges += [f"{left} {right}" for left, right in sorted(halves, key=lambda half: [vocabulary[h] for h in half])]
    file["added_tokens"] = [added(name, i) for i, name in enumerate(names[:3])]
    file["model"] |= {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "vocab": vocabulary, "merges": merges}
    del file["model"]["ignore_merges"]
    file["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": SPACE}, {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]}
    file["pre_tokenizer"] = None
    file["post_processor"] = template(file, "<s> A", "<s> A <s>:1 B:1", {"<s>": 1})
    file["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}


LANGUAGES = ["deu_Latn", "eng_Latn", "fra_Latn", "zho_Hans"]


def nllb(file):
    """NLLB's tokenizer: SentencePiece's BPE without bytes, its normalizer, and a special token for each language."""
    precompiled = file["normalizer"]
    letters = json.loads((SHARED / "bytes.json").read_text())
    file["model"] = letters["model"]
    llama2(file)
    model, names = file["model"], ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [name for name in model["vocab"] if name not in ("<unk>", "<s>", "</s>") and not name.startswith("<0x")]
    model["vocab"] = {name: i for i, name in enumerate([*names, *pieces])}
    model["byte_fallback"] = False
    file["added_tokens"] = [added(name, i) for i, name in enumerate(names)]
    append(file, *LANGUAGES)
    append(file, "<mask>", lstrip=True, normalized=True)
    file["normalizer"] = {"type": "Sequence", "normalizers": [
        precompiled, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}
    file["pre_tokenizer"] = file["decoder"] = {
        "type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}
    source, end = "eng_Latn", "</s>"
    file["post_processor"] = template(file, f"{source} A {end}", f"{source} A B {end}",
                                      {name: id_of(file, name) for name in (source, end)})


def phi3(file):
    """Phi-3's tokenizer: Llama 2's with tokens of a chat that swallow the spaces after them."""
    llama2(file)
    append(file, "<|endoftext|>", "<|assistant|>", "<|end|>", rstrip=True)


def gemma(file):
    """Gemma's tokenizer: SentencePiece's BPE with bytes, no `▁` before the text, runs of new lines as tokens, and
    `<bos>` before the text.
    """
    llama2(file)
    model, names = file["model"], ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    pieces = [name for name in model["vocab"] if name not in ("<unk>", "<s>", "</s>")]
    model["vocab"] = {name: i for i, name in enumerate([*names, *pieces])}
    model["merges"] = [merge.split(" ") for merge in model["merges"]]
    file["added_tokens"] = [added(name, i) for i, name in enumerate(names)]
    append(file, "\n", "\n\n", special=False, normalized=False)
    append(file, "<start_of_turn>", "<end_of_turn>")
    file["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
    file["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    file["post_processor"] = template(file, "<bos> A", "<bos> A <bos>:1 B:1", {"<bos>": 2})
    file["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]}


def gpt_neox(file):
    """The tokenizer of GPT-NeoX and Pythia: NFC and bytes, the end of a text first, runs of spaces after the vocabulary."""
    shorten(file, 84)
    model = file["model"]
    model["vocab"] = {name: i for i, name in enumerate(["<|endoftext|>", "<|padding|>", *model["vocab"]])}
    file["added_tokens"] = [added("<|endoftext|>", 0), added("<|padding|>", 1)]
    append(file, "    ", "  ", special=False)
    file["normalizer"] = {"type": "NFC"}


def mistral(file):
    """Mistral's tokenizer: Llama 2's in the later form, with `▁` only before the text, not after a token inside it."""
    llama2(file)
    file["normalizer"] = None
    file["pre_tokenizer"] = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "first", "split": False}
    file["model"]["ignore_merges"] = False
