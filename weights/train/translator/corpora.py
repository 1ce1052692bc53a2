"""The parallel corpora: their names and shares, and copies of pairs as people type them."""
import gzip
import re
import zipfile
from pathlib import Path

# How often a corpus counts in one round. TED is left out, because its license forbids derivatives.
CORPORA = {
    "tatoeba": 1, "multi30k": 1, "msctd": 1, "xdailydialog": 1, "bcontrast": 1, "wmtchat": 1, "woz": 1,
    "cocoamt": 1, "news": 1, "ntrex": 1, "newscommentary": 1, "mtgeneval": 1, "pud": 1, "xquad": 1, "stsb": 1,
    "flashcards": 1, "games": 1, "diabla": 1, "tico19": 1, "storybooks": 1, "europarl": 0.5, "captions": 0.5,
    "software": 0.5,
}
VALIDATION = ["tatoeba", "dialogue", "multi30k", "news"]
CONTRACTION = re.compile(r"\b(I|you|we|they|he|she|it|that|don|doesn|didn|can|isn|aren|wasn|won|couldn|wouldn|shouldn|"
                         r"haven|hasn|what|let)'(m|re|ve|ll|d|s|t)\b", re.IGNORECASE)
# German low and high quotes, and guillemets in both directions; French ones have a space inside.
TYPESET_QUOTES = re.compile(r"(?:(?<=[\s('])|^)\u00ab | \u00bb(?!\w)|[\u201e\u201c\u201d\u00ab\u00bb]")


def read_pairs(folder, name):
    """Returns [(source, target)] from a file of `source<TAB>target` lines."""
    with gzip.open(Path(folder) / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]


def training_corpora(folder, languages):
    """Returns {corpus: pairs} for the languages ("en-de")."""
    names = {name: Path(folder) / f"{name}.{languages}.train.tsv.gz" for name in CORPORA}
    return {name: read_pairs(folder, path.name) for name, path in names.items() if path.exists()}


def with_quotes_of(source, target):
    """Returns the target, with typewriter quotes if the source has only those. Corpora differ in this, so without the
    change a model would choose at random.
    """
    if '"' not in source or TYPESET_QUOTES.search(source):
        return target
    return TYPESET_QUOTES.sub('"', target)


def as_typed(source, target, generator):
    """Returns the pair as a person in a hurry might type it, or None if nothing changes."""
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
    """Returns the names of the training corpora in the file of prepare.py."""
    with zipfile.ZipFile(path) as stored:
        names = {name.split(".")[0] for name in stored.namelist()}
    return [name for name in CORPORA if name in names]
