"""The parallel corpora: which are trained on, how often, and how people really type English."""
import gzip
import random
import re
import zipfile
from pathlib import Path

# How often a corpus counts in one round. TED's license forbids derivatives: it is left out.
CORPORA = {
    "tatoeba": 1, "multi30k": 1, "msctd": 1, "xdailydialog": 1, "bcontrast": 1, "wmtchat": 1, "woz": 1,
    "cocoamt": 1, "news": 1, "ntrex": 1, "newscommentary": 1, "mtgeneval": 1, "pud": 1, "xquad": 1, "stsb": 1,
    "flashcards": 1, "games": 1, "diabla": 1, "tico19": 1, "storybooks": 1, "europarl": 0.5, "captions": 0.5,
    "software": 0.5,
}
VALIDATION = ["tatoeba", "dialogue", "multi30k", "news"]
CONTRACTION = re.compile(r"\b(I|you|we|they|he|she|it|that|don|doesn|didn|can|isn|aren|wasn|won|couldn|wouldn|shouldn|"
                         r"haven|hasn|what|let)'(m|re|ve|ll|d|s|t)\b", re.IGNORECASE)
# German low and high ones, guillemets either way round; the French put a space inside.
TYPESET_QUOTES = re.compile(r"(?:(?<=[\s('])|^)\u00ab | \u00bb(?!\w)|[\u201e\u201c\u201d\u00ab\u00bb]")


def read_pairs(folder, name):
    """Returns [(source, target)] of a `source<TAB>target` file."""
    with gzip.open(Path(folder) / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]


def training_corpora(folder, languages):
    """Returns {corpus: pairs} of the languages ("en-de")."""
    names = {name: Path(folder) / f"{name}.{languages}.train.tsv.gz" for name in CORPORA}
    return {name: read_pairs(folder, path.name) for name, path in names.items() if path.exists()}


def with_quotes_of(source, target):
    """The target with typewriter quotes where the source has no others. Corpora differ in this: a model of them all
    would choose as it pleases."""
    if '"' not in source or TYPESET_QUOTES.search(source):
        return target
    return TYPESET_QUOTES.sub('"', target)


def as_typed(source, target, generator):
    """The pair as somebody in a hurry might type it; None where nothing changes."""
    typed, answer = source, target
    choice = generator.random()
    if choice < 0.35:
        typed = typed.lower()
    elif choice < 0.5:
        typed = re.sub(r"\bI\b", "i", typed)
    elif choice < 0.6:
        typed = CONTRACTION.sub(r"\1\2", typed)
    elif choice < 0.75:
        typed = typed.replace("'", "\u2019")
    if generator.random() < 0.5 and typed.endswith(".") and answer.endswith(".") and not typed.endswith(".."):
        typed, answer = typed[:-1], answer[:-1]
    return None if typed == source else (typed, answer)


def training_corpora_in(path):
    """The names of the training corpora that prepare.py wrote to the file."""
    with zipfile.ZipFile(path) as stored:
        names = {name.split(".")[0] for name in stored.namelist()}
    return [name for name in CORPORA if name in names]
