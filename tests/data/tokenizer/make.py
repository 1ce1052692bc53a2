#!/usr/bin/python3
"""Trains the small tokenizer models of this folder, and writes SentencePiece's ids of the texts.

It needs the packages sentencepiece and python3-sentencepiece (0.1.97) of Debian 12:

    tests/data/tokenizer/make.py            only the expected ids, from the existing models
    tests/data/tokenizer/make.py --train    also the models

Every line of text.txt and adversarial.txt is one text; in both, \\n, \\r, \\t, \\xNN and \\\\ are escapes.
MODEL.tsv has a line for each text: the ids, a tab, and the decoded ids, escaped.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import sentencepiece

HERE = pathlib.Path(__file__).parent
TEXTS = ["text.txt", "adversarial.txt"]

RULES = """\
41\t61
C4\t61 65
FB01\t66 69
65 301\tE9
2026\t2E 2E 2E
200B\t
"""

MODELS = {
    "unigram": ["--model_type=unigram", "--vocab_size=500", "--normalization_rule_name=nmt_nfkc",
                "--character_coverage=0.98"],
    "unigram_bytes": ["--model_type=unigram", "--vocab_size=600", "--byte_fallback",
                      "--normalization_rule_name=nmt_nfkc_cf", "--character_coverage=0.98",
                      "--user_defined_symbols=<mask>,New York,▁very▁,ab,abc,😀"],
    "bpe": ["--model_type=bpe", "--vocab_size=500", "--normalization_rule_tsv=rules.tsv",
            "--character_coverage=0.98"],
    "bpe_bytes": ["--model_type=bpe", "--vocab_size=600", "--byte_fallback", "--split_digits",
                  "--normalization_rule_name=identity", "--character_coverage=0.98",
                  "--user_defined_symbols=<mask>,film"],
    "spaces": ["--model_type=unigram", "--vocab_size=300", "--normalization_rule_name=identity",
               "--character_coverage=0.98", "--remove_extra_whitespaces=false",
               "--add_dummy_prefix=false", "--split_by_whitespace=false"],
    "suffix": ["--model_type=bpe", "--vocab_size=300", "--normalization_rule_name=identity",
               "--character_coverage=0.98", "--treat_whitespace_as_suffix"],
}

ESCAPES = {b"\\n": b"\n", b"\\r": b"\r", b"\\t": b"\t", b"\\\\": b"\\"}


def unescape(line: bytes) -> bytes:
    def replace(match):
        escape = match.group()
        return ESCAPES.get(escape) or bytes([int(escape[2:], 16)])

    return re.sub(rb"\\(?:x[0-9a-f]{2}|[nrt\\])", replace, line)


def escape(text: str) -> str:
    text = text.replace("\\", "\\\\")
    return re.sub(r"[\x00-\x1f]", lambda match: f"\\x{ord(match.group()):02x}", text)


def read_texts():
    return [unescape(line) for name in TEXTS
            for line in (HERE / name).read_bytes().removesuffix(b"\n").split(b"\n")]


def train(name, options, folder):
    # Models contain these paths, so they are relative.
    (folder / "text.txt").write_bytes((HERE / "text.txt").read_bytes())
    (folder / "rules.tsv").write_text(RULES)
    subprocess.run(["spm_train", "--input=text.txt", f"--model_prefix={name}",
                    "--hard_vocab_limit=false", "--num_threads=1", "--minloglevel=2"] + options,
                   cwd=folder, check=True)
    (HERE / f"{name}.model").write_bytes((folder / f"{name}.model").read_bytes())


def expect(name, texts):
    model = HERE / f"{name}.model"
    processor = sentencepiece.SentencePieceProcessor(str(model))
    ids = [processor.encode(text) for text in texts]

    # The command line tool must give the same, if it supports the model.
    lines = [i for i, text in enumerate(texts) if b"\n" not in text]
    output = subprocess.run(["spm_encode", f"--model={model}", "--output_format=id"], check=True,
                            input=b"".join(texts[i] + b"\n" for i in lines), capture_output=True)
    told = output.stdout.decode().removesuffix("\n").split("\n")
    assert told == [" ".join(map(str, ids[i])) for i in lines], name

    with open(HERE / f"{name}.tsv", "w") as file:
        for sequence in ids:
            print(" ".join(map(str, sequence)), escape(processor.decode(sequence)), sep="\t",
                  file=file)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, options in MODELS.items():
            if sys.argv[1:] == ["--train"]:
                train(name, options, pathlib.Path(folder))
            expect(name, read_texts())


if __name__ == "__main__":
    main()
