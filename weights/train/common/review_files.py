"""The files of reviews and sentences: names them, and reads their lines."""
import gzip
import re
from pathlib import Path

# Training never reads these files in any form: see check_allowed().
EVALUATION_ONLY = re.compile(r"(imdb\.test|amazon\.test|sst[25]\.dev|uci_imdb\.dev|yelp|hotel)")

# Each domain has its own teacher: (labeled files, unlabeled files).
DOMAINS = {
    "films": (["imdb.train.tsv.gz"], ["imdb.unsup.txt.gz"]),
    "products": (["amazon.train.tsv.gz"], ["amazon.unsup.txt.gz"]),
    "sentences": (["sst2.train.tsv.gz", "mr.tsv.gz", "cr.tsv.gz", "uci.tsv.gz"], []),
}


def check_allowed(name):
    """Raises ValueError if the file is for evaluation only."""
    if EVALUATION_ONLY.search(name):
        raise ValueError(f"{name} is for evaluation only")


def read_labeled(folder, name):
    """Returns [(label, text)] from a file of `label<TAB>text` lines."""
    with gzip.open(Path(folder) / name, "rt", encoding="utf-8", newline="\n") as lines:
        pairs = (line.rstrip("\n").split("\t", 1) for line in lines)
        return [(int(label), text) for label, text in pairs]


def read_unlabeled(folder, name):
    """Returns [text] from a file with one text per line."""
    with gzip.open(Path(folder) / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n") for line in lines]


def read_training(folder, name):
    check_allowed(name)
    return read_labeled(folder, name) if ".tsv" in name else read_unlabeled(folder, name)


def detokenize(text):
    """Undoes the treebank spacing of SST, MR and CR ("it 's n't good ." -> "it's n't good.")."""
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
    text = re.sub(r" ([.,!?;:%)\]])", r"\1", text)
    text = re.sub(r"([(\[$]) ", r"\1", text)
    return re.sub(r"`` ?| ?''", '"', text).strip()
