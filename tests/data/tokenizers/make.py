#!/usr/bin/python3
"""Trains the tiny tokenizers of this folder, and writes the original library's tokens of the texts.

    make.py                    only the expected tokens, from the existing tokenizers
    make.py --train [NAME…]    also the tokenizers, or some of them

It needs the packages python3-tokenizers (0.23.1) and python3-sentencepiece of Debian sid. NAME.json is a
tokenizer.json. NAME.expected has a line for every third line of adversarial.txt and for ten lines of
../tokenizer/text.txt: a JSON array of the ids, the ids with special tokens, and the ranges in UTF-16 units
(ranges.py); a tab; and the decoded ids as a JSON string.
"""

import base64
import io
import json
import pathlib
import sys
import tempfile

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)

from patterns import PUBLISHED
from ranges import ranges

HERE = pathlib.Path(__file__).parent


def texts():
    lines = (HERE / "adversarial.txt").read_bytes().decode().split("\n")[:-1]
    more = (HERE.parent / "tokenizer" / "text.txt").read_bytes().decode().split("\n")[:-1]
    return lines[::3] + more[:10]


def corpus():
    return (HERE.parent / "tokenizer" / "text.txt").read_text().split("\n") * 2


def wordpiece(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    alphabet = list("aeiounrstΣσςά日本é!?.,'-#")
    trainer = trainers.WordPieceTrainer(vocab_size=400, special_tokens=specials, show_progress=False,
                                        initial_alphabet=alphabet, limit_alphabet=120)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")])
    return tokenizer


def byte_level(prefix, specials):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=specials, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def writer():
    return byte_level(False, ["<|endoftext|>"])


def masked():
    tokenizer = byte_level(True, ["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.add_tokens([AddedToken("naïve", single_word=True), AddedToken("#hash", rstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return tokenizer


def split(pattern, behavior, invert):
    """Returns the pre-tokenizer of large models: words by a regular expression, then bytes."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=not invert))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), behavior, invert),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=["<|end|>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def unigram(normalizer, byte_fallback):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", show_progress=False,
                                      special_tokens=["<pad>", "</s>", "<unk>"])
    tokenizer.train_from_iterator(corpus(), trainer)
    state = json.loads(tokenizer.to_str())
    if byte_fallback:
        state["model"]["vocab"] += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
        state["model"]["byte_fallback"] = True
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return tokenizer


# The replacements of the normalizer "precompiled".
RULES = {"\u00a0": " ", "\u3000": " ", "\u200b": "", "ﬁ": "fi", "½": "1⁄2", "…": "...", "ａ": "a", "Ａ": "A",
         "！": "!", "e\u0301": "é", "a\u0300": "à", "u\u0308": "ü", "カ\u3099": "ガ", "ｶﾞ": "ガ"}


def fields(message):
    """Yields (number, bytes) of the fields with a length in a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 2:
            size = varint()
            yield key >> 3, message[at : at + size]
            at += size
        elif kind == 0:
            varint()
        else:
            at += {1: 8, 5: 4}[kind]


def charsmap(rules):
    """Compiles the rules with SentencePiece."""
    import sentencepiece

    point = lambda text: " ".join(f"{ord(character):04X}" for character in text)
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
        file.write("".join(f"{point(source)}\t{point(target)}\n" for source, target in rules.items()))
        file.flush()
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus()), model_writer=model, vocab_size=100, model_type="char",
            normalization_rule_tsv=file.name, minloglevel=2)
    normalizer = dict(fields(model.getvalue()))[3]
    return dict(fields(normalizer))[2]


def precompiled():
    """Makes a tokenizer like multilingual checkpoints: SentencePiece's normalizer and RoBERTa's special tokens."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Precompiled(charsmap(RULES))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", show_progress=False,
                                      special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.train_from_iterator(corpus(), trainer)
    state = json.loads(tokenizer.to_str())
    state["normalizer"] = {
        "type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(RULES)).decode()}
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


def mixed():
    """Makes a tokenizer with components that the others lack."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip(),
         normalizers.Replace("--", "—")])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True),
         pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Split("ing", "merged_with_previous")])
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>"], show_progress=False,
                                  limit_alphabet=80)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_tokens([AddedToken("Straße", normalized=True)])
    return tokenizer


TOKENIZERS = {
    "wordpiece_uncased": lambda: wordpiece(True),
    "wordpiece_cased": lambda: wordpiece(False),
    "bytes": writer,
    "bytes_masked": masked,
    "unigram": lambda: unigram(normalizers.NFKD(), False),
    "unigram_bytes": lambda: unigram(
        normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.NFC()]), True),
    "precompiled": precompiled,
    "mixed": mixed,
    "split": lambda: split(PUBLISHED["Llama 3"], "isolated", False),
    "split_cased": lambda: split(PUBLISHED["GPT-4o"], "removed", True),
}


def expected(tokenizer, text):
    plain = tokenizer.encode(text, add_special_tokens=False)
    flat = [unit for place in ranges(plain, text) for unit in place]
    return [plain.ids, tokenizer.encode(text).ids, flat]


def main():
    for name, train in TOKENIZERS.items():
        file = HERE / f"{name}.json"
        if sys.argv[1:2] == ["--train"] and (not sys.argv[2:] or name in sys.argv[2:]):
            state = json.loads(train().to_str())
            file.write_text(json.dumps(state, ensure_ascii=False, separators=(",", ":")) + "\n")
        tokenizer = Tokenizer.from_file(str(file))
        lines = [json.dumps(expected(tokenizer, text), separators=(",", ":")) for text in texts()]
        decoded = [tokenizer.decode(tokenizer.encode(text).ids) for text in texts()]
        (HERE / f"{name}.expected").write_text(
            "".join(f"{line}\t{json.dumps(text)}\n" for line, text in zip(lines, decoded)))
        print(name, tokenizer.get_vocab_size())


main()
