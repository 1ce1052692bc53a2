"""Models that learn from examples."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._call_options import TrainingOptions
from ._errors import Error
from ._models import (
    Explained,
    Folder,
    Picture,
    _with_options,
    checked_threads,
    read_picture,
    taken_pair,
)
from ._options import encode
from ._result_types import Classification, ImageClassification
from ._results import Score, TrainingStep, parse

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: (text, label), ((text, pair), label) or (picture, label) each, all pictures of the same size; or
#: the path or the bytes of a file. One of texts has lines, each a label, a tab and a text, or a
#: label and two texts. One of pictures has the format IDX, as those of MNIST, followed by another
#: such file with their labels, or by lines with their labels.
Examples = Union[str, "os.PathLike[str]", bytes, Iterable[tuple[Any, str]]]

_usual_epochs = 10
_measurements = 20  # in a training, of the examples that are held out
_measuring_share = 0.1  # of the time
_idx_of_bytes = b"\0\0\x08"  # the beginning of a file of pictures


class Trainer(Explained):
    """A classifier of texts or of pictures that learns from examples.

    Between two steps it answers with the weights of the moment, and has the methods of every model:
    `trace`, `gradients`, `weight` and others. Calls of several threads wait for one another.

    Parameters
    ----------
    start : path or mapping
        The folder of the model that learns further; its head is replaced if the examples have a
        label that it does not know. Or fields of config.json, for a new model: `encoder_layers`,
        `d_model`, `d_ff`, `n_heads` and others; missing ones are those of a small Transformer. A
        new model is a classifier of texts, whose tokenizer is trained on the examples, or of
        pictures, a Vision Transformer.
    examples
        Those to learn from: (text, label) tuples; ((text, pair), label) tuples, for a model that
        reads pairs; or (picture, label) tuples, where a picture is a `pathlib.Path`, the bytes of a
        file, or pixels; see `Examples`.
    threads : int, optional
        The number of threads that share the work. Default: as many as the machine runs at the same
        time. They change no bit of what is learned.
    **options
        How it learns: see `TrainingOptions`.

    Attributes
    ----------
    info : Info
        Facts about the model.
    architecture : dict
        Its layers and their sizes.
    examples : int
        The number of examples to learn from.
    held_out : int
        The number of examples that are held out, to measure progress.
    steps_per_epoch : int
        The number of steps in which every example is read once.

    Raises
    ------
    Error
        "invalid_data" for examples that cannot be learned from, such as those with only one label,
        a line without text or names of columns instead of an example, with the number of the line;
        "invalid_option", "wrong_task" and the errors of `load`.

    Warns
    -----
    UserWarning
        What may be wrong with examples that are learned all the same, such as many labels.
    """

    @_with_options(TrainingOptions)
    def __init__(
        self,
        start: Folder | Mapping[str, Any],
        examples: Examples,
        *,
        threads: int | None = None,
        **options: Unpack[TrainingOptions],
    ) -> None:
        """Reads the examples, and makes the model that learns them."""
        data = _encode(examples)
        if "lessons" in options:  # The core would learn dictionaries.
            raise Error("invalid_option", "lessons: unknown field")
        core = _core.Learner(checked_threads(threads))
        config = json.dumps(dict(start)) if isinstance(start, Mapping) else ""
        if not isinstance(start, Mapping):
            core.open(os.fspath(start))
        begun = _answer(core.begin(config, data, encode(options)[0]))
        for warning in begun["warnings"]:
            warnings.warn(warning, stacklevel=2)
        super().__init__(core)
        self._learner: _core.Learner | None = core
        self._one_at_a_time = threading.RLock()
        self.examples: int = begun["examples"]
        self.held_out: int = begun["held_out"]
        self.steps_per_epoch: int = begun["steps_per_epoch"]
        reads_pictures = self.info.task == "image-classification"
        self._kind = ImageClassification if reads_pictures else Classification
        self._taken: Callable[[Any], Any] = read_picture if reads_pictures else taken_pair

    def close(self) -> None:
        super().close()
        self._learner = None

    def train(
        self, *, epochs: float | None = None, minutes: float | None = None
    ) -> Iterator[TrainingStep]:
        """Learns for some epochs, by default 10, or minutes.

        Yields each step, and takes the next when it is asked for: a loop that waits pauses the
        training, and one that ends stops it. May be called again to learn further. Ctrl-C ends it
        after a step.

        Parameters
        ----------
        epochs : float, optional
            How often every example is read.
        minutes : float, optional
            The time to learn. Pauses do not count.
        """
        for name, value in (("epochs", epochs), ("minutes", minutes)):
            if value is not None and not 0 < value < float("inf"):
                raise Error("invalid_option", f"{name}: expected a positive number, got {value}")
        if epochs is not None and minutes is not None:
            raise Error("invalid_option", "minutes: expected nothing where epochs is given")
        self._open_learner()
        return self._steps(_usual_epochs if epochs is None else epochs, minutes)

    def _steps(self, epochs: float, minutes: float | None) -> Iterator[TrainingStep]:
        steps = max(round(self.steps_per_epoch * epochs), 1)
        spent = measured = progress = 0.0
        taken, due = 0, 1 / _measurements
        while progress < 1:
            taken += 1
            progress = min(taken / steps if minutes is None else spent / (60 * minutes), 1.0)
            step, seconds = self._timed(lambda learner: learner.step(progress))
            spent += seconds
            names = {each["name"]: each["norm"] for each in step.pop("gradient_norms")}
            held_out = None
            is_due = progress >= due and measured <= _measuring_share * spent
            if self.held_out > 0 and (progress == 1 or is_due):
                score, measuring = self._timed(lambda learner: learner.evaluate(b""))
                held_out = _score(score)
                spent += measuring
                measured += measuring
                due = (int(progress * _measurements) + 1) / _measurements
            yield TrainingStep(
                **step,
                progress=progress,
                gradient_norms=names,
                seconds=seconds,
                held_out=held_out,
            )

    def evaluate(self, examples: Examples) -> Score:
        """Returns the score on other examples, without dropout and label smoothing.

        Raises
        ------
        Error
            "invalid_data", also for a label that the model does not know.
        """
        data = _encode(examples)
        if len(data) == 0:
            raise Error("invalid_data", "examples: expected at least one, got none")
        reads_pictures = self.info.task == "image-classification"
        if data.startswith(_idx_of_bytes) != reads_pictures:
            kind = "pictures" if reads_pictures else "texts"
            raise Error("invalid_option", f"examples: expected {kind}, as it learns")
        return _score(self._timed(lambda learner: learner.evaluate(data))[0])

    def classify(self, given: Any, **options: Any) -> Classification | ImageClassification:
        """Classifies a text or a picture with the weights of the moment; see `Classifier.classify`
        and `ImageClassifier.classify`."""
        result: Classification | ImageClassification = self._one(given, options)
        return result

    def save(self, folder: Folder) -> None:
        """Writes a model folder with the weights of the moment, which `load` opens.

        The folder is made if it does not exist; files of the same names are replaced, or none if
        one cannot be written. A classifier of pictures has the format of the library transformers.
        """
        with self._one_at_a_time:
            files = self._open_learner().save()
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        facts = {}
        for name, data in files:
            facts[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        manifest = json.dumps({"files": facts}, indent=2)
        _write([*files, ("manifest.json", f"{manifest}\n".encode())], path)

    def explain(self, given: Any, method: str, **options: Any) -> dict[str, Any]:
        with self._one_at_a_time:
            return super().explain(given, method, **options)

    def weight(self, name: str) -> NDArray[np.float32]:
        with self._one_at_a_time:
            return super().weight(name)

    def _answered(self, kind: Any, inputs: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
        with self._one_at_a_time:
            return super()._answered(kind, inputs, options)

    def _open_learner(self) -> _core.Learner:
        self._open_core()
        assert self._learner is not None
        return self._learner

    def _timed(self, call: Callable[[_core.Learner], str]) -> tuple[dict[str, Any], float]:
        """Returns an answer, and the seconds that it took."""
        with self._one_at_a_time:
            learner = self._open_learner()
            start = time.perf_counter()
            answer = call(learner)
            return _answer(answer), time.perf_counter() - start


def _write(files: Sequence[tuple[str, bytes]], folder: Path) -> None:
    """Writes all files under other names before it replaces any."""
    new = [folder / f"{name}.new" for name, _ in files]
    try:
        for path, (_, data) in zip(new, files):
            try:
                path.write_bytes(data)
            except OSError as error:
                error.filename = error.filename or str(path)
                raise
        for path in new:
            path.replace(path.with_suffix(""))
    finally:
        for path in new:
            path.unlink(missing_ok=True)


def _answer(text: str) -> dict[str, Any]:
    answer = parse(text)
    if "error" in answer:
        error = answer["error"]
        raise Error(error["code"], error["message"], error.get("field", ""))
    return answer


def _score(answer: Mapping[str, Any]) -> Score:
    return Score(answer["loss"], answer["accuracy"])


def _encode(examples: Examples) -> bytes:
    """Returns examples as the core reads them: a file of `Examples`."""
    if isinstance(examples, (str, os.PathLike)):
        return Path(examples).read_bytes()
    if isinstance(examples, bytes):
        return examples
    some = [_taken(example, f"examples[{index}]") for index, example in enumerate(examples)]
    if all(isinstance(given, (str, tuple)) for given, _ in some):
        return "".join(_lines_of(some)).encode()
    return _encode_pictures(some)


def _lines_of(examples: Sequence[tuple[Any, str]]) -> Iterator[str]:
    """Yields a line for each example of texts. A line break or a tab in a text becomes a space."""
    breaks = re.compile("[\t\r\n]+")
    for index, (given, label) in enumerate(examples):
        if isinstance(given, tuple) != isinstance(examples[0][0], tuple):
            expected = "a text" if isinstance(given, tuple) else "two texts"
            what = f"expected {expected} as the first, got {given!r:.80}"
            raise Error("invalid_data", f"examples[{index}]: {what}")
        texts = given if isinstance(given, tuple) else (given,)
        yield "\t".join([label, *(breaks.sub(" ", text) for text in texts)]) + "\n"


def _taken(example: Any, place: str) -> tuple[Any, str]:
    if not isinstance(example, (tuple, list)) or len(example) != 2:
        what = "(text, label), ((text, pair), label) or (picture, label)"
        raise TypeError(f"{place}: expected {what}, got {example!r:.80}")
    given, label = example
    if isinstance(given, tuple) and [type(each) for each in given] != [str, str]:
        raise TypeError(f"{place}: expected two texts, got {given!r:.80}")
    if not isinstance(label, str):
        raise TypeError(f"{place}: label: expected a text, got {type(label).__name__}")
    if re.search("[\t\r\n]", label):
        what = f"expected a label without tabs and line breaks, got {label!r}"
        raise Error("invalid_data", f"{place}: {what}")
    return given, label


def _encode_pictures(examples: Sequence[tuple[Picture, str]]) -> bytes:
    pictures = []
    for index, (given, _) in enumerate(examples):
        place = f"examples[{index}]"
        if isinstance(given, str):
            raise TypeError(f"{place}: expected a picture, as a Path if it is a file, got a text")
        pixels = read_picture(given)
        height, width, channels = pixels.shape
        if channels not in (1, 3, 4):
            what = f"expected 1, 3 or 4 channels, got {channels}"
            raise Error("invalid_data", f"{place}: {what}")
        if pictures and pixels.shape[:2] != pictures[0].shape[:2]:
            first = pictures[0].shape
            what = f"expected {first[1]} x {first[0]} pixels as the first, got {width} x {height}"
            raise Error("invalid_data", f"{place}: {what}")
        pictures.append(pixels)
    gray = all(each.shape[2] == 1 for each in pictures)
    size = (len(pictures), *pictures[0].shape[:2], *([] if gray else [3]))
    parts = [_idx_of_bytes, struct.pack(f">B{len(size)}I", len(size), *size)]
    parts += [(each if gray else _colors(each)).tobytes() for each in pictures]
    parts += [f"{label}\n".encode() for _, label in examples]
    return b"".join(parts)


def _colors(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Returns red, green and blue of gray, or without opacity."""
    return pixels[:, :, [0, 0, 0]] if pixels.shape[2] == 1 else pixels[:, :, :3]
