"""Conversations with a model that was trained for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from . import _core
from ._errors import Error
from ._models import Generator, Stream
from ._result_types import Generation
from ._results import GenerationStep

#: "role": who wrote it, usually "system", "user", "assistant" or "tool"; "content": a text, a list of
#: parts or None; and others that the model's template reads, such as "tool_calls".
ChatMessage = Mapping[str, Any]

# The template writes the special tokens, and what was computed for the turns before is used again.
_turn = {"special_tokens": False, "prefix": False, "keep": True}


def chat_prompt(
    generator: Generator,
    messages: Iterable[ChatMessage],
    *,
    add_generation_prompt: bool | None = None,
    continue_final_message: bool | str = False,
    chat_template: str | None = None,
    variables: Mapping[str, Any] | None = None,
) -> str:
    """Returns the text that the model's template makes of messages.

    Give it to `Generator.generate` with `special_tokens=False`, as the template writes the special
    tokens.

    Parameters
    ----------
    generator : Generator
    messages : iterable of {"role": str, "content": str, ...}
    add_generation_prompt : bool, optional
        Ends the text with the beginning of the model's own message. Default: True, unless a message
        is continued.
    continue_final_message : bool or str
        Ends the text with the last message, so that the model continues it; or with another field
        of it than "content".
    chat_template : str, optional
        The name of the template, if the model has several. Default: "tool_use" with the variable
        "tools", if there is one of that name, otherwise "default".
    variables : mapping, optional
        More variables for the template, such as {"enable_thinking": False} or {"tools": [...]}.
        JSON must have them.

    Raises
    ------
    Error
        "unsupported" if the model has no template or an invalid one; "invalid_option" for messages
        that the template refuses; "too_large" if it takes too much time or memory.
    """
    now = datetime.now()
    request = {
        "messages": [_taken(message, index) for index, message in enumerate(messages)],
        "add_generation_prompt": add_generation_prompt,
        "continue_final_message": "content" if continue_final_message is True else "",
        "chat_template": chat_template,
        "variables": dict(variables or {}),
        "now": [now.year, now.month, now.day, now.hour, now.minute, now.second, now.microsecond],
    }
    if isinstance(continue_final_message, str):
        request["continue_final_message"] = continue_final_message
    try:
        text = json.dumps(request, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise Error("invalid_option", f"messages, variables: {error}", "messages") from None
    return _template_of(generator).text(text)


def _template_of(generator: Generator) -> _core.ChatTemplate:
    if not isinstance(generator, Generator):
        raise TypeError(f"generator: expected a Generator, got {type(generator).__name__}")
    return generator._open_core().chat_template()


def _taken(message: ChatMessage, index: int) -> dict[str, Any]:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise TypeError(f'messages[{index}]: expected a mapping with the text "role", got {message!r}')
    return dict(message)


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
        The messages so far. A turn adds two when it is complete. Between turns you may change them,
        and add others, such as a tool's answer.

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
        _template_of(generator)
        self._variables = dict(variables or {})
        self.messages: list[ChatMessage] = []
        if system is not None:
            self.messages.append({"role": "system", "content": system})
            if not isinstance(system, str):
                raise TypeError(f"system: expected a text, got {type(system).__name__}")
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
        if not isinstance(content, str):
            raise TypeError(f"content: expected a text, got {type(content).__name__}")
        prompt = chat_prompt(self._generator, [*self.messages, said], variables=self._variables)
        turn = self._turn = object()

        def add(result: Generation) -> None:
            if self._turn is not turn:
                raise RuntimeError("another turn of the chat began before the end of this one")
            self.messages += [said, {"role": "assistant", "content": result.text}]

        return prompt, add

    def __repr__(self) -> str:
        return f"<Chat: {len(self.messages)} messages>"
