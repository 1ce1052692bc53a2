"""Writes the token ids and soft labels of all texts into one file.

    python3 -m classifier prepare --data DIR --tokenizer tokenizer.model --sentences sentences.npz --reviews reviews.npz \\
        --out items.npz

Targets are probabilities of the classes: a mixture of label and teacher for labeled texts, the teacher's probability
for unlabeled ones. Neither the teachers nor the model are trained on validation texts.
"""
import bisect
import json
import random
import re
import time
import zlib

import numpy
import sentencepiece

from classifier.teachers import ngrams, variations
from common import review_files

LABEL_SHARE = {"films": 0.6, "products": 0.7, "sentences": 0.6}  # share of the label in the target of a labeled text
GRADED = [0.03, 0.2, 0.5, 0.8, 0.97]  # targets of SST-5's five grades
CLIPPED_SENTENCES = {"films_unlabeled": 260_000, "products_unlabeled": 140_000}
VARIED_SENTENCES = 240_000


def letters(text):
    return re.sub("[^a-z0-9]", "", text.lower())


def held_out(text, share):
    return zlib.crc32(letters(text).encode()) % share == 0


def read_groups(folder, clipped=CLIPPED_SENTENCES, varied=VARIED_SENTENCES):
    """Returns {group: (labels, texts)}. No part of a validation sentence is in a training group.

    clipped: how many sentences are cut from each unlabeled group. varied: how many are made from labeled ones.
    """
    groups = {}
    for domain in ("films", "products"):
        labeled, unlabeled = review_files.DOMAINS[domain]
        pairs = [pair for name in labeled for pair in review_files.read_training(folder, name)]
        groups[f"valid_{domain}"] = [pair for pair in pairs if held_out(pair[1], 20)]
        groups[domain] = [pair for pair in pairs if not held_out(pair[1], 20)]
        groups[f"{domain}_unlabeled"] = [(-1, text) for name in unlabeled
                                          for text in review_files.read_training(folder, name)]
    whole = review_files.read_training(folder, "sst2.train_sentences.tsv.gz")
    groups["valid_sentences"] = [pair for pair in whole if held_out(pair[1], 10)]
    seen = "|".join(letters(text) for _, text in groups["valid_sentences"])
    names = review_files.DOMAINS["sentences"][0]
    pairs = [pair for name in names for pair in review_files.read_training(folder, name)] + whole
    groups["sentences"] = [pair for pair in pairs
                           if len(letters(pair[1])) < 12 or letters(pair[1]) not in seen]
    groups["graded"] = [(GRADED[grade], text) for grade, text in review_files.read_training(folder, "sst5.train.tsv.gz")
                        if not held_out(text, 10)]
    groups["sentences_unlabeled"] = [(-1, text) for text in clip_sentences(groups, clipped)]
    groups["sentences_varied"] = [(-1, text) for text in vary_sentences(groups, varied)]
    return {name: (numpy.array([label for label, _ in pairs]), [text for _, text in pairs])
            for name, pairs in groups.items()}


def clip_sentences(groups, counts):
    """Returns sentences of 3 to 40 words cut from the unlabeled reviews."""
    clipped = []
    for name, count in counts.items():
        found = [sentence for _, text in groups[name] for sentence in re.split(r"(?<=[.!?]) +", text)
                 if 3 <= sentence.count(" ") + 1 <= 40]
        clipped += random.Random(1).sample(found, min(count, len(found)))
    return clipped


def vary_sentences(groups, count):
    phrases = [text for _, text in groups["sentences"]]
    sentences = sorted({text for name in ("sentences", "graded") for _, text in groups[name] if text.count(" ") > 9})
    return variations.vary(sentences, phrases, count)


