"""Models, one class per task."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._call_options import (
    AnswerOptions,
    ClassifyOptions,
    EmbedOptions,
    EncoderOptions,
    ExplainMethod,
    ExplainOptions,
    FillOptions,
    GenerateOptions,
    ImageOptions,
    MatchOptions,
    NextOptions,
    SampleOptions,
    TaskPromptOptions,
    TokenClassifyOptions,
    TranslateOptions,
)
from ._errors import Error
from ._options import encode
from ._readable import Arrays
from ._result_types import (
    Answer,
    Classification,
    Embedding,
    FilledText,
    Generation,
    ImageClassification,
    ImageMatch,
    Prediction,
    TokenClassification,
    Translation,
)
from ._results import GenerationStep, Info, TranslationStep, assemble, build, parse
from ._task_table import TASKS

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

Folder = Union[str, "os.PathLike[str]"]
#: A picture file (PNG, JPEG or WebP) by its path or its bytes; or pixels, uint8 [height, width,
#: channels] or [height, width], or what NumPy turns into them, such as Pillow's pictures.
Picture = Union[str, "os.PathLike[str]", bytes, NDArray[np.uint8], Any]
Step = TypeVar("Step")
Result = TypeVar("Result")


Method = TypeVar("Method", bound=Callable[..., Any])


def _with_options(*groups: type[Any]) -> Callable[[Method], Method]:
    """Appends the documentation of groups of options to that of a method."""

    def add(method: Method) -> Method:
        parts = [method.__doc__, *(each.__doc__ for each in groups)]
        method.__doc__ = "\n\n".join(inspect.cleandoc(part or "") for part in parts) + "\n"
        return method

    return add


def read_picture(picture: Picture) -> NDArray[np.uint8]:
    """Returns the pixels of a picture as models read it.

    Parameters
    ----------
    picture : path, bytes or array_like
        See `Picture`.

    Returns
    -------
    ndarray of uint8, [height, width, channels]
        Red, green and blue for a file, turned as its EXIF data says.

    Raises
    ------
    OSError
        The file cannot be read.
    Error
        "invalid_picture" or "unsupported" for a file that is not a picture.
    TypeError
        The pixels are not of these types and dimensions.
    """
    if isinstance(picture, (str, os.PathLike)):
        picture = Path(picture).read_bytes()
    if isinstance(picture, bytes):
        return _core.decode_picture(picture)
    pixels = np.asarray(picture)
    if pixels.ndim == 2:
        pixels = pixels[:, :, np.newaxis]
    if pixels.dtype != np.uint8 or pixels.ndim != 3:
        raise TypeError(
            "picture: expected a path, bytes, or uint8 [height, width, channels], got "
            f"{pixels.dtype} {list(pixels.shape)}"
        )
    return np.ascontiguousarray(pixels)


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def taken_text(given: Any) -> tuple[str, None]:
    if not isinstance(given, str):
        raise TypeError(f"expected a text, got {type(given).__name__}")
    return given, None


def taken_pair(given: Any) -> tuple[str, str | None]:
    if not isinstance(given, tuple):
        return taken_text(given)
    first, second = given
    return taken_text(first)[0], taken_text(second)[0]


def _texts_of(given: Any) -> list[str]:
    return [each for each in given if each is not None] if isinstance(given, tuple) else []


def _by_sentence(result: Any, field: str) -> Arrays:
    """Returns the trace or the gradients of a result, or of each of its sentences."""
    sentences = getattr(result, "sentences", [result])
    several = len(sentences) > 1
    return {
        f"{index}/{name}" if several else name: array
        for index, each in enumerate(sentences)
        for name, array in getattr(each, field).items()
    }


class Loaded:
    """A model or a tokenizer: what can be closed. Inputs are answered by its core."""


    def __init__(self, core: _core.Model) -> None:
        """For `load`."""
        self._core: _core.Model | None = core

    def close(self) -> None:
        """Frees the memory. Later calls raise Error with the code "disposed"."""
        self._core = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"cannot copy or pickle a {type(self).__name__}: load it in each process")

    def __repr__(self) -> str:
        facts = "closed" if self._core is None else self._facts()
        return f"<{type(self).__name__}: {facts}>"

    def _facts(self) -> str:
        raise NotImplementedError

    def _open_core(self) -> _core.Model:
        if self._core is None:
            raise Error("disposed", f"the {type(self).__name__} was closed; load it again")
        return self._core

    def _start(
        self, inputs: Sequence[Any], options: Mapping[str, Any], explains: bool = False
    ) -> _core.Work:
        pictures = [each for each in inputs if isinstance(each, np.ndarray)]
        texts = [
            (each[0].encode(), None if each[1] is None else each[1].encode())
            for each in inputs
            if isinstance(each, tuple)
        ]
        return self._open_core().start(texts, pictures, *encode(options), explains)

    def _answered(self, kind: Any, inputs: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
        work = self._start(inputs, options)
        while work.next():
            pass
        return self._results(kind, inputs, work)

    def _results(self, kind: Any, inputs: Sequence[Any], work: _core.Work) -> list[Any]:
        results = []
        for index, (given, answer) in enumerate(zip(inputs, work.results())):
            if isinstance(answer, Error):
                place = f"inputs[{index}]: " if len(inputs) > 1 else ""
                raise Error(answer.code, f"{place}{answer}", answer.field)
            results.append(build(kind, self._read(answer, given)))
        return results

    def _read(self, answer: tuple[str, Mapping[str, Any]], given: Any) -> dict[str, Any]:
        """Returns an answer of the core as plain data."""
        result = parse(answer[0])
        assemble(result, answer[1], _texts_of(given))
        return result


class Model(Loaded):
    """A loaded model: the base of all classes.

    Any number of threads may call a model at a time. A stream is read in the thread that began it.
    A model does not survive a fork: load it in each process. `close` frees its memory, as does the
    end of a `with` block, once calls in progress and streams have ended.

    Attributes
    ----------
    info : Info
        Facts about the model.
    architecture : dict
        Its layers and their sizes, by the names of config.json.
    """

    _tasks: ClassVar[Sequence[str]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._tasks = TASKS.get(cls.__name__, cls._tasks)

    def __init__(self, core: _core.Model) -> None:
        """For `load`."""
        super().__init__(core)
        description = json.loads(core.description())
        self.architecture: dict[str, Any] = description.pop("architecture")
        del description["ignored_tensors"]  # of the files, which this object does not know
        self.info = Info(**description, threads=core.threads())

    @classmethod
    def load(
        cls, folder: Folder, *, compute: str | None = None, threads: int | None = None
    ) -> Self:
        """Opens a model folder, in this project's format or a published one.

        Parameters
        ----------
        folder : path
        compute : {"f32", "int8", "int4"}, optional
            Default: as the weights are stored. Gradients need "f32".
        threads : int, optional
            The number of threads that share the work of a call. Default: as many as the machine
            runs at the same time. They change no bit of a result.

        Raises
        ------
        Error
            "missing_file", "wrong_task", "unsupported" and other codes, for files that cannot be
            read.
        """
        return cls(_open(folder, cls._tasks, compute, threads))

    def _facts(self) -> str:
        info = self.info
        return f"{info.task}, {info.layers} layers, {info.parameters:,} parameters, {info.compute}"

    def trace(self, given: Any, names: str | Sequence[str], **options: Any) -> Arrays:
        """Returns tensors between input and answer.

        Parameters
        ----------
        given
            The input: a text, two, a picture, or a question and its context in a tuple.
        names : str or sequence of str
            Such as "encoder.layers.0.self_attn.q" or "logits". "*" matches any characters except
            dots. The error for an unknown name lists the names that the model has.
        **options
            Those of the class's main method, such as `patch`.

        Returns
        -------
        dict of str to ndarray
            The tensors by name, float32, in the order of the run: [T, width]; with heads [T, H,
            width per head]; scores and attention weights [H, T, T]; a vector [width]. Of a text
            with several sentences, which a translator reads one by one, names begin with
            "SENTENCE/", from 0.
        """
        return _by_sentence(self._one(given, dict(trace=_listed(names), **options)), "trace")

    def gradients(self, given: Any, names: str | Sequence[str], **options: Any) -> Arrays:
        """Returns the gradients of the answer with respect to tensors, by the same names and with
        the same shapes as `trace`.

        The answer is a number computed from the logits: the log-odds of two labels; a label's logit
        minus the mean of all; a single logit; of a question, the logits of the answer's first and
        last token; of a model that writes, the next token's logit minus the second-best one's.

        Raises
        ------
        Error
            "unsupported" unless the model was loaded with compute "f32", and for a model without
            such an answer.
        """
        result = self._one(given, dict(gradients=_listed(names), **options))
        return _by_sentence(result, "gradients")

    @property
    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the model's parameters, by name."""
        return {name: tuple(shape) for name, shape in self._open_core().parameters()}

    def weight(self, name: str) -> NDArray[np.float32]:
        """Returns a parameter of the model as float32. Raises KeyError for an unknown name."""
        return self._open_core().weight(name)

    def vocabulary(self) -> list[str]:
        """Returns the text of each token of the vocabulary, by id."""
        texts: list[str] = json.loads(self._open_core().vocabulary())
        return texts

    def batch(self, inputs: Iterable[Any], **options: Any) -> list[Any]:
        """Answers several inputs, in fewer and larger steps than one by one.

        Parameters
        ----------
        inputs : iterable
            Each is what the class's main method takes; a question and its context in a tuple.
        **options
            Those of that method.

        Returns
        -------
        list
            The results, in order. The first error is raised, with the index of its input.
        """
        return self._answered(self._kind, [self._taken(given) for given in inputs], options)

    #: Checks an input and returns it in the form that the core takes.
    _taken: Callable[[Any], Any]
    _kind: Any

    def _one(self, given: Any, options: Mapping[str, Any]) -> Any:
        return self.batch([given], **options)[0]


