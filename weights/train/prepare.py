"""Texts -> token ids with a soft label each, in one file that training maps into memory.

    python3 prepare.py --data DIR --tokenizer tokenizer.model --out items.npz

Targets are probabilities of the classes: of labelled texts a blend of label and teacher, of unlabelled ones
the teacher's word. Validation texts are kept from the teachers as from the student.
"""
import argparse
import json
import random
import re
import time
import zlib

import numpy
import sentencepiece

import data
import teacher

LABEL_SHARE = {"films": 0.6, "products": 0.7, "sentences": 0.9}  # of the label in a labelled text's target
GRADED = [0.03, 0.2, 0.5, 0.8, 0.97]  # targets of SST-5's five grades
CLIPPED_SENTENCES = {"films_unlabelled": 260_000, "products_unlabelled": 140_000}


def letters(text):
    return re.sub("[^a-z0-9]", "", text.lower())


def held_out(text, share):
    return zlib.crc32(letters(text).encode()) % share == 0


def read_groups(folder):
    """Returns {group: (labels, texts)}, with nothing of a validation sentence left in a training group."""
    groups = {}
    for domain in ("films", "products"):
        labelled, unlabelled = data.DOMAINS[domain]
        pairs = [pair for name in labelled for pair in data.read_training(folder, name)]
        groups[f"valid_{domain}"] = [pair for pair in pairs if held_out(pair[1], 20)]
        groups[domain] = [pair for pair in pairs if not held_out(pair[1], 20)]
        groups[f"{domain}_unlabelled"] = [(-1, text) for name in unlabelled
                                          for text in data.read_training(folder, name)]
    whole = data.read_training(folder, "sst2.train_sentences.tsv.gz")
    groups["valid_sentences"] = [pair for pair in whole if held_out(pair[1], 10)]
    seen = "|".join(letters(text) for _, text in groups["valid_sentences"])
    pairs = [pair for name in data.DOMAINS["sentences"][0] for pair in data.read_training(folder, name)] + whole
    groups["sentences"] = [pair for pair in pairs
                           if len(letters(pair[1])) < 12 or letters(pair[1]) not in seen]
    groups["sentences_unlabelled"] = [(-1, text) for text in clip_sentences(groups)]
    return {name: (numpy.array([label for label, _ in pairs]), [text for _, text in pairs])
            for name, pairs in groups.items()}


def clip_sentences(groups):
    """Sentences of 3 to 40 words out of the unlabelled reviews."""
    clipped = []
    for name, count in CLIPPED_SENTENCES.items():
        found = [sentence for _, text in groups[name] for sentence in re.split(r"(?<=[.!?]) +", text)
                 if 3 <= sentence.count(" ") + 1 <= 40]
        clipped += random.Random(1).sample(found, min(count, len(found)))
    return clipped


def soft_labels(groups, log):
    """Returns {group: float32 targets}."""
    rows = {name: teacher.features(texts) for name, (_, texts) in groups.items()}
    labels = {name: group[0] for name, group in groups.items()}
    neighbours = {"films": [], "products": ["films"], "sentences": ["films", "products"]}
    targets = {}
    for domain in ("films", "products", "sentences"):
        others = [(rows[name], labels[name], 0.3 if domain == "products" else 1.0) for name in neighbours[domain]]
        own, score = teacher.fit_out_of_fold(rows[domain], labels[domain], others)
        valid = score(rows[f"valid_{domain}"])
        factor = 1.0
        if domain == "sentences":  # phrases of one sentence lie in several folds: calibrate on unseen ones
            factor = teacher.slope(valid, labels["valid_sentences"])
        share = LABEL_SHARE[domain]
        targets[domain] = share * labels[domain] + (1 - share) / (1 + numpy.exp(-factor * own))
        targets[f"{domain}_unlabelled"] = 1 / (1 + numpy.exp(-factor * score(rows[f"{domain}_unlabelled"])))
        targets[f"valid_{domain}"] = labels[f"valid_{domain}"]
        log({"teacher": domain, "valid_accuracy": float(((valid > 0) == labels[f"valid_{domain}"]).mean()),
             "valid_texts": len(valid)})
    return targets


def both_spellings(texts, goals):
    """Adds "don't", as people write, to "do n't", as the sets have it."""
    plain = [(data.detokenise(text), goal) for text, goal in zip(texts, goals)]
    plain = [(text, goal) for (text, goal), old in zip(plain, texts) if text != old]
    return texts + [text for text, _ in plain], numpy.concatenate([goals, [goal for _, goal in plain]])


def encode(name, processor, texts, targets):
    """The arrays of one group: ids, where each text ends in them, targets [texts, C]."""
    ids = processor.encode(texts)
    return {f"{name}.ids": numpy.concatenate([numpy.array(row, numpy.uint16) for row in ids]),
            f"{name}.ends": numpy.cumsum([len(row) for row in ids]),
            f"{name}.targets": targets.astype(numpy.float32)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--out", default="items.npz")
    arguments = parser.parse_args()
    began = time.time()

    def log(entry):
        print(json.dumps({**entry, "seconds": round(time.time() - began)}), flush=True)

    groups = read_groups(arguments.data)
    targets = soft_labels(groups, log)
    processor = sentencepiece.SentencePieceProcessor(model_file=arguments.tokenizer)
    arrays = {}
    for name, (_, texts) in groups.items():
        goals = targets[name]
        if name == "sentences":
            texts, goals = both_spellings(texts, goals)
        arrays.update(encode(name, processor, texts, numpy.stack([1 - goals, goals], axis=1)))
        log({"group": name, "texts": len(texts), "tokens": len(arrays[f"{name}.ids"])})
    graded = [pair for pair in data.read_training(arguments.data, "sst5.train.tsv.gz") if not held_out(pair[1], 10)]
    texts, goals = both_spellings([text for _, text in graded], numpy.array([GRADED[label] for label, _ in graded]))
    arrays.update(encode("graded", processor, texts, numpy.stack([1 - goals, goals], axis=1)))
    numpy.savez(arguments.out, **arrays)


if __name__ == "__main__":
    main()
