"""Writes the token ids and soft labels for `train --stage negate`: the texts of classifier/prepare.py, with fewer
unlabeled ones, and the texts of negations.py.

    python3 -m classifier prepare-negation --data DIR --tokenizer tokenizer.model --reads words.npz model.npz --out negate.npz

--reads names files of the command score. Their teachers are weighed on held-out texts. Sentences cut for their negator
get the scores of the last file that has them. Texts in a file of --kept-out (lines of kind, label and text) are not
trained on; the first of these files is for validation.
"""
import json
from pathlib import Path

import numpy
import sentencepiece

from classifier import prepare
from classifier.negation import negations
from classifier.teachers import ngrams
from common import review_files

HERE = Path(__file__).parent
KEPT_OUT = [HERE / "dev.tsv", HERE / "../../../sentiment/negation.tsv", HERE / "../../../sentiment/probes.tsv"]
UNLABELED = {"films_unlabeled": 20_000, "products_unlabeled": 14_000}
CLIPPED = {"films_unlabeled": 160_000, "products_unlabeled": 100_000}
VARIED = 120_000
WRITTEN, CONTRASTS = 90_000, 12_000
SURE = 3.5  # sentences are cut from unlabeled reviews with log-odds of at least this size
CUT_LABEL_SHARE = 0.5  # share of the review's label in the target of a sentence cut from it
WRITTEN_TARGET = 0.97
CUSTOMERS = ["cr.tsv.gz", "uci.tsv.gz"]


def read_groups(folder):
    """Returns {group: (labels, texts)}: the groups of classifier/prepare.py, and sentences with a negator.

    The labels of "cut_unlabeled" are numbers of reviews, films first. "customers" are also in "sentences".
    """
    groups = prepare.read_groups(folder, CLIPPED, VARIED)
    for name, count in UNLABELED.items():
        groups[name] = tuple(column[:count] for column in groups[name])
    labeled = [pair for name in ("films", "products") for pair in zip(*groups[name])]
    unlabeled = enumerate(text for name in UNLABELED for text in groups[name][1])
    valid = [pair for name in ("valid_films", "valid_products") for pair in zip(*groups[name])]
    for name, pairs in (("cut", labeled), ("cut_unlabeled", unlabeled), ("valid_cut", valid)):
        found = negations.cut(pairs)
        groups[name] = numpy.array([label for label, _ in found]), [text for _, text in found]
    return groups


def split_customers(folder, items):
    """Puts the sentences of customers into a group of their own, and one in ten of them into validation."""
    customers = {text for name in CUSTOMERS for _, text in review_files.read_training(folder, name)}
    goals, texts = items["sentences"]
    chosen = {name: [i for i, text in enumerate(texts) if text in customers and prepare.held_out(text, 10) == held_out]
              for name, held_out in (("customers", False), ("valid_customers", True))}
    for name, rows in chosen.items():
        items[name] = goals[rows], [texts[i] for i in rows]
    items["valid_customers"] = items["valid_customers"][0] > 0.5, items["valid_customers"][1]
    kept = sorted(set(range(len(texts))) - set(chosen["valid_customers"]))
    items["sentences"] = goals[kept], [texts[i] for i in kept]


def probability(scores):
    return 1 / (1 + numpy.exp(-scores))


