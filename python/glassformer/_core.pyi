import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._errors import Error

class Floats: ...  # numpy.asarray makes arrays of it and of Bytes, without a copy
class Bytes: ...

#: The JSON of a result, and its tensors by name.
_Answer = tuple[str, dict[str, Floats]]

class Model:
    def __init__(
        self,
        folder: str | os.PathLike[str],
        tasks: Sequence[str],
        compute: str | None,
        threads: int,
        shortlist: bool,
    ) -> None: ...
    def description(self) -> str: ...
    def threads(self) -> int: ...
    def vocabulary(self) -> str: ...
    def parameters(self) -> list[tuple[str, list[int]]]: ...
    def weight(self, name: str) -> Floats: ...
    def start(
        self,
        texts: Sequence[tuple[bytes, bytes | None]],
        pictures: Sequence[NDArray[np.uint8]],
        options: str,
        values: NDArray[np.float32],
        explains: bool,
    ) -> Work: ...

class Work:
    def next(self) -> _Answer | None: ...
    def results(self) -> list[_Answer | Error]: ...

def decode_picture(file: bytes) -> Bytes: ...
