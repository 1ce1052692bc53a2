"""GPT-2's byte-level BPE (Radford et al. 2019): training from word counts, encoding, and its tokenizer.json."""
import collections
import heapq
import json
from pathlib import Path

import numpy
import regex

PATTERN = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
END = "<|endoftext|>"


def split(text):
    """Splits a text into words, which no merge crosses. A space belongs to the word after it."""
    return PATTERN.findall(text)


def byte_characters():
    """Returns the character of each byte: the byte itself if it is visible, else a character from U+0100 on."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 512))
    return [chr(byte if byte in visible else next(hidden)) for byte in range(256)]


CHARACTERS = byte_characters()


def spell(word):
    return [CHARACTERS[byte] for byte in word.encode()]


def merged(symbols, pair):
    """Returns the symbols with every `pair` merged, from the left."""
    out, i = [], 0
    while i < len(symbols):
        if symbols[i:i + 2] == pair:
            out.append(pair[0] + pair[1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def train(counts, size):
    """Returns the merges [[left, right]] learned from {word: count}. The `size` tokens are 256 bytes, the merges, the
    end.
    """
    words = [(spell(word), count) for word, count in counts.items()]
    totals, where = collections.Counter(), collections.defaultdict(set)
    for number, (symbols, count) in enumerate(words):
        for pair in zip(symbols, symbols[1:]):
            totals[pair] += count
            where[pair].add(number)
    heap = [(-total, pair) for pair, total in totals.items()]
    heapq.heapify(heap)
    merges = []
    while len(merges) < size - 257 and heap:
        total, pair = heapq.heappop(heap)
        if totals[pair] != -total:  # out of date: the count has changed
            if totals[pair] > 0:
                heapq.heappush(heap, (-totals[pair], pair))
            continue
        merges.append(list(pair))
        changed = set()
        for number in where.pop(pair):
            symbols, count = words[number]
            after = merged(symbols, list(pair))
            for old in zip(symbols, symbols[1:]):
                totals[old] -= count
            for new in zip(after, after[1:]):
                totals[new] += count
                where[new].add(number)
                changed.add(new)
            words[number] = (after, count)
        totals.pop(pair, None)
        for new in changed - {pair}:
            heapq.heappush(heap, (-totals[new], new))
    return merges


def to_json(merges):
    """Returns the text of a tokenizer.json."""
    visible = sorted(CHARACTERS)
    tokens = visible + [left + right for left, right in merges] + [END]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    end = {"id": len(tokens) - 1, "content": END, "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": False, "special": True}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
             "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
             "vocab": {token: number for number, token in enumerate(tokens)},
             "merges": [" ".join(pair) for pair in merges]}
    content = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [end], "normalizer": None,
               "pre_tokenizer": byte_level, "post_processor": {**byte_level, "trim_offsets": False},
               "decoder": byte_level, "model": model}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


class Tokenizer:
    """The tokenizer of a tokenizer.json with the parts that to_json() writes."""

    def __init__(self, path):
        model = json.loads(Path(path).read_text())["model"]
        self.ids = model["vocab"]
        self.end = self.ids[END]
        self.ranks = {tuple(pair.split(" ") if isinstance(pair, str) else pair): rank
                      for rank, pair in enumerate(model["merges"])}
        self.bytes = {character: byte for byte, character in enumerate(CHARACTERS)}
        self.tokens = {number: token for token, number in self.ids.items()}

    def sizes(self):
        """Returns the number of bytes of each token, by id; 0 for the end token."""
        return numpy.array([0 if token == END else len(token) for _, token in sorted(self.tokens.items())])

    def encode_word(self, word):
        symbols = spell(word)
        while len(symbols) > 1:
            pair = min(zip(symbols, symbols[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if pair not in self.ranks:
                break
            symbols = merged(symbols, list(pair))
        return [self.ids[symbol] for symbol in symbols]

    def encode(self, text):
        return [number for word in split(text) for number in self.encode_word(word)]

    def decode(self, ids):
        spelled = "".join(self.tokens[number] for number in ids if number != self.end)
        return bytes(self.bytes[character] for character in spelled).decode("utf-8", "replace")
