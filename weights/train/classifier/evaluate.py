"""Measures the accuracy and the confusion matrix of a model folder on the public test files (PyTorch, float32).

    python3 -m classifier evaluate --data DIR --model checkpoints/sentiment [--out FILE]
"""
import json
from pathlib import Path

import numpy
import sentencepiece
import torch

from classifier.model import Classifier
from classifier.train import predict
from common import review_files, safetensors_io

FILES = ["imdb.test", "sst2.dev", "amazon.test", "uci_imdb.dev", "yelp.test", "yelp_sent", "hotel"]


class Texts:
    """Tokenized texts in the form that inference_batches() reads."""

    def __init__(self, processor, texts):
        ids = processor.encode(texts)
        self.lengths = numpy.array([len(row) for row in ids])
        self.ids = numpy.concatenate([numpy.array(row, numpy.uint16) for row in ids])
        self.starts = numpy.cumsum(self.lengths) - self.lengths


def load_model(folder):
    """Loads a model folder. Returns (model, config, tokenizer)."""
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text())
    model = Classifier(config)
    weights = {name: torch.from_numpy(array.astype(numpy.float32))
               for name, array in safetensors_io.load(folder / "model.safetensors").items()}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    if unexpected or any(not name.startswith("mlm_") for name in missing):
        raise ValueError(f"{folder}: missing {missing}, unexpected {unexpected}")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    return model.eval(), config, processor


def measure(model, limit, processor, pairs, compute=torch.float32):
    """Measures a model on [(label, text)]. Returns {"texts", "accuracy", "confusion" [true][predicted]}."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    labels = numpy.array([label for label, _ in pairs])
    logits = predict(model.to(device), Texts(processor, [text for _, text in pairs]), device, compute, limit)
    guesses = logits.argmax(1)
    classes = range(logits.shape[1])
    return {"texts": len(labels), "accuracy": round(float((guesses == labels).mean()), 4),
            "confusion": [[int(((labels == t) & (guesses == p)).sum()) for p in classes] for t in classes]}


def add_arguments(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--files", nargs="*", default=FILES)
    parser.add_argument("--out", help="also write the figures to this JSON file")


def main(arguments):
    model, config, processor = load_model(arguments.model)
    figures = {}
    for name in arguments.files:
        pairs = review_files.read_labeled(arguments.data, f"{name}.tsv.gz")
        figures[name] = measure(model, config["max_source_length"], processor, pairs)
        print(json.dumps({"file": name, **figures[name]}), flush=True)
    if arguments.out:
        Path(arguments.out).write_text(json.dumps(figures, indent=2) + "\n")
