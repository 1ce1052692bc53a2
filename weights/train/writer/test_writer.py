"""Tests of the writer's training code. They take seconds and need no data.

    python3 -m unittest writer.test_writer
"""
import argparse
import collections
import json
import tempfile
import unittest
from pathlib import Path

import numpy
import torch

from common import safetensors_io
from writer import byte_bpe, evaluate, export, kernels, kneser_ney, prepare
from writer.batches import Reviews, cut_pieces, epoch
from writer.model import CONFIG, Writer
from writer.train import WriterTrainer

TEXTS = ["I didn't like this film at all.", "This film is the best film of the 1990s!", "Caf\u00e9 noir \u2013 a film  noir"] * 20
SMALL = {**CONFIG, "n_embd": 32, "n_head": 2, "n_inner": 48, "n_layer": 2, "n_positions": 32, "vocab_size": 300,
         "bos_token_id": 299, "eos_token_id": 299}


def tokenizer_at(path):
    counts = collections.Counter(word for text in TEXTS for word in byte_bpe.split(text))
    path.write_text(byte_bpe.to_json(byte_bpe.train(counts, 300)))
    return byte_bpe.Tokenizer(path)


def prepared(run):
    """Writes the files of prepare.py to a run's folder. Returns (tokenizer, ids, lengths)."""
    run.mkdir()
    tokenizer = tokenizer_at(run / "tokenizer.json")
    ids, lengths = prepare.encode_all(tokenizer, [byte_bpe.split(text) for text in TEXTS])
    numpy.savez(run / "reviews.npz", ids=ids, lengths=lengths, held_out=numpy.arange(len(TEXTS)) % 10 == 0)
    return tokenizer, ids, lengths


def trainer(run, **options):
    return WriterTrainer(argparse.Namespace(**{
        "run": str(run), "folder": None, "init": None, "lr": 3e-3, "warmup": 2, "tokens": 128, "rows": 4, "length": 32,
        "seed": 0, "minutes": 1, "steps": 4, "processes": 1, "share_minutes": None, "check_minutes": 9, **options}), 0)


class TokenizerTest(unittest.TestCase):
    def test_texts_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            tokenizer = tokenizer_at(Path(folder) / "tokenizer.json")
            for text in TEXTS[:3] + ["\u65e5\u672c \U0001f600\n\tx"]:
                self.assertEqual(tokenizer.decode(tokenizer.encode(text)), text)
            self.assertEqual(sorted(tokenizer.ids.values()), list(range(300)))
            self.assertEqual(tokenizer.end, 299)
            self.assertEqual(tokenizer.sizes()[tokenizer.encode("Caf\u00e9")].sum(), 5)

    def test_the_most_frequent_pair_is_merged_first(self):
        self.assertEqual(byte_bpe.train({"abab": 3, "cab": 1, "xy": 5}, 260), [["a", "b"], ["x", "y"], ["ab", "ab"]])

    def test_a_merge_takes_its_leftmost_pairs(self):
        self.assertEqual(byte_bpe.merged(list("aaaab"), ["a", "a"]), ["aa", "aa", "b"])


class BatchesTest(unittest.TestCase):
    def test_an_epoch_has_every_token_once_and_whole_reviews(self):
        with tempfile.TemporaryDirectory() as folder:
            _, ids, lengths = prepared(Path(folder) / "run")
            for held_out in (False, True):
                reviews = Reviews(Path(folder) / "run" / "reviews.npz", 299, held_out)
                self.assertEqual((reviews.stream == 299).sum(), len(reviews.starts) + 1)
            reviews = Reviews(Path(folder) / "run" / "reviews.npz", 299, held_out=False)
            rows = list(epoch(reviews, 32, numpy.random.RandomState(1)))
            self.assertEqual({len(row) for row in rows}, {32})
            counts = numpy.bincount(numpy.concatenate(rows), minlength=len(reviews.stream) - 1)
            self.assertGreaterEqual(counts.min(), 1)
            self.assertLess(counts.sum(), 1.3 * len(counts))
            firsts, sizes = cut_pieces(reviews, 8)
            covered = numpy.sort(numpy.concatenate([first + numpy.arange(size) for first, size in zip(firsts, sizes)]))
            self.assertTrue((covered == numpy.arange(len(reviews.stream) - 1)).all())


