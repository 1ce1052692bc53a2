"""Tests of the translator's training code. They take seconds and need no data.

    python3 -m unittest translator.test_translator
"""
import argparse
import contextlib
import gzip
import io
import random
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import torch

sys.path.append(str(Path(__file__).parents[3] / "tests/fixtures/reference"))
import reference
from common.trainer import Trainer, add_run_arguments, launch
from translator import bleu, corpora, prepare
from translator.batches import Pairs, cut, training_batches
from translator.model import CONFIG, END, PAD, START, Translator
from translator.shortlist import Model1, candidates, checksum, file_of
from translator.train import adopted, loss_of

CHECKPOINTS = Path(__file__).parents[1] / "checkpoints"
SMALL = {**CONFIG, "source_vocab_size": 50, "target_vocab_size": 50, "d_model": 32, "d_ff": 64, "n_heads": 4,
         "encoder_layers": 2, "max_source_length": 40, "max_target_length": 40}


def write_pairs(path, lengths):
    """Writes corpora of random pairs with the given (source, target) lengths, including the end token."""
    generator = numpy.random.RandomState(1)
    arrays = {}
    for name, rows in lengths.items():
        for number, side in enumerate(("source", "target")):
            ids = [[*generator.randint(4, 50, row[number] - 1), END] for row in rows]
            arrays[f"{name}.{side}"] = numpy.concatenate(ids).astype(numpy.uint16)
            arrays[f"{name}.{side}_ends"] = numpy.cumsum([len(row) for row in ids])
    numpy.savez(path, **arrays)


class Drifting(Trainer):
    """A training in which the weight of each process falls by rank + 1 per step."""
    EMA = 0.5

    def make_model(self):
        return torch.nn.Linear(1, 1, bias=False), {}

    def make_optimizer(self):
        return torch.optim.SGD(self.model.parameters(), lr=1.0)

    def make_step(self):
        def add_gradients():
            self.model.weight.grad = torch.full((1, 1), self.rank + 1.0) / 1000
            return [0.0], 1

        return add_gradients

    def rate(self, progress):
        return 1.0

    def validate(self):
        return {}

    def report(self, losses, steps, tokens, progress):
        pass

    def train(self):
        super().train()
        torch.save((self.step, self.shared, self.model.weight), self.run / f"{self.rank}.pt")


class TranslationTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "pairs.npz"
        generator = random.Random(1)
        lengths = [(generator.randint(2, 9), generator.randint(2, 12)) for _ in range(200)]
        write_pairs(self.path, {"tatoeba": lengths[:150], "news": lengths[150:]})

    def test_prepare_writes_pairs_that_fit(self):
        folder = self.path.parent / "data"
        folder.mkdir()
        lines = "I know Tom.\tIch kenne Tom.\nHello!\tHallo!\n" + "long " * 200 + "\tlang\n"
        for name in ["tatoeba.en-de.train", *(f"{name}.en-de.valid" for name in corpora.VALIDATION)]:
            with gzip.open(folder / f"{name}.tsv.gz", "wt", encoding="utf-8") as file:
                file.write(lines)
        shutil.copyfile(CHECKPOINTS / "en-de/tokenizer.model", self.path.parent / "tokenizer.model")
        with contextlib.redirect_stdout(io.StringIO()):
            prepare.main(argparse.Namespace(data=folder, languages="en-de", out=self.path.parent))
        self.assertEqual(corpora.training_corpora_in(self.path), ["tatoeba"])
        self.assertGreaterEqual(len(Pairs(self.path, ["tatoeba"])), 2)
        for name in corpora.VALIDATION:
            self.assertEqual(len(Pairs(self.path, [f"valid_{name}"])), 2)

    def test_model_equals_the_reference(self):
        torch.manual_seed(0)
        model = Translator(SMALL)
        source, target = torch.randint(4, 50, (3, 7)), torch.randint(4, 50, (3, 5))
        logits = model.project(model.decode(target, model.encode(source)))
        weights = {name: value.double() for name, value in model.state_dict().items()}
        everywhere = [torch.ones_like(ids, dtype=torch.bool) for ids in (source, target)]
        trace = reference.translate(SMALL, weights, (source, everywhere[0]), (target, everywhere[1]))
        self.assertLess((torch.log_softmax(logits, -1) - trace["log_probabilities"]).abs().max(), 1e-4)

    def test_every_pair_comes_once_a_round(self):
        pairs = Pairs(self.path, corpora.training_corpora_in(self.path))
        self.assertEqual(len(pairs), 200)
        batches = training_batches(pairs, [1, 1], 40, 0, 1, seed=1)
        seen, count = [], 0
        while count < 200:
            source, fed, wanted = next(batches)
            self.assertLessEqual(max(source.numel(), fed.numel()), 40)
            self.assertTrue((source != PAD).all())  # one source length per batch
            self.assertTrue((fed[:, 0] == START).all())
            self.assertTrue((fed[:, 1:] == wanted[:, :-1]).all())
            seen += [tuple(row) for row in source.tolist()]
            count += len(source)
        self.assertEqual(count, 200)
        everything = [tuple(row.tolist()) for i in range(200) for row in cut(pairs, numpy.array([i]))[0]]
        self.assertEqual(sorted(seen), sorted(everything))

    def test_padding_changes_no_loss(self):
        torch.manual_seed(0)
        model = Translator(SMALL)
        pairs = Pairs(self.path, ["tatoeba"])
        sizes = pairs.lengths["source"]
        chosen = numpy.flatnonzero(sizes == sizes[0])[:4]
        _, together, count = loss_of(model, *cut(pairs, chosen), torch.float32)
        alone = [loss_of(model, *cut(pairs, chosen[i:i + 1]), torch.float32)[1:] for i in range(len(chosen))]
        self.assertEqual(count, sum(n for _, n in alone))
        self.assertAlmostEqual(float(together), sum(float(loss) * n for loss, n in alone) / count, places=4)

    def test_sampled_loss_is_the_loss_of_the_whole_vocabulary(self):
        torch.manual_seed(0)
        model = Translator(SMALL)
        batch = cut(Pairs(self.path, ["tatoeba"]), numpy.arange(1))
        exact, exact_plain, _ = loss_of(model, *batch, torch.float32)
        loss, plain, _ = loss_of(model, *batch, torch.float32, negatives=50)
        self.assertAlmostEqual(float(loss), float(exact), places=5)
        self.assertAlmostEqual(float(plain), float(exact_plain), places=5)
        sampled = [loss_of(model, *batch, torch.float32, negatives=20)[0].item() for _ in range(200)]
        self.assertAlmostEqual(numpy.mean(sampled), float(exact), delta=0.02)
        self.assertGreater(numpy.std(sampled), 1e-4)

    def test_greedy_takes_the_most_probable_token(self):
        torch.manual_seed(0)
        model = Translator(SMALL)
        source = torch.randint(4, 50, (2, 6))
        for row, ids in zip(source, model.greedy(source, 8)):
            fed = torch.tensor([[START, *ids]])
            best = model.project(model.decode(fed, model.encode(row[None])))[0].argmax(-1).tolist()
            self.assertEqual(best[:len(ids)], ids)

    def test_typed_pairs_keep_their_words(self):
        generator = random.Random(3)
        found = [corpora.as_typed("I don't know Tom.", "Ich kenne Tom nicht.", generator) for _ in range(200)]
        sources = {pair[0] for pair in found if pair}
        self.assertTrue({"i don't know tom.", "i don't know Tom.", "I dont know Tom.", "I don\u2019t know Tom.",
                         "I don't know Tom"} <= sources)
        self.assertTrue(all(pair[1].endswith(".") == pair[0].endswith(".") for pair in found if pair))

    def test_quotes_are_those_of_the_source(self):
        self.assertEqual(corpora.with_quotes_of('He said "yes".', "Er sagte \u201eJa\u201c."), 'Er sagte "Ja".')
        self.assertEqual(corpora.with_quotes_of('Say "x" now', "Sag \u00bbx\u00ab jetzt"), 'Sag "x" jetzt')
        self.assertEqual(corpora.with_quotes_of('"a" or "b"', "\u00ab a \u00bb ou \u00ab b \u00bb"), '"a" ou "b"')
        for source in ("He said \u201cyes\u201d.", "Yes."):
            self.assertEqual(corpora.with_quotes_of(source, "\u201eJa\u201c."), "\u201eJa\u201c.")

    def test_bleu_is_sacrebleus(self):
        # The example in sacreBLEU's README, with the figure that it prints.
        hypotheses = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
        references = [["The dog bit the man.", "The dog had bit the man."],
                      ["It was not unexpected.", "No one was surprised."],
                      ["The man bit him first.", "The man had bitten the dog."]]
        self.assertAlmostEqual(bleu.corpus_bleu(hypotheses, references), 48.530827009929865)

    def test_processes_share_their_weights_now_and_then(self):
        parser = argparse.ArgumentParser()
        add_run_arguments(parser, check_minutes=1, port=29587)
        run = self.path.parent
        launch(Drifting, parser.parse_args(["--run", str(run), "--processes", "2", "--minutes", "0.01",
                                            "--share-minutes", "0.003"]))
        (steps, shared, weight), (others_steps, others_shared, others_weight) = (torch.load(run / f"{rank}.pt")
                                                                                 for rank in range(2))
        self.assertEqual((shared, others_shared), (4, 4))
        self.assertEqual(weight, others_weight)
        torch.manual_seed(1)
        fallen = float(torch.nn.Linear(1, 1, bias=False).weight - weight) * 1000
        self.assertAlmostEqual(fallen / ((steps + 2 * others_steps) / 2), 1, places=2)

    def test_another_vocabulary_keeps_the_rows_of_pieces_that_it_shares(self):
        model = Translator(SMALL)
        theirs, ours = [f"p{i}" for i in range(50)], [f"p{i}" for i in range(30, 80)]
        own = {name: value.clone() for name, value in model.state_dict().items()}
        weights = {name: value + 1 for name, value in own.items()}
        taken = adopted(own, weights, theirs, ours)
        rows = taken["embed_tokens.weight"]
        self.assertTrue(torch.equal(rows[:20], weights["embed_tokens.weight"][30:]))
        self.assertTrue(torch.equal(rows[20:], own["embed_tokens.weight"][20:]))
        name = "encoder.layers.0.fc1.weight"
        self.assertTrue(torch.equal(taken[name], weights[name]))
        model.load_state_dict(taken)

    def test_a_shortlist_finds_what_translates_what(self):
        generator = numpy.random.RandomState(2)
        rows = [generator.randint(10, 30, generator.randint(2, 8)) for _ in range(3000)]
        arrays = {}
        for side, others in (("source", rows), ("target", [(row + 20)[::-1] for row in rows])):
            ids = [[*row, END] for row in others]
            arrays[f"tatoeba.{side}"] = numpy.concatenate(ids).astype(numpy.uint16)
            arrays[f"tatoeba.{side}_ends"] = numpy.cumsum([len(row) for row in ids])
        numpy.savez(self.path, **arrays)
        model = Model1(Pairs(self.path, ["tatoeba"]), 50)
        for _ in range(5):
            model.learn()
        lists = model.best(count=1, least=0.1, frequent=6)
        self.assertEqual([row.tolist() for row in lists[10:30]], [[piece + 20] for piece in range(10, 30)])
        self.assertEqual(candidates([12, 40], lists, 3), {0, 1, 2, 12, 32, 40})
        stored = numpy.frombuffer(file_of(lists, 6, 1), numpy.uint64)
        self.assertEqual(stored[1], checksum(stored[2:].tobytes()))
        self.assertEqual(stored[2:6].tolist(), [6, 1, 51, 20])


if __name__ == "__main__":
    unittest.main()
