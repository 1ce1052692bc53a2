"""Files of pictures and labels in the format IDX, as those of MNIST.

    python3 -m common.idx join OUT FILE...       one file with the entries of all, in their order
    python3 -m common.idx pngs FOLDER IMAGES     each picture as FOLDER/00000.png and so on
    python3 -m common.idx score LABELS ANSWERS   a line of JSON: accuracy and the confusion matrix, a row per label.
                                                 ANSWERS has lines of an answer and a tab.
    python3 -m common.idx clothes FOLDER TRAIN TEST  Fashion-MNIST from the files 0.json to 9.json: TRAIN.images,
                                                 TRAIN.labels, TEST.images and TEST.labels. The test file has the
                                                 last 1,000 pictures of each kind.
    python3 -m common.idx name MODEL NAME...     writes names of labels into MODEL/config.json
"""

import json
import os
import struct
import sys
import zlib


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


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pngs(folder, images):
    (count, height, width), data = read(images)
    os.makedirs(folder, exist_ok=True)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits of gray
    for i in range(count):
        pixels = data[i * height * width : (i + 1) * height * width]
        rows = b"".join(b"\0" + pixels[y * width : (y + 1) * width] for y in range(height))
        with open(f"{folder}/{i:05}.png", "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
                       + chunk(b"IEND", b""))


def score(labels, answers):
    right = list(read(labels)[1])
    with open(answers) as file:
        given = [int(line.split("\t")[0]) for line in file]
    if len(given) != len(right):
        raise ValueError(f"expected {len(right)} answers, got {len(given)}")
    kinds = max(right) + 1
    confusion = [[0] * kinds for _ in range(kinds)]
    for one, other in zip(right, given):
        confusion[one][other] += 1
    correct = sum(confusion[kind][kind] for kind in range(kinds))
    print(json.dumps({"pictures": len(right), "accuracy": correct / len(right), "confusion": confusion}))


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


def name(folder, names):
    path = f"{folder}/config.json"
    with open(path) as file:
        config = json.load(file)
    if len(config["id2label"]) != len(names):
        raise ValueError(f"expected {len(config['id2label'])} names, got {len(names)}")
    config["id2label"] = {str(i): label for i, label in enumerate(names)}
    config["label2id"] = {label: i for i, label in enumerate(names)}
    with open(path, "w") as file:
        file.write(json.dumps(config, indent=2) + "\n")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "join":
        join(arguments[0], arguments[1:])
    elif command == "name":
        name(arguments[0], arguments[1:])
    else:
        {"pngs": pngs, "score": score, "clothes": clothes}[command](*arguments)