class ModelTest(unittest.TestCase):
    def test_compiled_parts_equal_plain_ones(self):
        torch.manual_seed(0)
        model = Writer({**SMALL, "vocab_size": 304, "n_positions": 176})
        for parameter in model.parameters():
            parameter.data += 0.1 * torch.randn_like(parameter)
        ids = torch.randint(0, 304, (2, 176))

        def gradients(compute):
            model.zero_grad()
            loss = model.loss(ids, ids.roll(-1, 1), compute)
            loss.backward()
            return [loss.detach(), *(p.grad.clone() for p in model.parameters())]

        exact, plain = gradients(torch.float32), gradients(torch.bfloat16)
        if not kernels.use_compiled():
            self.skipTest("no C++ compiler")
        for wanted, rounded, got in zip(exact, plain, gradients(torch.bfloat16)):
            # PyTorch's own bfloat16 products lose more if the CPU has no instruction for them.
            self.assertLess((got - wanted).norm(), 1.2 * (rounded - wanted).norm() + 0.01 * wanted.norm() + 1e-4)
            self.assertLess((got - wanted).norm(), 0.2 * wanted.norm() + 1e-4)

    def test_no_token_sees_what_follows(self):
        torch.manual_seed(0)
        model = Writer(SMALL)
        ids = torch.randint(0, 300, (1, 20))
        changed = ids.clone()
        changed[0, 10:] = 7
        before, after = (model.log_probabilities(row) for row in (ids, changed))
        self.assertTrue(torch.equal(before[:, :10], after[:, :10]))
        self.assertFalse(torch.allclose(before[:, 10:], after[:, 10:]))

    def test_published_names_are_gpt2s_and_load_again(self):
        torch.manual_seed(0)
        model = Writer(SMALL)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer_at(Path(folder) / "tokenizer.json")
            out = Path(folder) / "out"
            export.write({"average": model.state_dict(), "config": SMALL},
                                Path(folder) / "tokenizer.json", out)
            tensors = safetensors_io.load(out / "model.safetensors")
            layer = {f"transformer.h.1.{name}": shape for name, shape in {
                "ln_1.weight": (32,), "ln_1.bias": (32,), "attn.c_attn.weight": (32, 96), "attn.c_attn.bias": (96,),
                "attn.c_proj.weight": (32, 32), "attn.c_proj.bias": (32,), "ln_2.weight": (32,), "ln_2.bias": (32,),
                "mlp.c_fc.weight": (32, 48), "mlp.c_fc.bias": (48,), "mlp.c_proj.weight": (48, 32),
                "mlp.c_proj.bias": (32,)}.items()}
            self.assertEqual({name: array.shape for name, array in tensors.items() if ".h.1." in name}, layer)
            self.assertEqual({name for name in tensors if ".h." not in name}, {
                f"transformer.{name}" for name in ("wte.weight", "wpe.weight", "ln_f.weight", "ln_f.bias")})
            self.assertEqual({array.dtype for array in tensors.values()}, {numpy.dtype("float16")})
            again, config, tokenizer = evaluate.load(out)
            self.assertEqual((config, tokenizer.end), (SMALL, 299))
            ids = torch.randint(0, 300, (1, 20))
            self.assertLess((again.cpu().log_probabilities(ids) - model.log_probabilities(ids)).abs().max(), 1e-2)
            self.assertEqual(len((out / "merges.txt").read_text().splitlines()), 1 + 300 - 257)
            self.assertEqual(json.loads((out / "vocab.json").read_text()), tokenizer.ids)


