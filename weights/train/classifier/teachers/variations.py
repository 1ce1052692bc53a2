"""Makes new sentences from old ones, for a teacher to label: it replaces phrases with others that begin with the same
word, and joins pairs of phrases with a conjunction.
"""
import random

LONGEST = 10  # words of a phrase that is replaced
JOINTS = [", but", ", and", "and", "but", ", yet", ", though", "--", ";"]
JOINED = 0.2  # share of joined pairs


def vary(sentences, phrases, count, seed=1):
    """Returns `count` texts made from `sentences` and `phrases`, which are strings with spaces between words."""
    generator = random.Random(seed)
    split = sorted({tuple(phrase.split()) for phrase in phrases})
    spans = {phrase for phrase in split if 2 <= len(phrase) <= LONGEST}
    alike = {}
    for phrase in sorted(spans):
        alike.setdefault(phrase[0], []).append(phrase)
    halves = [phrase for phrase in split if 4 <= len(phrase) <= 16]
    sentences = [sentence.split() for sentence in sentences]
    made = []
    while len(made) < count:
        if len(halves) > 1 and generator.random() < JOINED:
            first, second = generator.sample(halves, 2)
            made.append(" ".join([*first, generator.choice(JOINTS), *second]))
            continue
        words = generator.choice(sentences)
        for _ in range(generator.randint(1, 3)):
            words = change_phrase(words, spans, alike, generator)
        made.append(" ".join(words))
    return made


def change_phrase(words, spans, alike, generator):
    """Replaces one phrase with another that begins with the same word."""
    places = [(begin, end) for begin in range(len(words)) for end in range(begin + 2, len(words) + 1)
              if end <= begin + LONGEST and tuple(words[begin:end]) in spans]
    if not places:
        return words
    begin, end = generator.choice(places)
    return [*words[:begin], *generator.choice(alike[words[begin]]), *words[end:]]
