"""The direction between two lists of texts, to steer a model with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._models import Model


@dataclass(frozen=True)
class SteeringVector:
    """A direction in the vectors of a tensor.

    `Patch(name, add=vector, scale=c)` steers with it, and `Patch(name, remove=vector)` removes it.

    Attributes
    ----------
    name : str
        The tensor.
    vector : numpy.ndarray
        The mean vector of the texts to steer toward, minus that of the others.
    norm, stream_norm : float
        Its length, and the mean length of the vectors that it was computed from.
    """

    name: str
    vector: NDArray[np.float32]
    norm: float
    stream_norm: float


def _rows(model: Model, text: str, name: str) -> NDArray[np.float32]:
    """Returns the vectors of all tokens of a text, [T, D]."""
    tensors = list(model.trace(text, name).values())  # one per sentence of a translation
    if any(tensor.ndim < 2 for tensor in tensors) or name.endswith((".scores", ".weights")):
        raise ValueError(f"name: expected a tensor with a vector for each token, got {name}")
    return np.concatenate([tensor.reshape(len(tensor), -1) for tensor in tensors])


def steering_vector(
    model: Model,
    name: str,
    toward: Sequence[str],
    away: Sequence[str],
    rows: Literal["last", "mean"] = "last",
) -> SteeringVector:
    """Returns the mean vector of one list of texts minus that of another.

    Contrastive activation addition (Rimsky et al. 2024).

    Parameters
    ----------
    model
        A model that reads texts.
    name : str
        The tensor whose vectors are compared, such as "decoder.layers.2.output".
    toward, away : sequence of str
        Texts to steer toward, and away from.
    rows : {"last", "mean"}
        Which vectors stand for a text: of its last token, or the mean of all.
    """
    if rows not in ("last", "mean"):
        raise ValueError(f'rows: expected "last" or "mean", got {rows!r}')
    means: list[NDArray[np.float64]] = []
    lengths: list[NDArray[np.float64]] = []
    for field, texts in (("toward", toward), ("away", away)):
        if isinstance(texts, str) or len(texts) == 0:
            raise ValueError(f"{field}: expected one or more texts")
        vectors = []
        for text in texts:
            used = _rows(model, text, name)
            if rows == "last":
                used = used[-1:]
            lengths.append(np.linalg.norm(used.astype(np.float64), axis=1))
            vectors.append(used.astype(np.float64).mean(axis=0))
        means.append(np.mean(vectors, axis=0))
    vector = (means[0] - means[1]).astype(np.float32)
    stream_norm = float(np.concatenate(lengths).mean())
    return SteeringVector(name, vector, float(np.linalg.norm(vector)), stream_norm)