class TrainingTest(unittest.TestCase):
    def test_a_run_resumes_and_another_continues_from_published_weights(self):
        with tempfile.TemporaryDirectory() as folder:
            run, out = Path(folder) / "run", Path(folder) / "out"
            prepared(run)
            own, CONFIG["n_layer"] = CONFIG["n_layer"], 1
            try:
                first = trainer(run)
                first.train()
                second = trainer(run, steps=8)
            finally:
                CONFIG["n_layer"] = own
            self.assertEqual((second.step, second.tokens), (first.step, first.tokens))
            for (name, value), other in zip(first.model.state_dict().items(), second.model.state_dict().values()):
                self.assertTrue(torch.equal(value, other), name)
            second.train()
            self.assertGreater(second.step, first.step)
            losses = [json.loads(line)["loss"] for line in (run / "log.jsonl").read_text().splitlines()
                      if "loss" in json.loads(line)]
            self.assertLess(losses[-1], losses[0])
            export.write(torch.load(run / "checkpoint.pt"), run / "tokenizer.json", out)
            (run / "checkpoint.pt").unlink()
            third = trainer(run, folder=str(out))
            self.assertEqual((third.step, third.config["n_layer"]), (0, 1))
            for name, value in zip(second.model.state_dict(), second.average.values):
                self.assertLess((third.model.state_dict()[name] - value).abs().max(), 1e-3)

    def test_weights_of_another_tokenizer_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            prepared(Path(folder) / "run")
            (Path(folder) / "out").mkdir()
            (Path(folder) / "out" / "tokenizer.json").write_text(byte_bpe.to_json([["a", "b"]]))
            with self.assertRaises(SystemExit):
                trainer(Path(folder) / "run", folder=str(Path(folder) / "out"))


class EvaluationTest(unittest.TestCase):
    def test_windows_count_every_token_once(self):
        for length in (1, 31, 32, 33, 100):
            parts = evaluate.windows(length, 32)
            self.assertEqual([place for _, begin, end in parts for place in range(begin, end)], list(range(length)))
            self.assertTrue(all(end - first <= 32 for first, _, end in parts))
            self.assertTrue(all(begin - first >= 16 for first, begin, _ in parts[1:]))

    def test_bits_are_those_of_the_probabilities(self):
        torch.manual_seed(0)
        model = Writer(SMALL)
        texts = [[5, 6, 7], list(range(20, 70))]
        short = model.log_probabilities(torch.tensor([[299, 5, 6, 7]]))[0]
        wanted = -sum(float(short[i, t]) for i, t in enumerate([5, 6, 7, 299])) / numpy.log(2)
        self.assertAlmostEqual(evaluate.bits_of_writer(model, texts[:1], 299, 32), wanted, places=3)
        both = evaluate.bits_of_writer(model, texts, 299, 32)
        alone = evaluate.bits_of_writer(model, texts[1:], 299, 32)
        self.assertAlmostEqual(both, wanted + alone, places=2)

    def test_kneser_ney_sums_to_one_in_contexts_seen_and_not(self):
        generator = numpy.random.RandomState(1)
        texts = [(generator.zipf(1.5, size=40) % 29).tolist() for _ in range(200)]
        model = kneser_ney.KneserNey(kneser_ney.grams_of(texts, 29), 30)
        for context in ([29, 29, 29, 29], texts[3][5:9], [1, 2, 1, 2], [28, 27, 26, 25]):
            keys = numpy.array([kneser_ney.grams_of([[*context, token]], 29)[len(context)] for token in range(30)])
            self.assertAlmostEqual(float(model.probabilities(keys).sum()), 1.0, places=5)
            self.assertGreater(model.probabilities(keys).min(), 0)

    def test_kneser_ney_knows_what_it_read(self):
        grams = kneser_ney.grams_of([[1, 2, 3], [1, 2]], 9)
        self.assertEqual([[int(key >> 12 * back) & 4095 for back in (4, 3, 2, 1, 0)] for key in grams], [
            [9, 9, 9, 9, 1], [9, 9, 9, 1, 2], [9, 9, 1, 2, 3], [9, 1, 2, 3, 9],
            [9, 9, 9, 9, 1], [9, 9, 9, 1, 2], [9, 9, 1, 2, 9]])
        texts = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 6], [7, 8, 5, 6]] * 3
        model = kneser_ney.KneserNey(kneser_ney.grams_of(texts, 9), 10)
        p = model.probabilities(kneser_ney.grams_of([[1, 2, 3, 4, 5]], 9))
        self.assertGreater(p[1:4].min(), 0.6)
        unseen = kneser_ney.grams_of([[1, 2, 3, 5]], 9)[3:4]
        self.assertLess(model.probabilities(unseen)[0], 0.1)


if __name__ == "__main__":
    unittest.main()
