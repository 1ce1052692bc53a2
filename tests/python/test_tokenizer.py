"""Tokenizers without models, compared with those of the original library (tests/fixtures/checkpoints)."""

import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np

import glassformer
from glassformer import Error, Tokenizer
from tests.python.helpers import characters, checkpoints, read_json, sentiment, translator

# A tokenizer of each kind: WordPiece, bytes, Unigram, SentencePiece and others without
# tokenizer.json.
names = [
    "bert_sequence",
    "distilbert_tokens",
    "roberta_sequence",
    "xlm_roberta_sequence",
    "albert_sequence",
    "deberta_sequence",
    "modernbert_sequence",
    "gpt2_generate",
    "llama",
    "t5",
    "m2m_100",
    "nllb",
    "mbart_50",
    "marian_two_vocabularies",
]
smile = "\N{GRINNING FACE}"


class Goldens(unittest.TestCase):
    def test_the_library_tokens(self):
        for name in names:
            golden = read_json(checkpoints / name / "expected.json")
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                for file in (checkpoints / name).iterdir():
                    if ".safetensors" not in file.name and file.is_file():
                        shutil.copy(file, folder)
                with Tokenizer.load(Path(folder)) as tokenizer:
                    self.assertGreater(len(tokenizer), 20)
                    for given in golden["texts"]:
                        self.check(tokenizer, given, golden.get("max_length"))

    def check(self, tokenizer, given, max_length):
        text, pair, truncated = given["text"], given.get("pair"), given.get("truncated", False)
        encoding = tokenizer.encode(
            text,
            pair,
            language=given.get("from"),
            max_length=max_length if truncated else None,
        )
        self.assertEqual(encoding.ids, given["ids"], text)
        self.assertEqual(encoding.clipped, truncated)
        self.assertEqual([token.id for token in encoding.tokens], encoding.ids)
        sequences = given.get("sequences") or [0] * len(encoding.ids)
        for index, token in enumerate(encoding.tokens):
            if "sequences" in given:
                self.assertEqual(token.sequence, sequences[index] or 0)
            if "offsets" not in given:
                continue
            units = given["offsets"][index]
            if units is None:
                self.assertEqual(token.start, token.end)
            else:
                at = characters(pair if sequences[index] == 1 else text)
                self.assertEqual([token.start, token.end], [at[unit] for unit in units], text)


class Tokenizers(unittest.TestCase):
    def test_gives_the_tokens_of_its_model(self):
        text = f"A gripping, beautifully shot {smile}{smile} film {smile}."
        with glassformer.load(sentiment) as model, Tokenizer.load(str(sentiment)) as tokenizer:
            encoding = tokenizer.encode(text)
            self.assertEqual(encoding.tokens, model.classify(text).tokens)
            self.assertEqual(tokenizer.info.size, model.info.vocab_size)
            self.assertEqual(tokenizer.info.languages, [])
            film = next(each for each in encoding.tokens if each.text == " film")
            self.assertEqual(text[film.start : film.end], "film")

    def test_offsets_of_pairs_count_characters(self):
        text, pair = f"{smile} the film", f"{smile}{smile} is good"
        with Tokenizer.load(checkpoints / "bert_sequence") as tokenizer:
            tokens = tokenizer.encode(text, pair).tokens
        self.assertEqual({each.sequence for each in tokens}, {0, 1})
        words = [each for each in tokens if each.end > each.start]
        self.assertEqual(max(each.end for each in words if each.sequence == 0), len(text))
        self.assertEqual(max(each.end for each in words if each.sequence == 1), len(pair))

    def test_decodes(self):
        with Tokenizer.load(sentiment) as tokenizer:
            ids = tokenizer.encode("A film.", special_tokens=False).ids
            for same in (ids, tuple(ids), iter(ids), np.array(ids), list(np.array(ids))):
                self.assertEqual(tokenizer.decode(same), "a film.")
            self.assertEqual(tokenizer.decode([]), "")
            self.assertEqual(tokenizer.encode("", special_tokens=False).ids, [])
        with Tokenizer.load(checkpoints / "bert_sequence") as tokenizer:
            ids = tokenizer.encode("the film").ids
            self.assertIn("[CLS]", tokenizer.decode(ids, special_tokens=True))
            self.assertNotIn("[CLS]", tokenizer.decode(ids))

    def test_two_vocabularies(self):
        with Tokenizer.load(translator) as tokenizer, glassformer.load(translator) as model:
            translation = model.translate("How are you?")
            ids = [token.id for token in translation.sentences[0].tokens]
            self.assertEqual(tokenizer.decode(ids), translation.text)

    def test_refuses(self):
        with Tokenizer.load(sentiment) as tokenizer:
            refused = [
                ("unsupported", "pair", lambda: tokenizer.encode("a", "b")),
                ("invalid_option", "language", lambda: tokenizer.encode("a", language="de")),
                ("invalid_option", "max_length", lambda: tokenizer.encode("a", max_length=-1)),
                ("invalid_option", "decode|id", lambda: tokenizer.decode([-1])),
                ("invalid_option", "decode|id", lambda: tokenizer.decode([8000])),
                ("invalid_option", "decode", lambda: tokenizer.decode("film")),
                ("too_large", "", lambda: tokenizer.encode("a" * ((16 << 20) + 1))),
            ]
            for code, pattern, call in refused:
                with self.assertRaisesRegex(Error, pattern) as raised:
                    call()
                self.assertEqual(raised.exception.code, code)
            for wrong in (None, 3, b"a", ["a"]):
                self.assertRaises(TypeError, tokenizer.encode, wrong)
            self.assertRaises(TypeError, tokenizer.encode, "a", 3)
            self.assertRaises(TypeError, tokenizer.decode, 3)
            self.assertRaises(TypeError, tokenizer.encode, "a", max_len=3)
            self.assertRaises(UnicodeEncodeError, tokenizer.encode, "\ud83d")
        with self.assertRaises(Error) as raised:
            tokenizer.encode("a")
        self.assertEqual(raised.exception.code, "disposed")
        for folder, code in (("nowhere", "missing_file"), (translator.parent, "invalid_tokenizer")):
            with self.assertRaises(Error) as raised:
                Tokenizer.load(folder)
            self.assertEqual(raised.exception.code, code)
        self.assertRaises(TypeError, Tokenizer.load, 3)


if __name__ == "__main__":
    unittest.main()