def folds_of(texts, wholes):
    """Returns the fold of each text. A phrase of a sentence in `wholes` has the fold of that sentence."""
    wholes = [letters(whole) for whole in wholes]
    ends = numpy.cumsum([len(whole) + 1 for whole in wholes])
    joined = "|".join(wholes)
    folds = []
    for text in map(letters, texts):
        place = joined.find(text)
        source = text if place < 0 else wholes[bisect.bisect_right(ends, place)]
        folds.append(zlib.crc32(source.encode()) // 10 % ngrams.FOLDS)  # held_out() uses the remainder of 10
    return numpy.array(folds)


def soft_labels(groups, sentences, reviews, log):
    """Returns {group: targets}. sentences, reviews: the files of teachers/sentences.py and teachers/reviews.py."""
    read = numpy.load(reviews)
    rows = {name: ngrams.features(texts) for name, (_, texts) in groups.items()
            if "films" in name or "products" in name}
    labels = {name: group[0] for name, group in groups.items()}
    scores = sentence_scores(sentences, groups)
    for domain, others in (("films", []), ("products", [(rows["films"], labels["films"], 0.3)])):
        scores[domain], score = ngrams.fit_out_of_fold(rows[domain], labels[domain], others)
        own = {name: score(rows[name]) for name in (f"{domain}_unlabeled", f"valid_{domain}")}
        factors = ngrams.weigh([own[f"valid_{domain}"], read[f"valid_{domain}"]], labels[f"valid_{domain}"])
        for name, values in own.items():
            scores[name] = factors[0] * values + factors[1] * read[name]
    targets = {name: 1 / (1 + numpy.exp(-values)) for name, values in scores.items()}
    for domain, share in LABEL_SHARE.items():
        valid = f"valid_{domain}"
        log({"teacher": domain, "valid_accuracy": float(((scores[valid] > 0) == labels[valid]).mean()),
             "valid_texts": len(labels[valid])})
        targets[domain] = share * labels[domain] + (1 - share) * targets[domain]
        targets[valid] = labels[valid]
    targets["graded"] = labels["graded"]
    return targets


def sentence_scores(path, groups):
    """Returns {group: log-odds} from the file of teachers/sentences.py, calibrated on labeled sentences, out of fold."""
    stored = numpy.load(path)
    labels, texts = groups["sentences"]
    whole = numpy.array([text.count(" ") > 9 for text in texts])  # short phrases are unlike the model's later input
    [factor] = ngrams.weigh([stored["sentences"][whole]], labels[whole])
    return {name: factor * stored[name] for name in stored.files}


def both_spellings(texts, goals):
    """Adds texts with "don't", as people write, to those with "do n't", as in the data sets."""
    plain = [(review_files.detokenize(text), goal) for text, goal in zip(texts, goals)]
    plain = [(text, goal) for (text, goal), old in zip(plain, texts) if text != old]
    return texts + [text for text, _ in plain], numpy.concatenate([goals, [goal for _, goal in plain]])


def encode(name, processor, texts, targets):
    """Returns the arrays of one group: ids, the end of each text in them, targets [texts, C]."""
    ids = processor.encode(texts)
    return {f"{name}.ids": numpy.concatenate([numpy.array(row, numpy.uint16) for row in ids]),
            f"{name}.ends": numpy.cumsum([len(row) for row in ids]),
            f"{name}.targets": targets.astype(numpy.float32)}


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--sentences", required=True, help="file of the command sentence-teacher")
    parser.add_argument("--reviews", required=True, help="file of the command review-teacher")
    parser.add_argument("--out", default="items.npz")


def main(arguments):
    began = time.time()

    def log(entry):
        print(json.dumps({**entry, "seconds": round(time.time() - began)}), flush=True)

    groups = read_groups(arguments.data)
    targets = soft_labels(groups, arguments.sentences, arguments.reviews, log)
    processor = sentencepiece.SentencePieceProcessor(model_file=arguments.tokenizer)
    arrays = {}
    for name, (_, texts) in groups.items():
        goals = targets[name]
        if name in ("sentences", "graded"):
            texts, goals = both_spellings(texts, goals)
        arrays.update(encode(name, processor, texts, numpy.stack([1 - goals, goals], axis=1)))
        log({"group": name, "texts": len(texts), "tokens": len(arrays[f"{name}.ids"])})
    numpy.savez(arguments.out, **arrays)
