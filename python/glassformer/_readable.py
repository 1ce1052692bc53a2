"""The bases of results."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: float32; it owns its memory.
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