class Explained(Model):
    def load_dictionaries(self, folder: Folder) -> None:
        """Gives the model dictionaries, for the methods "features" and "attribution_graph".

        Parameters
        ----------
        folder : str or path
            A folder that ``glassformer train --lessons dictionary`` has written.

        Raises
        ------
        Error
            "invalid_weights" if they were made for another model.
        """
        self._open_core().load_dictionaries(folder)

    @_with_options(ExplainOptions)
    def explain(
        self,
        given: Any,
        method: ExplainMethod,
        *,
        on_progress: Callable[[dict[str, Any]], None] | None = None,
        **options: Unpack[ExplainOptions],
    ) -> dict[str, Any]:
        """Explains the answer to an input.

        Parameters
        ----------
        given
            As in the class's main method; with the methods "activation_patching" and, of a model that
            writes, "circuit", two texts in a tuple.
        method : str
            One of ExplainMethod.
        on_progress : callable, optional
            With "activation_patching" and compute "f32": called with the table before it is complete.
        **options
            Those of the method, which are some of the options below.

        Returns
        -------
        dict
            The fields that the documentation's page of results lists for the method, with arrays
            for tensors.
        """
        inputs = [self._taken_to_explain(given)]
        if on_progress is not None:
            options["on_progress"] = True
        work = self._start(inputs, dict(method=method, **options), explains=True)
        while (step := work.next()) is not None:
            if on_progress is not None:
                on_progress(self._read(step, inputs[0]))
        result: dict[str, Any] = self._results(None, inputs, work)[0]
        return result

    def _taken_to_explain(self, given: Any) -> Any:
        return self._taken(given)


