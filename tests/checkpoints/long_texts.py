#!/usr/bin/python3
"""Writes long_texts.json: the answers of the original library to texts of several windows.

It needs the packages of make.py and its checkpoints. This program makes the windows for the library's pipeline for
entities from the library's own parts, because tokenizers 0.23 reads only max_length tokens of a text if it is asked for
overlapping windows. The library cannot classify all of a long text. There, each window's probabilities are the
library's, and this program computes `mean` and `max`.
"""

import json
import pathlib
import sys

import torch
import transformers

import make  # before imports that put another make.py on the path
import folders
import tokens
from results import AGGREGATIONS, number
from transformers import TokenClassificationPipeline

HERE = pathlib.Path(__file__).parent
TOKENS = ["bert_tokens", "distilbert_tokens", "roberta_tokens", "xlm_roberta_tokens"]
SMALL = "--all" not in sys.argv  # the committed part; --all adds texts and strides
SEQUENCE = ["bert_sequence", "bert_many_labels", "bert_one_label", "bert_regression", "roberta_sequence"]


def windows(tokenizer, text, room, stride, side):
    """Returns the encodings of a text's windows, with special tokens, and the first token of each."""
    backend = tokenizer._tokenizer
    backend.no_truncation()
    places = tokens.ranges(backend.encode(text, add_special_tokens=False), text)
    processor = backend.post_processor
    backend.post_processor = None  # it trims ranges; that must happen only once, below
    read = backend.encode(text)
    backend.post_processor = processor
    count = len(read.ids)
    read.truncate(room, stride=stride, direction=side)
    step = room - stride
    result = []
    for i, part in enumerate([read, *read.overflowing]):
        first = i * step if side == "right" else max(0, count - room - i * step)
        around = backend.post_process(part, None)
        result.append((around, first, places[first : first + len(part.ids)]))
    assert sum(len(window[0].ids) for window in result) >= count
    return result


class Pipeline(TokenClassificationPipeline):
    """The library's pipeline with our windows. It reports our ranges, in code points."""

    def preprocess(self, sentence, **_):
        parts = windows(self.tokenizer, sentence, *self.how)
        self.parts = iter(parts)
        self.points = {unit: i for i, unit in enumerate(tokens.units(sentence))}
        for i, (encoding, first, _) in enumerate(parts):
            inputs = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask}
            if "token_type_ids" in self.inputs:
                inputs["token_type_ids"] = [0] * len(encoding.ids)
            yield {name: torch.tensor([ids]) for name, ids in inputs.items()} | {
                "special_tokens_mask": torch.tensor([encoding.special_tokens_mask]),
                "offset_mapping": torch.tensor([encoding.offsets]),
                "sentence": sentence if i == 0 else None, "is_last": i == len(parts) - 1}

    def gather_pre_entities(self, *arguments, **options):
        entities = super().gather_pre_entities(*arguments, **options)
        _, _, places = next(self.parts)
        for entity in entities:
            start, end = places[entity["index"] - 1]  # after [CLS]
            entity["start"], entity["end"] = self.points[start], self.points[end]
        return entities


def opened(name):
    variant = next(variant for variant in make.VARIANTS if variant.name == name)
    folder = HERE / name
    model = folders.load(variant, folder).eval()
    tokenizer = tokens.load(variant, folder)
    room = variant.max_length - tokenizer._tokenizer.num_special_tokens_to_add(False)
    return variant, model, tokenizer, room


def label_tokens(name):
    variant, model, tokenizer, room = opened(name)
    words = " ".join(text["text"] for text in json.loads((HERE / name / "expected.json").read_text())["texts"])
    # Only words whose tokens all cover text: otherwise, our ranges differ from the library's.
    covers = lambda word: all(begin < end for begin, end in tokens.ranges(
        tokenizer._tokenizer.encode(word, add_special_tokens=False), word))
    words = " ".join(word for word in words.split(" ") if word and covers(word))
    words = " ".join([words] * (1 + 60 // len(tokenizer(words)["input_ids"])))
    cases = []
    for text in (words,) if SMALL else (words, words[len(words) // 3 :] + " " + words):
        for stride in (None, 0, 1) if SMALL else (None, 0, 1, room // 2, room - 1):
            for side in ("right", "left"):
                if side == "left" and stride != 1:
                    continue
                how = (room, min(128, room // 2) if stride is None else stride, side)
                case = {"text": text, "side": side, "windows": len(windows(tokenizer, text, *how)), "entities": {}}
                if stride is not None:
                    case["stride"] = stride
                for aggregation in AGGREGATIONS[1:] if stride is None or not SMALL else AGGREGATIONS[1:3]:
                    pipeline = Pipeline(model=model, tokenizer=tokenizer, device="cpu",
                                        aggregation_strategy=aggregation)
                    pipeline.how, pipeline.inputs = how, variant.family.inputs
                    units = tokens.units(text)
                    case["entities"][aggregation] = [
                        [found["entity_group"], float(f"{found['score']:.6g}"), found["word"],
                         units[found["start"]], units[found["end"]]] for found in pipeline(text)]
                cases.append(case)
    return cases


def sequence(name):
    variant, model, tokenizer, room = opened(name)
    texts = json.loads((HERE / name / "expected.json").read_text())["texts"]
    text = " ".join(text["text"] for text in texts)
    text = " ".join([text] * (1 + 60 // len(tokenizer(text)["input_ids"])))
    cases = []
    for stride in (None, 0, 3):
        rows = []
        for encoding, _, _ in windows(tokenizer, text, room, room // 2 if stride is None else stride, "right"):
            inputs = {"input_ids": torch.tensor([encoding.ids])}
            with torch.no_grad():
                logits = model(**inputs).logits[0].double()
            scores = {"softmax": lambda z: z.softmax(0), "sigmoid": torch.sigmoid, "none": lambda z: z}
            rows.append(scores[variant.score](logits))
        rows = torch.stack(rows)
        case = {"text": text, "windows": len(rows), "mean": [number(x) for x in rows.mean(0)],
                "max": [number(x) for x in rows.max(0).values]}
        if stride is not None:
            case["stride"] = stride
        cases.append(case)
    return cases


def main():
    transformers.logging.set_verbosity_error()
    result = {"tokens": {name: label_tokens(name) for name in TOKENS},
              "sequence": {name: sequence(name) for name in SEQUENCE}}
    (HERE / "long_texts.json").write_text(folders.text_of(result))
    counts = [len(found) for cases in result["tokens"].values() for case in cases
              for found in case["entities"].values()]
    print(len(counts), "lists with", sum(counts), "entities")


if __name__ == "__main__":
    main()
