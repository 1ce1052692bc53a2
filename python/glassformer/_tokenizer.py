"""The tokenizer of a model, without the model."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from . import _core
from ._models import Folder, Loaded, taken_pair, taken_text
from ._result_types import Encoding
from ._results import TokenizerInfo

if TYPE_CHECKING:
    from typing_extensions import Self


class Tokenizer(Loaded):
    """The tokenizer of a model, without the model.

    If a translator has two vocabularies, texts are encoded with that of the source, and decoded
    with that of the translations. Any number of threads may call it at a time.

    Attributes
    ----------
    info : TokenizerInfo
        Facts about the tokenizer.
    """

    def __init__(self, core: _core.Model) -> None:
        """For `load`."""
        super().__init__(core)
        description = json.loads(core.description())
        self.info = TokenizerInfo(description["size"], description["languages"])

    @classmethod
    def load(cls, folder: Folder) -> Self:
        """Opens the tokenizer of a model folder.

        Only the tokenizer's files and config.json are read; config.json and the weights may be
        missing. The model may be of a kind that `glassformer.load` does not open.

        Raises
        ------
        Error
            "missing_file", "invalid_tokenizer" or "unsupported".
        """
        return cls(_core.load_tokenizer(os.fspath(folder)))

    def __len__(self) -> int:
        """The number of tokens in the vocabulary of the texts that are encoded."""
        return self.info.size

    def encode(
        self,
        text: str,
        pair: str | None = None,
        *,
        special_tokens: bool = True,
        max_length: int | None = None,
        language: str | None = None,
    ) -> Encoding:
        """Converts a text to tokens. A text without tokens has only the special ones.

        Parameters
        ----------
        text : str
        pair : str, optional
            A second text, for models that read two together.
        special_tokens : bool
            Adds the tokens that the model expects around its texts.
        max_length : int, optional
            The maximum number of tokens, special ones included. Of two texts, the longer one loses
            its last token until both fit; a text loses its first tokens if the tokenizer's files
            say so.
        language : str, optional
            The language of the text, one of `info.languages`. Default: the one that the files name.

        Raises
        ------
        Error
            "too_large" for a text over 16 MiB, "unsupported" for a pair if the model reads one
            text, "invalid_option" for a language that does not exist or a `max_length` below the
            number of special tokens.
        """
        given = taken_text(text) if pair is None else taken_pair((text, pair))
        options = dict(special_tokens=special_tokens, max_length=max_length, language=language)
        result: Encoding = self._answered(Encoding, [given], options)[0]
        return result

    def decode(self, ids: Iterable[int], *, special_tokens: bool = False) -> str:
        """Converts tokens to a text.

        `special_tokens`: keeps the names of special tokens, such as "</s>".

        Raises
        ------
        Error
            "invalid_option" for an id outside the vocabulary.
        """
        options = dict(decode=list(ids), special_tokens=special_tokens)
        text: str = self._answered(None, [taken_text("")], options)[0]["text"]
        return text

    def _facts(self) -> str:
        return f"{len(self):,} tokens"