class Classifier(Explained):
    """A classifier of texts, or of pairs of texts."""

    _kind = Classification
    _taken = staticmethod(taken_pair)

    @_with_options(EncoderOptions, ClassifyOptions)
    def classify(
        self, text: str | tuple[str, str], **options: Unpack[ClassifyOptions]
    ) -> Classification:
        """Classifies a text or, if the model reads pairs, two texts in a tuple."""
        return self._one(text, options)


class TokenClassifier(Explained):
    """Finds entities in texts, such as names of people and places."""

    _kind = TokenClassification
    _taken = staticmethod(taken_text)

    @_with_options(EncoderOptions, TokenClassifyOptions)
    def classify(self, text: str, **options: Unpack[TokenClassifyOptions]) -> TokenClassification:
        """Finds the entities of a text."""
        return self._one(text, options)


class QuestionAnswerer(Explained):
    """Finds the answer to a question in a text."""

    _kind = Answer
    _taken = staticmethod(taken_pair)

    @_with_options(AnswerOptions)
    def answer(self, question: str, context: str, **options: Unpack[AnswerOptions]) -> Answer:
        """Answers a question with a part of the context."""
        return self._one((question, context), options)


class MaskFiller(Explained):
    """Says which tokens may stand at the masks of a text."""

    _kind = FilledText
    _taken = staticmethod(taken_text)

    @_with_options(EncoderOptions, FillOptions)
    def fill(self, text: str, **options: Unpack[FillOptions]) -> FilledText:
        """Fills the masks of a text, which are written as `info.mask_token`."""
        return self._one(text, options)


class Embedder(Explained):
    """Maps texts to vectors. The angle between two shows how similar the texts are."""

    _kind = Embedding
    _taken = staticmethod(taken_text)

    @_with_options(EncoderOptions, EmbedOptions)
    def embed(self, text: str, **options: Unpack[EmbedOptions]) -> Embedding:
        """Computes the vector of a text."""
        return self._one(text, options)


