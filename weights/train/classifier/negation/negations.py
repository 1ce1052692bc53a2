"""Makes sentences whose meaning depends on a negator: "never boring", "couldn't put it down", "not worth the price".

A teacher that reads words takes "never" and "boring" for two signs of a bad review. There are three sources of better
examples: the grammar of grammar.txt, with as many sentences that negate nothing; phrases of labeled sentences with a
"not" before them; and sentences with a negator that are cut from reviews and have their review's label.
"""
import random
import re
from pathlib import Path

GRAMMAR = Path(__file__).with_name("grammar.txt")
NEGATOR = re.compile(r"\b(not|never|no|nothing|nobody|none|without|hardly|cannot|neither|nor|(wo|ca|do|did|could)nt"
                     r"|anything but|far from|hard to|impossible to|yet to)\b|n ?['’]t\b", re.IGNORECASE)
ENDS = [".", ".", ".", ".", "", "", "", "!", "!", "!!", "...", " ."]
JOINTS = [", ", ". ", " and ", "; ", " - ", "! "]


def letters(text):
    """Returns the letters of a text. Sentences with the same letters count as the same sentence."""
    return re.sub("[^a-z]", "", text.lower())


class Grammar:
    """Labeled patterns and lists of words, each for some domains. A list without domains is for all of them."""

    def __init__(self, text):
        self.lists, self.patterns = {}, {}
        for line in text.splitlines():
            if line.startswith("["):
                kind, domains = re.split("[:=]", line[1:-1])
                labeled, domains = ":" in line, domains.split()
            elif line and not line.startswith("#"):
                for domain in domains or [None]:
                    if labeled:
                        often = 1 if NEGATOR.search(line) else 3
                        self.patterns.setdefault(domain, []).extend([(int(kind == "positive"), line)] * often)
                    else:
                        self.lists.setdefault((kind.strip(), domain), []).extend(line.split(", "))

    def words(self, name, domain):
        return self.lists.get((name, domain), []) + self.lists.get((name, None), [])

    def sentence(self, generator):
        """Returns one (label, text)."""
        domain = generator.choice(sorted(self.patterns))
        label, text = generator.choice(self.patterns[domain])
        while "(" in text:
            text = re.sub(r"\(([^()]*)\)", lambda found: generator.choice(found[1].split("|")), text)
        while "{" in text:
            text = re.sub(r"\{(\w+)\}", lambda found: generator.choice(self.words(found[1], domain)), text)
        return label, re.sub(r"\ba (?=[aeio])", "an ", " ".join(text.split()))

    def dressed(self, generator):
        """Returns one (label, text), sometimes with an opening, a closing or a second sentence of the same label."""
        label, text = self.sentence(generator)
        chance = generator.random()
        if chance < 0.1:
            text = f"{generator.choice(self.words('opening', None))}, {text}"
        elif chance < 0.2:
            text = f"{text}, {generator.choice(self.words('closing', None))}"
        elif chance < 0.35:
            other = self.sentence(generator)
            text += generator.choice(JOINTS) + other[1] if other[0] == label else ""
        return label, spell(text, generator)

    def sentences(self, count, seed=1):
        """Returns `count` different (label, text)."""
        generator = random.Random(seed)
        found = {}
        while len(found) < count:
            label, text = self.dressed(generator)
            found.setdefault(text, label)
        return [(label, text) for text, label in found.items()]


def spell(text, generator):
    """Varies the end, the contractions and the first letter of a text as people write them."""
    chance = generator.random()
    if chance < 0.12:
        text = re.sub(r"(\w)n't\b", r"\1 n't", text)
    elif chance < 0.2:
        text = text.replace("'", "")
    elif chance < 0.28:
        text = text.replace("'", "’")
    if text[-1] not in ".!?":
        text += generator.choice(ENDS)
    return text[0].upper() + text[1:] if generator.random() < 0.7 else text


def contrasts(pairs, count, seed=1):
    """Returns noun phrases ("a dull film") of labeled sentences, and each with a negator before it and the other label."""
    generator = random.Random(seed)
    phrases = sorted({(label, text.strip(" .")) for label, text in pairs
                      if re.match(r"an? [a-z' -]+$", text.strip(" .")) and text.count(" ") <= 6
                      and not NEGATOR.search(text)})
    found = []
    for label, text in generator.sample(phrases, min(count, len(phrases))):
        negator = generator.choice(["not", "never", "hardly", "this is not", "it isn't", "it's not", "far from",
                                    "anything but", "it is never", "by no means", "you can't call it"])
        found += [(label, spell(text, generator)), (1 - label, spell(f"{negator} {text}", generator))]
    return found


def cut(pairs):
    """Cuts sentences of 2 to 18 words with a negator from reviews [(label, text)]. Each has its review's label."""
    return [(label, sentence) for label, text in pairs for sentence in re.split(r"(?<=[.!?]) +", text)
            if 2 <= sentence.count(" ") + 1 <= 18 and NEGATOR.search(sentence) and len(letters(sentence)) > 5]
