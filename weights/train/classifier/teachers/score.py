"""Scores every text of `train --stage negate` with one teacher, and writes the log-odds of each group.

    python3 -m classifier score --data DIR --out run/words.npz
    python3 -m classifier score --data DIR --model checkpoints/sentiment --out run/model.npz

With --model, the teacher is a model folder. It scores all groups except those whose labels it was trained on, because
its answers there are little more than the labels. With --cut, it scores only the sentences cut for their negator.
Without --model, the teachers are the NB-weighted logistic regressions of ngrams.py. They score reviews and sentences;
those that they are fitted on, out of fold.
"""

import numpy
import torch

from classifier.evaluate import Texts, load_model
from classifier.negation import prepare as negation
from classifier.prepare import folds_of
from classifier.teachers import ngrams
from classifier.train import predict
from common.attention import use_compiled
from common.trainer import compute_type


LABELED = ["films", "products", "sentences", "graded"]


@torch.no_grad()
def read_with_model(folder, groups):
    use_compiled()
    model, config, processor = load_model(folder)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    scores = {}
    for name, (_, texts) in groups.items():
        logits = predict(model.to(device), Texts(processor, texts), device, compute_type(device),
                         config["max_source_length"])
        scores[name] = logits[:, 1] - logits[:, 0]
        print(name, len(texts), flush=True)
    return scores


def read_with_words(groups):
    rows = {name: ngrams.features(texts) for name, (_, texts) in groups.items() if not name.startswith("cut")}
    neighbors = {"films": [], "products": [(rows["films"], groups["films"][0], 0.3)], "sentences": []}
    scores = {}
    for domain, others in neighbors.items():
        labels, texts = groups[domain]
        folds = folds_of(texts, groups["graded"][1]) if domain == "sentences" else None
        scores[domain], score = ngrams.fit_out_of_fold(rows[domain], labels, others, folds)
        for name in rows:
            if name != domain and domain in name:
                scores[name] = score(rows[name])
        print(domain, ((scores[domain] > 0) == labels).mean(), flush=True)
    return scores


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", help="model folder")
    parser.add_argument("--cut", action="store_true", help="score only the sentences cut for their negator")
    parser.add_argument("--out", required=True)


def main(arguments):
    torch.set_num_threads(1)
    groups = negation.read_groups(arguments.data)
    if arguments.model:
        wanted = [name for name in groups if "cut" in name or not arguments.cut and name not in LABELED]
        scores = read_with_model(arguments.model, {name: groups[name] for name in wanted})
    else:
        scores = read_with_words(groups)
    numpy.savez(arguments.out, **scores)