class ImageClassifier(Explained):
    """A classifier of pictures."""

    _kind = ImageClassification
    _taken = staticmethod(read_picture)

    @_with_options(EncoderOptions, ImageOptions)
    def classify(self, picture: Picture, **options: Unpack[ImageOptions]) -> ImageClassification:
        """Classifies a picture; see `read_picture`."""
        return self._one(picture, options)


class ZeroShotImageClassifier(Explained):
    """Compares pictures with texts, and so finds the best of labels that it was not trained
    with."""

    _kind = ImageMatch
    _taken = staticmethod(read_picture)

    @_with_options(EncoderOptions, MatchOptions)
    def classify(
        self, picture: Picture, labels: Sequence[str], **options: Unpack[MatchOptions]
    ) -> ImageMatch:
        """Finds the label that fits a picture best."""
        if len(labels) == 0:
            raise Error("invalid_option", "labels: expected at least one, got none", "labels")
        return self._one(picture, dict(labels=labels, **options))

    def explain(
        self,
        given: Picture,
        method: ExplainMethod,
        *,
        labels: Sequence[str] = (),
        **options: Unpack[ExplainOptions],
    ) -> dict[str, Any]:
        """Explains which of the labels fits a picture best, as for a classifier with these labels.

        Parameters
        ----------
        given
            The picture.
        method : str
            As for ImageClassifier.
        labels : sequence of str
            At least one.
        **options
            Those of the method, and `hypothesis_template`.

        Returns
        -------
        dict
            As for ImageClassifier.
        """
        return super().explain(given, method, labels=list(labels), **options)

    def embed_image(self, picture: Picture, **options: Any) -> ImageMatch:
        """Computes the vector of a picture, of length 1, with the options of `classify`."""
        return self._one(picture, options)

    @_with_options(EncoderOptions)
    def embed_text(self, text: str, **options: Unpack[EncoderOptions]) -> Embedding:
        """Computes the vector of a text, of length 1."""
        return self._answered(Embedding, [taken_text(text)], options)[0]


class Stream(Iterator[Step], Generic[Step, Result]):
    """The steps of a text that is being written. `result` has the whole result after the last step.

    Ctrl-C ends it within one token. It is read in the thread that began it. `close` gives it up.
    """

    def __init__(
        self, work: _core.Work, show: Callable[[Any], Step], end: Callable[[], Result]
    ) -> None:
        self._work: _core.Work | None = work
        self._show, self._end = show, end
        self.result: Result | None = None

    def __next__(self) -> Step:
        if self._work is not None:
            step = self._work.next()
            if step is not None:
                return self._show(step)
            self._work = None
            self.result = self._end()
        raise StopIteration

    def close(self) -> None:
        """Frees the memory of a stream that is not read to its end. Its `result` stays None."""
        self._work = None


class _Writer(Explained):
    _taken = staticmethod(taken_text)
    _step: Any

    def gradients(self, given: str, names: str | Sequence[str], **options: Any) -> Arrays:
        # Options such as `position`, `token` and `against` select the explained token.
        explained = self.explain(given, "gradients", names=_listed(names), **options)
        found: Arrays = explained["gradients"]
        return found

    def _taken_to_explain(self, given: Any) -> Any:
        return taken_pair(given)

    def _stream(
        self,
        text: str,
        options: Mapping[str, Any],
        then: Callable[[Any], None] = lambda result: None,
    ) -> Stream[Any, Any]:
        """`then` is called with the result."""
        inputs = [self._taken(text)]
        before = whole = ""

        def show(answer: tuple[str, Mapping[str, Any]]) -> Any:
            nonlocal before, whole
            step = parse(answer[0])
            # A translator's step has the text of its sentence.
            if "before" in step:
                before = whole + step.pop("before")
            step["text"] = whole = before + step["text"]
            assemble(step, answer[1], _texts_of(inputs[0]))
            return build(self._step, step)

        def end() -> Any:
            result = self._results(self._kind, inputs, work)[0]
            then(result)
            return result

        work = self._start(inputs, dict(beams=1, stream=True, **options))
        return Stream(work, show, end)


