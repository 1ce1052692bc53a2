"""Conversations with a model that was trained for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _core
from ._models import Generator, Stream
from ._results import Generation, GenerationStep

#: {"role", "content"}: who wrote it, usually "system", "user" or "assistant", and what.
ChatMessage = Mapping[str, str]

# The template writes the special tokens, and what was computed for the turns before is used again.
_turn = {"special_tokens": False, "prefix": False, "keep": True}


def chat_prompt(
    generator: Generator,
    messages: Iterable[ChatMessage],
    *,
    add_generation_prompt: bool = True,
    variables: Mapping[str, Any] | None = None,
) -> str:
    """Returns the text that the model's template makes of messages.

    Give it to `Generator.generate` with `special_tokens=False`, as the template writes the special
    tokens.

    Parameters
    ----------
    generator : Generator
    messages : iterable of {"role": str, "content": str}
    add_generation_prompt : bool
        Ends the text with the beginning of the model's own message.
    variables : mapping, optional
        More variables for the template, such as {"enable_thinking": False}. JSON must have them.

    Raises
    ------
    Error
        "unsupported" if the model has no template or an invalid one; "invalid_option" for messages
        that the template refuses.
    """
    taken = [_taken(message, index) for index, message in enumerate(messages)]
    template = _template_of(generator)
    return template.render(taken, json.dumps(dict(variables or {})), add_generation_prompt)


def _template_of(generator: Generator) -> _core.ChatTemplate:
    if not isinstance(generator, Generator):
        raise TypeError(f"generator: expected a Generator, got {type(generator).__name__}")
    return generator._open_core().chat_template()


def _taken(message: ChatMessage, index: int) -> tuple[bytes, bytes]:
    place = f"messages[{index}]"
    if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
        raise TypeError(f'{place}: expected {{"role", "content"}}, got {message!r}')
    for name, text in message.items():
        if not isinstance(text, str):
            raise TypeError(f"{place}: {name}: expected a text, got {type(text).__name__}")
    return message["role"].encode(), message["content"].encode()


class Chat:
    """A conversation with a model that was trained for it.

    A turn reads only what is new since the one before, as `reused` of its result tells; one with a
    trace, patches, ablated heads or beams reads all messages. If the messages are longer than the
    model reads, their beginning is left out, and `clipped` of the result is true. For one thread.

    Parameters
    ----------
    generator : Generator
    system : str, optional
        The first message: instructions for the model.
    variables : mapping, optional
        As in `chat_prompt`.

    Attributes
    ----------
    messages : list of {"role": str, "content": str}
        The messages so far. A turn adds two when it is complete.

    Raises
    ------
    Error
        "unsupported" if the model has no template.
    """

    def __init__(
        self,
        generator: Generator,
        *,
        system: str | None = None,
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        self._generator = generator
        self._template = _template_of(generator)
        self._variables = json.dumps(dict(variables or {}))
        self.messages: list[ChatMessage] = []
        if system is not None:
            self.messages.append({"role": "system", "content": system})
            _taken(self.messages[0], 0)
        self._turn: object = None

    def send(self, content: str, **options: Any) -> Generation:
        """Says something. `text` of the result is the model's answer.

        Options: those of `Generator.generate` except `special_tokens`, `prefix` and `keep`. A turn
        that raises an error changes nothing.
        """
        prompt, add = self._begin(content)
        result = self._generator.generate(prompt, **_turn, **options)
        add(result)
        return result

    def stream(self, content: str, **options: Any) -> Stream[GenerationStep, Generation]:
        """Says something, and gives each token of the model's answer; see `Generator.stream`.

        A turn that begins before the end of the stream takes its place: the stream then ends with a
        RuntimeError.
        """
        prompt, add = self._begin(content)
        return self._generator._stream(prompt, dict(**_turn, **options), add)

    def _begin(self, content: str) -> tuple[str, Callable[[Generation], None]]:
        """Returns the prompt of a turn, and what adds its messages."""
        said = {"role": "user", "content": content}
        messages = [*self.messages, said]
        taken = [_taken(message, index) for index, message in enumerate(messages)]
        prompt = self._template.render(taken, self._variables, True)
        turn = self._turn = object()

        def add(result: Generation) -> None:
            if self._turn is not turn:
                raise RuntimeError("another turn of the chat began before the end of this one")
            self.messages += [said, {"role": "assistant", "content": result.text}]

        return prompt, add

    def __repr__(self) -> str:
        return f"<Chat: {len(self.messages)} messages>"