def soft_labels(groups, reads, log):
    """Returns {group: targets}; nan marks texts that are not used."""
    scores = {}
    for domain in ("films", "products", "sentences"):
        valid = f"valid_{domain}"
        for name in [valid, domain, f"{domain}_unlabeled", f"{domain}_varied"]:
            able = [read for read in reads if valid in read and name in read]
            if able:
                factors = ngrams.weigh([read[valid] for read in able], groups[valid][0])
                scores[name] = sum(factor * read[name] for factor, read in zip(factors, able))
        right = (scores[valid] > 0) == groups[valid][0]
        log({"teachers": domain, "valid_accuracy": round(float(right.mean()), 4)})
    targets = {name: probability(values) for name, values in scores.items()}
    for domain, share in prepare.LABEL_SHARE.items():
        targets[domain] = share * groups[domain][0] + (1 - share) * targets[domain]
    targets["graded"] = groups["graded"][0]
    review = numpy.concatenate([scores[name] for name in UNLABELED])[groups["cut_unlabeled"][0]]
    labels = {"cut": groups["cut"][0], "cut_unlabeled": numpy.where(abs(review) > SURE, review > 0, numpy.nan)}
    for name, label in labels.items():
        answers = probability([read[name] for read in reads if name in read][-1])
        targets[name] = CUT_LABEL_SHARE * label + (1 - CUT_LABEL_SHARE) * answers
    doubtful = [bool(negations.NEGATOR.search(text)) for text in groups["sentences_unlabeled"][1]]
    targets["sentences_unlabeled"][doubtful] = numpy.nan  # "cut_unlabeled" has the ones with surer labels
    for name in groups:
        if name.startswith("valid"):
            targets[name] = groups[name][0]
    return targets


def written(groups):
    """Returns {group: (targets, texts)} of the sentences that negations.py makes."""
    grammar = negations.Grammar(negations.GRAMMAR.read_text())
    made = {"written": grammar.sentences(WRITTEN),
            "contrasts": negations.contrasts(zip(*groups["sentences"]), CONTRASTS)}
    return {name: (numpy.where([label for label, _ in pairs], WRITTEN_TARGET, 1 - WRITTEN_TARGET),
                   [text for _, text in pairs]) for name, pairs in made.items()}


def read_lines(path):
    """Returns [(kind, label, text)] from a file like probes.tsv."""
    lines = (line.split("\t") for line in Path(path).read_text().splitlines())
    return [(kind, int(label == "positive"), text) for kind, label, text in lines]


def usable(goals, texts, kept_out):
    """Removes texts without a target and texts whose letters are in `kept_out`. Returns (targets, texts)."""
    kept = [i for i, text in enumerate(texts) if not numpy.isnan(goals[i]) and negations.letters(text) not in kept_out]
    return goals[kept], [texts[i] for i in kept]


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--tokenizer", default="tokenizer.model")
    parser.add_argument("--reads", nargs="+", required=True, help="files of the command score")
    parser.add_argument("--kept-out", nargs="+", default=KEPT_OUT)
    parser.add_argument("--out", default="negate.npz")


def main(arguments):

    def log(entry):
        print(json.dumps(entry), flush=True)

    groups = read_groups(arguments.data)
    targets = soft_labels(groups, [dict(numpy.load(path)) for path in arguments.reads], log)
    items = {name: (targets[name], groups[name][1]) for name in groups}
    split_customers(arguments.data, items)
    items.update(written(groups))
    lines = [read_lines(path) for path in arguments.kept_out]
    for kind in sorted({kind for kind, _, _ in lines[0]}):
        chosen = [(label, text) for own, label, text in lines[0] if own == kind]
        items[f"valid_{kind.split()[0]}"] = numpy.array([label for label, _ in chosen]), [text for _, text in chosen]
    kept_out = {negations.letters(text) for file in lines for _, _, text in file}
    processor = sentencepiece.SentencePieceProcessor(model_file=arguments.tokenizer)
    arrays = {}
    for name, (goals, texts) in items.items():
        if not name.startswith("valid"):
            goals, texts = usable(goals, texts, kept_out)
        if name in ("sentences", "graded", "customers"):
            texts, goals = prepare.both_spellings(texts, goals)
        arrays.update(prepare.encode(name, processor, texts, numpy.stack([1 - goals, goals], axis=1)))
        log({"group": name, "texts": len(texts), "tokens": len(arrays[f"{name}.ids"])})
    numpy.savez(arguments.out, **arrays)
