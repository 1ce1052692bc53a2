#!/usr/bin/python3
"""Writes generation_options.json: the output of the original library with stop strings, with forbidden words and
tokens, and for an empty prompt. It needs the packages of make.py and its checkpoints."""

import json
import pathlib

import torch
import transformers

import make  # before imports that put another make.py on the path
import folders
import tokens
from results import LIBRARY, NEW_TOKENS

HERE = pathlib.Path(__file__).parent
NAMES = ["gpt2_generate", "gpt2_unscaled", "t5", "flan_t5"]


def written(opened, text, options):
    variant, model, tokenizer = opened
    given = dict(variant.generation)
    if not {"max_new_tokens", "max_length"} & given.keys():
        options = {"maxNewTokens": NEW_TOKENS} | options
    for key, value in options.items():
        if key in LIBRARY:
            given[LIBRARY[key]] = value
    if given.get("num_beams", 1) == 1:
        given = {key: value for key, value in given.items() if key not in ("early_stopping", "length_penalty")}
    if "max_new_tokens" in given:
        given.pop("max_length", None)
    suppressed = list(range(len(tokenizer), model.config.vocab_size)) + options.get("suppressTokens", [])
    if suppressed:
        given["suppress_tokens"] = suppressed
    if "beginSuppressTokens" in options:
        given["begin_suppress_tokens"] = options["beginSuppressTokens"]
    if "stopStrings" in options:
        given |= {"stop_strings": options["stopStrings"], "tokenizer": tokenizer}
    if "badWords" in options:
        words = [tokenizer.encode(form + word, add_special_tokens=False)
                 for word in options["badWords"] for form in ("", " ")]
        given["bad_words_ids"] = [list(word) for word in dict.fromkeys(map(tuple, words))]
    inputs = {}
    if text or model.config.is_encoder_decoder:
        ids = tokenizer(text, truncation=True)
        inputs = {name: torch.tensor([ids[name]]) for name in ("input_ids", "attention_mask")}
        if "max_new_tokens" in given and not model.config.is_encoder_decoder:
            room = variant.max_length + 1 - len(ids["input_ids"])
            given["max_new_tokens"] = min(given["max_new_tokens"], room)
    ends = model.config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    # A padding token other than the end token would be masked in a prompt that contains it.
    with torch.no_grad():
        found = model.generate(**inputs, **given, do_sample=False, pad_token_id=ends[0], output_scores=True,
                               return_dict_in_generate=True)
    read = 1 if model.config.is_encoder_decoder or not inputs else inputs["input_ids"].shape[1]
    ids = found.sequences[0, read:].tolist()
    first = next((i for i, token in enumerate(ids) if token in ends), len(ids) - 1)
    run = {"text": text, "options": options, "ids": ids[: first + 1]}
    score = getattr(found, "sequences_scores", None)
    return run | ({} if score is None else {"score": float(f"{float(score[0]):.5g}")})


def usable(stop):
    """Tells whether a stop string has only whole characters. Bytes that are not text are decoded as a mark."""
    return stop and stop.isprintable() and "\ufffd" not in stop


def cases(opened, text):
    variant, model, tokenizer = opened
    for beams in (1, 3):
        search = {"beams": beams}
        plain = written(opened, text, search)
        yield plain
        ids = plain["ids"]
        answer = tokenizer.decode(ids, skip_special_tokens=True)
        # A stop string across tokens, within a token, at the first place, and nowhere.
        for begin, end in ((len(answer) // 3, len(answer) // 2 + 1), (len(answer) // 2, len(answer) // 2 + 1), (0, 2)):
            stop = answer[begin:end]
            if usable(stop):
                yield written(opened, text, search | {"stopStrings": [stop]})
        if usable(answer[-3:]):
            yield written(opened, text, search | {"stopStrings": ["zebra crossing", answer[-3:]]})
        if not model.config.is_encoder_decoder and text:
            both = tokenizer.decode(tokenizer(text)["input_ids"] + ids)
            at = len(both) - len(answer)
            if usable(both[at - 2 : at + 1]):
                yield written(opened, text, search | {"stopStrings": [both[at - 2 : at + 1]]})
        yield written(opened, text, search | {"suppressTokens": sorted(set(ids[:3]))})
        yield written(opened, text, search | {"beginSuppressTokens": [ids[0]]})
        yield written(opened, text, search | {"suppressTokens": [ids[-1]], "beginSuppressTokens": [ids[0], 5]})
        words = [tokenizer.decode(ids[i : i + 2], skip_special_tokens=True).strip() for i in (0, 2, 4)]
        words = [word for word in words if word and "\ufffd" not in word]
        if words:
            yield written(opened, text, search | {"badWords": words})
            yield written(opened, text, search | {"badWords": words[:1], "suppressTokens": ids[1:2]})


def main():
    transformers.logging.set_verbosity_error()
    result = {}
    for name in NAMES:
        variant = next(variant for variant in make.VARIANTS if variant.name == name)
        opened = variant, folders.load(variant, HERE / name).eval(), tokens.load(variant, HERE / name)
        texts = list(variant.texts[:3])
        texts = [""] + texts if name.startswith("gpt2") else texts
        result[name] = [case for text in texts for case in cases(opened, text)
                        # A folder that forces an end token which is forbidden has no defined result.
                        if name != "flan_t5" or 1 not in case["options"].get("suppressTokens", [])]
    (HERE / "generation_options.json").write_text(folders.text_of(result))
    print({name: len(cases) for name, cases in result.items()})


if __name__ == "__main__":
    main()
