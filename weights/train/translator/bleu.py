"""BLEU as sacreBLEU computes it by default: tokenization 13a, up to 4-grams, exponential smoothing
(Papineni et al. 2002; Post 2018).

    python3 -m translator.bleu PAIRS TRANSLATIONS

PAIRS has a text, a tab and its translation per line, TRANSLATIONS the translations to score.
"""
import math
import re
import sys
from collections import Counter


def tokenize_13a(text):
    """Separates punctuation from words and keeps numbers whole, with the rules of mteval-v13a."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, letter in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        text = text.replace(entity, letter)
    text = f" {text} "
    text = re.sub(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 ", text)
    text = re.sub(r"([^0-9])([\.,])", r"\1 \2 ", text)
    text = re.sub(r"([\.,])([^0-9])", r" \1 \2", text)
    text = re.sub(r"([0-9])(-)", r"\1 \2 ", text)
    return text.split()


def ngrams(words):
    return Counter(tuple(words[i:i + n]) for n in range(1, 5) for i in range(len(words) - n + 1))


def corpus_bleu(hypotheses, references):
    """Returns BLEU, from 0 to 100. references: [sentence][alternative]."""
    matches, totals = [0] * 4, [0] * 4
    length = reference_length = 0
    for hypothesis, alternatives in zip(hypotheses, references):
        words = tokenize_13a(hypothesis)
        rows = [tokenize_13a(text) for text in alternatives]
        length += len(words)
        reference_length += min((abs(len(row) - len(words)), len(row)) for row in rows)[1]
        highest = Counter()
        for row in rows:
            highest |= ngrams(row)
        for gram, count in ngrams(words).items():
            matches[len(gram) - 1] += min(count, highest[gram])
            totals[len(gram) - 1] += count
    if not matches[0]:
        return 0.0
    score, smooth = 0.0, 1.0
    for match, total in zip(matches, totals):
        if not total:
            return 0.0
        if not match:
            smooth *= 2
        score += math.log(match / total if match else 1 / (smooth * total)) / 4
    return 100 * math.exp(score + min(0.0, 1 - reference_length / length))


def main(pairs, translations):
    with open(pairs, encoding="utf-8") as lines:
        references = [[line.rstrip("\n").split("\t")[1]] for line in lines]
    with open(translations, encoding="utf-8") as lines:
        hypotheses = [line.rstrip("\n") for line in lines]
    if len(hypotheses) != len(references):
        sys.exit(f"expected {len(references)} translations, got {len(hypotheses)}")
    print(f"{corpus_bleu(hypotheses, references):.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
