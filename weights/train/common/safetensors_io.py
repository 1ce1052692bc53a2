"""Reads and writes safetensors files with NumPy only, because Debian has no package of the safetensors library.

Format: u64 little-endian header length, a JSON header {name: {dtype, shape, data_offsets}}, then the tensors' bytes
without gaps. NumPy has no BF16: it is read as float32, and written from float32 with rounding to nearest even.
"""

import json

import numpy as np

DTYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I8": np.dtype("i1"), "U8": np.dtype("u1")}


def to_bytes(array, dtype):
    array = np.ascontiguousarray(array)
    if dtype == "BF16":
        bits = array.astype("<f4").view("<u4").astype(np.uint64)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()
    return array.astype(DTYPES[dtype]).tobytes()


def from_bytes(data, dtype, shape):
    if dtype == "BF16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    return np.frombuffer(data, DTYPES[dtype]).reshape(shape)


def save(path, tensors, dtypes=None, metadata=None):
    """Writes {name: array} in the given order. dtypes maps names to dtypes other than F32."""
    header = {"__metadata__": metadata} if metadata else {}
    blocks, offset = [], 0
    for name, array in tensors.items():
        array = np.asarray(array)
        dtype = (dtypes or {}).get(name, "F32")
        block = to_bytes(array, dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, offset + len(block)]}
        blocks.append(block)
        offset += len(block)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(blocks))


def load(path):
    """Returns {name: array} in file order."""
    with open(path, "rb") as file:
        content = file.read()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {
        name: from_bytes(content[start + info["data_offsets"][0] : start + info["data_offsets"][1]], info["dtype"], info["shape"])
        for name, info in sorted(header.items(), key=lambda item: item[1]["data_offsets"])
    }
