"""The steps of streams and of training, and how results are made from the core's JSON and arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import lru_cache
from typing import Any, Optional, Union, get_args, get_origin, get_type_hints

from ._readable import Readable, Traced
from ._result_types import OutputToken, Token


@dataclass(repr=False)
class GenerationStep(Traced):
    """A token of a stream."""

    token: OutputToken
    #: The text so far.
    text: str
    #: In the first step.
    prompt_tokens: Optional[list[Token]] = None


@dataclass(repr=False)
class StreamedSentence(Readable):
    """The sentence that a stream translates."""

    index: int
    start: int
    end: int
    target_start: int
    source_tokens: list[Token]


@dataclass(repr=False)
class TranslationStep(Traced):
    """A token of a stream."""

    token: OutputToken
    #: The translation so far.
    text: str
    #: In the first step of a sentence.
    sentence: Optional[StreamedSentence] = None


@dataclass(repr=False)
class Score(Readable):
    """The mean loss on examples, and the share of them that are classified correctly."""

    loss: float
    accuracy: float


@dataclass(kw_only=True, repr=False)
class TrainingStep(Score):
    """One step of a training."""

    #: The number of steps so far, in all trainings of this trainer.
    step: int
    #: How often all examples were read.
    epoch: int
    #: How much of this training is over, from 0 to 1.
    progress: float
    #: The learning rate.
    rate: float
    #: The number of tokens in this step.
    tokens: int
    #: The norm of all gradients, before they are clipped.
    gradient_norm: float
    #: The same for each part of the model, by names such as "encoder.layers.0".
    gradient_norms: dict[str, float]
    #: The time that the step took.
    seconds: float
    #: The score on the examples that are held out. It is measured about twenty times in a training
    #: and after its last step, if there are such examples.
    held_out: Optional[Score] = None


@dataclass(repr=False)
class TokenizerInfo(Readable):
    """Facts about a tokenizer."""

    #: The number of tokens in the vocabulary of the texts that are encoded.
    size: int
    #: The codes of the languages that a tokenizer of many languages knows.
    languages: list[str]


@dataclass(repr=False)
class Info(Readable):
    """Facts about a model. Those that its task does not have are None."""

    task: str
    layers: int
    heads: int
    d_model: int
    vocab_size: int
    max_source_length: int
    parameters: int
    compute: str
    threads: int
    labels: Optional[list[str]] = None
    mask_token: Optional[str] = None
    poolings: Optional[list[str]] = None
    normalize: Optional[bool] = None
    similarity: Optional[str] = None
    prompts: Optional[dict[str, str]] = None
    default_prompt: Optional[str] = None
    unused_head: Optional[str] = None
    prefix: Optional[str] = None
    tasks: Optional[dict[str, str]] = None
    chat_template: Optional[str] = None
    bos_token: Optional[str] = None
    eos_token: Optional[str] = None
    source_language: Optional[str] = None
    target_language: Optional[str] = None
    languages: Optional[list[str]] = None
    decoder_layers: Optional[int] = None
    target_vocab_size: Optional[int] = None
    max_target_length: Optional[int] = None


def build(kind: Any, value: Any) -> Any:
    """Makes a dataclass, or a list of them, from plain data with the same names."""
    if get_origin(kind) is Union:
        kind = get_args(kind)[0]
    if get_origin(kind) is list:
        return [build(get_args(kind)[0], each) for each in value]
    if not is_dataclass(kind):
        return value
    hints = _hints(kind)
    return kind(**{name: build(hints[name], each) for name, each in value.items()})


_hints = lru_cache(get_type_hints)


def parse(text: str) -> dict[str, Any]:
    """Returns a result's JSON as plain data, with the names of Python."""
    result: dict[str, Any] = _with_python_names(json.loads(text))
    return result


def assemble(
    result: dict[str, Any],
    tensors: Mapping[str, Any],
    inputs: Sequence[str],
) -> None:
    """Puts a result's arrays at their places, and makes its offsets count characters."""
    for name, array in tensors.items():
        holder = result
        if found := re.fullmatch(r"(\w+)\.(\d+)\.(.+)", name):
            holder, name = result[found[1]][int(found[2])], found[3]
        group, _, rest = name.partition(".")
        if rest:
            holder.setdefault(group, {})[rest] = array
        elif name == "contributions":
            holder[name] = array.T.copy()
        else:
            holder[_snake_case(name)] = array
    _count_characters(result, inputs)


def _snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda found: "_" + found[0].lower(), name)


def _with_python_names(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_python_names(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {_snake_case(name): _with_python_names(each) for name, each in node.items()}


class _Characters:
    """Turns an offset in UTF-16 code units of a text into one in characters."""

    def __init__(self, text: str) -> None:
        self._at: list[int] | None = None
        if any(character > "\uffff" for character in text):
            self._at = [0]
            for number, character in enumerate(text, 1):
                self._at += [number] * (2 if character > "\uffff" else 1)

    def __call__(self, units: int) -> int:
        return units if self._at is None else self._at[units]


def _count_characters(result: dict[str, Any], inputs: Sequence[str]) -> None:
    read = [_Characters(text) for text in inputs or [""]]
    whole = _Characters(result.get("text", ""))

    def move(node: dict[str, Any], to: Any) -> None:
        for name in ("start", "end"):
            if name in node:
                node[name] = to(node[name])

    def move_tokens(part: dict[str, Any], before: int) -> None:
        own = _Characters(part.get("text", ""))
        for name in ("tokens", "prompt_tokens", "source_tokens", "entities", "masks"):
            last = 0
            for node in part.get(name, ()):
                if "logprob" in node:
                    move(node, lambda units: whole(before) + own(units - before))
                    continue
                # A special token stands at the end of the text before it.
                if node.get("start", 0) < node.get("end", 0):
                    last = node.get("sequence", 0)
                move(node, read[last])

    for part in result.get("sentences", [result]):
        before = part.get("target_start", 0)
        for each in (part, *part.get("hypotheses", ())):
            move_tokens(each, before)
        for name in ("target_start", "target_end"):
            if name in part:
                part[name] = whole(part[name])
        for link in part.get("alignment", ()):
            move(link["target"], whole)
            move(link["source"], read[0])
        move(part, read[-1])
    for node in result.get("donor_tokens", ()):
        move(node, read[-1])
    # A step of a stream.
    if "token" in result and isinstance(result["token"], dict):
        move(result["token"], whole)
    if isinstance(result.get("sentence"), dict):
        move_tokens(result["sentence"], 0)
        move(result["sentence"], read[0])
        result["sentence"]["target_start"] = whole(result["sentence"]["target_start"])