class Generator(_Writer):
    """Continues texts or, if the model has an encoder, answers them with texts."""

    _kind = Generation
    _step = GenerationStep

    @_with_options(GenerateOptions, TaskPromptOptions, SampleOptions)
    def generate(self, text: str, **options: Unpack[GenerateOptions]) -> Generation:
        """Continues a text. `text` and `tokens` of the result are the new part."""
        return self._one(text, options)

    def stream(self, text: str, **options: Any) -> Stream[GenerationStep, Generation]:
        """Continues a text without beams, and gives each token when it is generated.

        Options: those of `next` except `count`, and `max_new_tokens`, `min_new_tokens`,
        `stop_strings` and `keep`.
        """
        return self._stream(text, options)

    def trace(self, given: str, names: str | Sequence[str], **options: Any) -> Arrays:
        """Returns tensors of the run that predicts the token after a text; see `Model.trace`.

        Options: those of `next`. The rows are the text's tokens, so that `logits[-1]` are the next
        token's. A model with an encoder has its rows in the encoder, and a decoder row for the
        start token. Of a text that is written, `generate(text, trace=names)` has the tensors.
        """
        return self.next(given, count=1, trace=_listed(names), **options).trace

    @_with_options(NextOptions, TaskPromptOptions, SampleOptions)
    def next(self, text: str, *, count: int = 10, **options: Unpack[NextOptions]) -> Prediction:
        """Returns the `count` most probable next tokens, or all of them for 0."""
        return self._answered(Prediction, [taken_text(text)], dict(count=count, **options))[0]


class Summarizer(_Writer):
    """Summarizes texts: a model with an encoder that was trained to, such as BART or T5.

    It uses the settings that the folder has for the task "summarization", if it has any.
    """

    _kind = Generation
    _step = GenerationStep

    @_with_options(GenerateOptions, TaskPromptOptions, SampleOptions)
    def summarize(self, text: str, **options: Unpack[GenerateOptions]) -> Generation:
        """Summarizes a text."""
        return self._one(text, options)

    def stream(self, text: str, **options: Any) -> Stream[GenerationStep, Generation]:
        """Summarizes a text without beams, and gives each token when it is generated; see
        `Generator.stream`."""
        return self._stream(text, options)

    def _start(
        self, inputs: Sequence[Any], options: Mapping[str, Any], explains: bool = False
    ) -> _core.Work:
        task = "summarization"
        if task in (self.info.tasks or {}) and not explains:
            options = {"task": task, **options}
        return super()._start(inputs, options, explains)


class Translator(_Writer):
    """Translates texts, sentence by sentence."""

    _kind = Translation
    _step = TranslationStep

    @classmethod
    def load(
        cls,
        folder: Folder,
        *,
        compute: str | None = None,
        threads: int | None = None,
        shortlist: bool = False,
    ) -> Self:
        """Opens a model folder; see `Model.load`.

        `shortlist`: restricts translations to the tokens that the folder's shortlist.bin has for
        their source. This is faster, and occasionally gives a different translation.
        """
        return cls(_open(folder, cls._tasks, compute, threads, shortlist))

    @_with_options(TranslateOptions)
    def translate(self, text: str, **options: Unpack[TranslateOptions]) -> Translation:
        """Translates a text."""
        return self._one(text, options)

    def stream(self, text: str, **options: Any) -> Stream[TranslationStep, Translation]:
        """Translates a text greedily, and gives each token when it is decoded.

        Options: `from_` and `to` (languages), `attention`, `alignment`, `trace`, `patch`, `ablate`
        and `max_length`.
        """
        return self._stream(text, options)


def load(folder: Folder, *, compute: str | None = None, threads: int | None = None) -> Any:
    """Opens a model folder, and returns an object of the class for its task.

    See `Model.load` for the parameters and errors. The `load` of a class, such as
    `Classifier.load`, accepts only models of its task.
    """
    core = _open(folder, (), compute, threads)
    task = json.loads(core.description())["task"]
    name = next(each for each, opened in TASKS.items() if task in opened)
    return globals()[name](core)


def _open(
    folder: Folder,
    tasks: Sequence[str],
    compute: str | None,
    threads: int | None,
    shortlist: bool = False,
) -> _core.Model:
    if not isinstance(compute, (str, type(None))):
        raise TypeError(f"compute: expected a text, got {type(compute).__name__}")
    return _core.load(os.fspath(folder), tasks, compute, checked_threads(threads), shortlist)


_most_threads = 256


def checked_threads(threads: int | None) -> int:
    """Returns a number of threads as the core takes it: 0 is the default."""
    if threads is None:
        return 0
    if not hasattr(threads, "__index__"):
        raise TypeError(f"threads: expected a whole number, got {type(threads).__name__}")
    if not 1 <= threads <= _most_threads:
        expected = f"threads: expected a number from 1 to {_most_threads}, got {threads}"
        raise Error("invalid_option", expected, "threads")
    return int(threads)
