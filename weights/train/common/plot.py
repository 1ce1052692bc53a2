"""Draws loss and validation accuracy, BLEU or bits per byte from the log.jsonl of runs, as one SVG for the model card.

    python3 -m classifier plot RUN/log.jsonl RUN2/log.jsonl --out ../sentiment/curves.svg
"""
import json

CLASSIFIER = [
    ("Classification loss, training", {"loss_long": "reviews", "loss_short": "sentences",
                                      "loss_negated": "negation"}),
    ("Masked-token loss, training", {"mlm_long": "reviews", "mlm_short": "sentences"}),
    ("Accuracy on held-out texts", {"valid_films": "films", "valid_products": "products",
                                          "valid_sentences": "sentences"}),
]
CORPORA = ("tatoeba", "multi30k", "dialogue", "news")
TRANSLATOR = [
    ("Cross-entropy a token, training", {"plain": "nats"}),
    ("Cross-entropy a token, held-out pairs", {f"{name}_loss": name for name in CORPORA}),
    ("Greedy BLEU, 100 held-out pairs each", {f"{name}_bleu": name for name in CORPORA}),
]
WRITER = [
    ("Cross-entropy a token, training", {"loss": "nats"}),
    ("Bits per byte, held-out reviews", {"bits_per_byte": "bits"}),
]


def panels_of(entry):
    """Returns the panels of a run, chosen by the first entry of its log."""
    return TRANSLATOR if "plain" in entry else WRITER if "loss" in entry else CLASSIFIER


def read(paths):
    """Returns the entries of all logs. The count of tokens continues from log to log."""
    entries, before = [], 0
    for path in paths:
        with open(path) as lines:
            run = [json.loads(line) for line in lines]
        entries += [{**entry, "tokens": entry["tokens"] + before} for entry in run]
        before += run[-1]["tokens"]
    return entries


def smooth(values, span=5):
    """Returns the mean of each value and up to span - 1 values before it."""
    return [sum(values[max(0, i + 1 - span):i + 1]) / len(values[max(0, i + 1 - span):i + 1])
            for i in range(len(values))]


def add_arguments(parser):
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--out", default="curves.svg")


def main(arguments):
    import matplotlib  # imported here so that the tests run without it

    matplotlib.use("svg")
    from matplotlib import pyplot

    entries = read(arguments.logs)
    pyplot.rcParams.update({"svg.hashsalt": "glassformer", "font.size": 9, "axes.spines.top": False,
                            "axes.spines.right": False})
    panels = panels_of(entries[0])
    figure, axes = pyplot.subplots(1, len(panels), figsize=(11, 3.2), facecolor="white")
    for axis, (title, curves) in zip(axes, panels):
        for key, label in curves.items():
            points = [(entry["tokens"] / 1e6, entry[key]) for entry in entries
                      if key in entry and not (key.startswith("mlm") and entry[key] == 0)]
            values = [value for _, value in points]
            if key.endswith(("_bleu", "_loss", "_per_byte")):
                axis.plot([x for x, _ in points], values, "o-", label=label)
            else:
                axis.plot([x for x, _ in points], values if key.startswith("valid") else smooth(values), label=label)
        axis.set_title(title)
        axis.set_xlabel("million tokens")
        axis.grid(alpha=0.3)
        axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(arguments.out, metadata={"Date": None})
