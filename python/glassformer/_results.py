"""The results of calls, and how they are made from the core's JSON and arrays.

T tokens, L layers, H heads, C labels, S source tokens. Arrays are float32 and own their memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import Any, Optional, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Arrays = dict[str, Array]


@dataclass(repr=False)
class Readable:
    """What a result shows of itself: fields that it has, and of arrays their shapes."""

    def __repr__(self) -> str:
        # `attention` and the others that every result may have come last.
        names = sorted((each.name for each in fields(self)), key=_often.__contains__)
        values = {name: getattr(self, name) for name in names}
        shown = (f"{name}={_brief(each)}" for name, each in values.items() if _is_there(each))
        return f"{type(self).__name__}({', '.join(shown)})"


_often = ("attention", "trace", "gradients")


def _is_there(value: Any) -> bool:
    return value is not None and not (isinstance(value, dict) and len(value) == 0)


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_brief(each)}" for key, each in value.items()) + "}"
    return repr(value)


@dataclass(repr=False)
class Token(Readable):
    """A token: a row of the attention weights. `text[start:end]` is its part of the text."""

    id: int
    #: As people read it, with a space in front if it starts a word.
    text: str
    start: int
    end: int
    #: Of two texts: the one that it belongs to, 0 or 1.
    sequence: Optional[int] = None
    #: Of a token that the model wrote: its log-probability.
    logprob: Optional[float] = None


@dataclass(kw_only=True, repr=False)
class Traced(Readable):
    """What every result may have in addition."""

    #: With `attention`: "encoder" [L, H, T, T]; of a decoder "decoder" [L, H, T, T] and "cross"
    #: [L, H, T, S].
    attention: Arrays = field(default_factory=dict)
    #: With `trace`: the tensors by name, in the order of the run; see `Model.trace`.
    trace: Arrays = field(default_factory=dict)
    #: With `gradients`: the same names and shapes.
    gradients: Arrays = field(default_factory=dict)


@dataclass(repr=False)
class LabelScore(Readable):
    """A label, and its score."""

    #: Its index in `Info.labels`, or in the given labels. Two labels may have one name.
    id: int
    label: str
    score: float
    #: From which the score is computed.
    logit: float


@dataclass(repr=False)
class Classification(Traced):
    """The labels of a text."""

    label: str
    score: float
    #: Of each label: probabilities that sum to 1, or one for each label, or the logit of a quantity.
    scores: list[LabelScore]
    tokens: list[Token]
    windows: int
    #: Whether the text was longer than what the model read.
    clipped: bool
    #: With `contributions`: [C, T]
    contributions: Optional[Array] = None


@dataclass(repr=False)
class Entity(Readable):
    """An entity of a text."""

    entity: str
    score: float
    word: str
    start: int
    end: int
    index: Optional[int] = None


@dataclass(repr=False)
class TokenClassification(Traced):
    """The entities of a text."""

    entities: list[Entity]
    tokens: list[Token]
    windows: int
    clipped: bool


@dataclass(repr=False)
class Answer(Traced):
    """An answer to a question: `context[start:end]`."""

    answer: str
    score: float
    start: int
    end: int
    tokens: list[Token]


@dataclass(repr=False)
class FilledToken(Readable):
    """A token that may stand at a mask."""

    id: int
    token: str
    text: str
    score: float
    sequence: str


@dataclass(repr=False)
class FilledMask(Readable):
    """A mask, and its most probable tokens, the best first."""

    index: int
    start: int
    end: int
    answers: list[FilledToken]


@dataclass(repr=False)
class FilledText(Traced):
    """The masks of a text."""

    masks: list[FilledMask]
    tokens: list[Token]
    clipped: bool


@dataclass(repr=False)
class Embedding(Traced):
    """The vector of a text."""

    #: [width]
    embedding: Array
    tokens: list[Token]
    clipped: bool


@dataclass(repr=False)
class PatchGrid(Readable):
    """The rows of a picture: `special` ones, then the patches, row by row."""

    rows: int
    columns: int
    special: list[str]


@dataclass(repr=False)
class PictureRegion(Readable):
    """The part of a picture that its patches cover, in pixels. It may exceed the picture."""

    left: float
    top: float
    width: float
    height: float


@dataclass(repr=False)
class ImageClassification(Traced):
    """The labels of a picture; as `Classification`, where T counts the rows of `grid`."""

    label: str
    score: float
    #: Of each label; with `top_k` of the best ones, the best first.
    scores: list[LabelScore]
    grid: PatchGrid
    region: PictureRegion
    contributions: Optional[Array] = None


@dataclass(repr=False)
class ImageMatch(Traced):
    """A picture, compared with labels, or only its vector."""

    #: [width] Of length 1.
    embedding: Array
    grid: PatchGrid
    region: PictureRegion
    label: Optional[str] = None
    score: Optional[float] = None
    scores: Optional[list[LabelScore]] = None


@dataclass(repr=False)
class Hypothesis(Readable):
    """A text that the model wrote."""

    text: str
    #: The log-probability, normalized by length.
    score: float
    tokens: list[Token]


@dataclass(repr=False)
class Generation(Traced, Hypothesis):
    """A generated text."""

    prompt_tokens: list[Token]
    clipped: bool
    #: Whether it ended before the maximum number of tokens.
    ended: bool
    #: With `keep`: the number of the prompt's tokens that an earlier call had read.
    reused: Optional[int] = None
    #: With `hypotheses`: the best first.
    hypotheses: Optional[list[Hypothesis]] = None


@dataclass(repr=False)
class GenerationStep(Traced):
    """A token of a stream."""

    token: Token
    #: The text so far.
    text: str
    #: In the first step.
    prompt_tokens: Optional[list[Token]] = None


@dataclass(repr=False)
class NextToken(Readable):
    """A token that may come next."""

    id: int
    text: str
    logprob: float
    #: The probability of being sampled.
    probability: float


@dataclass(repr=False)
class Prediction(Traced):
    """The tokens that may come next, the most probable first."""

    next: list[NextToken]
    prompt_tokens: list[Token]
    clipped: bool


@dataclass(repr=False)
class TextRange(Readable):
    """A part of a text."""

    start: int
    end: int


@dataclass(repr=False)
class AlignmentLink(Readable):
    """A word of the translation, and the word that it was translated from."""

    target: TextRange
    source: TextRange
    #: The share of the target word's attention on the source word.
    weight: float


@dataclass(repr=False)
class Candidate(Readable):
    """A token that a search considered, after the one at index `parent`."""

    parent: int
    id: int
    text: str
    logprob: float
    total: float
    kept: bool


@dataclass(repr=False)
class SentenceTranslation(Traced, Hypothesis):
    """The translation of the sentence `text[start:end]`."""

    start: int
    end: int
    target_start: int
    target_end: int
    clipped: bool
    source_tokens: list[Token]
    alignment: Optional[list[AlignmentLink]] = None
    hypotheses: Optional[list[Hypothesis]] = None
    tree: Optional[list[Candidate]] = None


@dataclass(repr=False)
class Translation(Readable):
    """The translation of a text."""

    text: str
    score: float
    sentences: list[SentenceTranslation]


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

    token: Token
    #: The translation so far.
    text: str
    #: In the first step of a sentence.
    sentence: Optional[StreamedSentence] = None


@dataclass(repr=False)
class Encoding(Readable):
    """A text, or two, as tokens."""

    ids: list[int]
    #: The same tokens, with their text and position.
    tokens: list[Token]
    #: Whether tokens over `max_length` were dropped.
    clipped: bool


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
