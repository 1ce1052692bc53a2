"""The options of calls, and their form for the core: JSON, and the numbers that it refers to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Patch:
    """Numbers that replace a tensor, or a part of it, or change it, before anything is computed from it.

    Parameters
    ----------
    name : str
        The name of one tensor, as in a trace, without "*".
    value : array_like
        One number for all that is selected, or an array with as many tokens, heads and keys as are
        selected, such as an array of another text's trace. It is converted to float32.
    tokens, heads, keys : sequence of int, optional
        The rows, the heads of a tensor that has heads, and the keys of scores and attention weights
        to change. Default: all.
    add, remove : array_like, optional
        In place of `value`: a vector that is added `scale` times to each row (Turner et al. 2023),
        or the direction v that is removed from it, x - scale (x · v) v / ‖v‖² (Arditi et al. 2024).
    scale : float, optional
        Default: 1.
    from_ : int, optional
        With `add` and `remove`: only rows from this position on. Default: 0.
    """

    name: str
    value: ArrayLike | None = None
    tokens: Sequence[int] | None = None
    heads: Sequence[int] | None = None
    keys: Sequence[int] | None = None
    add: ArrayLike | None = None
    remove: ArrayLike | None = None
    scale: float | None = None
    from_: int | None = None


@dataclass(frozen=True)
class Head:
    """An attention head of a layer, both counted from 0."""

    layer: int
    head: int
    attention: Literal["encoder", "decoder", "cross"] = "encoder"


def encode(options: Mapping[str, Any]) -> tuple[str, NDArray[np.float32]]:
    """Returns options as JSON, and the numbers of their arrays, [numbers]."""
    numbers: list[NDArray[np.float32]] = []

    def place(value: ArrayLike) -> dict[str, Any]:
        array = np.asarray(value, np.float32)
        offset = sum(each.size for each in numbers)
        numbers.append(array.ravel())
        return {"shape": array.shape, "offset": offset}

    def plain(value: Any) -> Any:
        if isinstance(value, Patch):
            selected = {
                "tokens": value.tokens,
                "heads": value.heads,
                "keys": value.keys,
                "scale": value.scale,
                "from": value.from_,
            }
            given = {name: each for name, each in selected.items() if each is not None}
            numbers_of = {"value": value.value, "add": value.add, "remove": value.remove}
            kinds = [kind for kind, each in numbers_of.items() if each is not None]
            if len(kinds) != 1:
                raise TypeError("Patch: expected one of value, add and remove")
            return {"name": value.name, kinds[0]: place(numbers_of[kinds[0]]), **given}
        if isinstance(value, Head):
            return vars(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        raise TypeError(f"expected a value that JSON has, or a Patch or Head, got {value!r}")

    given = {
        name.rstrip("_"): place(value) if name == "scores" else value
        for name, value in options.items()
        if value is not None
    }
    text = json.dumps(given, default=plain, allow_nan=False)
    return text, np.concatenate(numbers) if numbers else np.empty(0, np.float32)
