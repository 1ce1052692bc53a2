#!/usr/bin/python3
"""Prints the ids of the original library, for tests/evaluate/tokenizers.mjs.

    tokenizer_reference.py FOLDER < LINES > IDS

It needs the packages python3-tokenizers (0.23.1) and python3-transformers (5.12.1) of Debian sid. Each line of
the output is a JSON array: the ids of an input line, and its ids with the tokens that the model expects around it.
"""

import json
import os
import pathlib
import sys
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.simplefilter("ignore")


def load(folder):
    """Returns a function from a text, and whether to add special tokens, to ids."""
    if (folder / "tokenizer.json").exists():
        import tokenizers

        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
    elif (folder / "vocab.txt").exists():
        from transformers import BertTokenizer

        tokenizer = BertTokenizer.from_pretrained(folder).backend_tokenizer
    else:
        from transformers import GPT2Tokenizer

        tokenizer = GPT2Tokenizer.from_pretrained(folder).backend_tokenizer
    return lambda text, special: tokenizer.encode(text, add_special_tokens=special).ids


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some libraries print more than ids
    encode = load(pathlib.Path(sys.argv[1]))
    for line in sys.stdin.buffer.read().decode().removesuffix("\n").split("\n"):
        print(json.dumps([encode(line, False), encode(line, True)]), file=out)


main()
