"""What the tests of the Python package share."""

import base64
import json
import os
import subprocess
from dataclasses import is_dataclass
from pathlib import Path

import numpy as np

from glassformer._results import parse

root = Path(__file__).resolve().parents[2]
goldens = root / "tests/fixtures/golden"
checkpoints = root / "tests/fixtures/checkpoints"
sentiment = root / "weights/sentiment"
writer = root / "weights/writer"
translator = root / "weights/en-de"

#: Patterns that match every tensor of an encoder and its head.
everything = ["*", "*.*", "*.*.*.*", "*.*.*.*.*"]


def read_json(path):
    return json.loads(path.read_text())


def characters(text):
    """Returns, for each position in UTF-16 code units, the one in characters."""
    at = [0]
    for number, character in enumerate(text, 1):
        at += [number] * (len(character.encode("utf-16-le")) // 2)
    return at


def read_tensors(path):
    """Returns the tensors of a safetensors file of floats, by name."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name == "__metadata__":
            continue
        first, end = (start + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[first:end], np.float32).reshape(entry["shape"])
    return tensors


def command(arguments, lines=""):
    """Returns the JSON of each line that the native command writes."""
    run = subprocess.run(
        [os.environ["GLASSFORMER"], *map(str, arguments), "--json"],
        input=lines,
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "LD_PRELOAD": ""},
    )
    return [parse(line) for line in run.stdout.splitlines()]


def assert_same(test, actual, expected, what="result"):
    """Asserts that a result has exactly what the command's JSON has."""
    if isinstance(actual, np.ndarray):
        if isinstance(expected, dict):
            data = np.frombuffer(base64.b64decode(expected["data"]), np.float32)
            names = ("layers", "heads", "queries", "keys")
            shape = expected.get("shape") or [expected[name] for name in names]
            expected = data.reshape(shape)
        np.testing.assert_array_equal(actual, np.float32(expected), what)
    elif isinstance(expected, dict):
        for key, value in expected.items():
            found = getattr(actual, key) if is_dataclass(actual) else actual[key]
            assert_same(test, found, value, f"{what}.{key}")
    elif isinstance(expected, list):
        test.assertEqual(len(actual), len(expected), what)
        for index, (one, other) in enumerate(zip(actual, expected)):
            assert_same(test, one, other, f"{what}[{index}]")
    else:
        test.assertEqual(actual, expected, what)


def assert_near(actual, expected, relative, what):
    """Asserts that arrays have the same shape, and numbers within a share of the largest one."""
    assert actual.dtype == np.float32 and actual.shape == expected.shape, what
    finite = np.isfinite(expected)
    largest = np.abs(expected[finite]).max(initial=0)
    np.testing.assert_array_equal(actual[~finite], expected[~finite], what)
    allowed = relative * largest
    np.testing.assert_allclose(actual[finite], expected[finite], 0, allowed, err_msg=what)
