"""Training: what is learned, saved and refused."""

import json
import os
import resource
import signal
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

import glassformer
from glassformer import Error, Trainer
from tests.python.helpers import checkpoints, goldens, read_json, read_tensors, sentiment

texts = {
    "good": ["a fine film", "great acting and a story", "I loved it", "moving", "a joy to watch"],
    "bad": ["a dull film", "bad acting and no story", "I hated it", "boring", "a pain to watch"],
}
examples = [(text, label) for label, some in texts.items() for text in some]
tiny = {"encoder_layers": 1, "d_model": 16, "d_ff": 32, "n_heads": 2}
quick = {"held_out": 0, "dropout": 0, "smoothing": 0, "rate": 0.02}
bert = checkpoints / "bert_sequence"
small = goldens / "post_norm_gelu_learned_first"  # with a tokenizer, whose training takes seconds
lines = "".join(f"{label}\t{text}\n" for text, label in examples)


def bar(kind, at, channels=1):
    """A bar across a dark picture: 0 is upright, 1 is level."""
    pixels = np.zeros((14, 14, channels), np.uint8)
    if kind == 0:
        pixels[:, at : at + 2] = 255
    else:
        pixels[at : at + 2] = 255
    return pixels


class Training(unittest.TestCase):
    def make(self, start=small, data=examples, **options):
        return self.enterContext(Trainer(start, data, **(quick | options)))

    def make_new(self):
        return self.make(tiny, vocabulary=60)

    def folder(self):
        return Path(self.enterContext(tempfile.TemporaryDirectory()))

    def assert_error(self, code, pattern, call, *given, **options):
        with self.assertRaisesRegex(Error, pattern) as raised:
            call(*given, **options)
        self.assertEqual(raised.exception.code, code)

    def test_a_new_model_learns_its_examples(self):
        trainer = self.make_new()
        self.assertEqual(trainer.info.labels, ["bad", "good"])
        self.assertEqual(len(trainer.architecture["encoder"]["layers"]), 1)
        facts = (trainer.examples, trainer.held_out, trainer.steps_per_epoch)
        self.assertEqual(facts, (10, 0, 1))
        before = trainer.evaluate(examples)
        steps = list(trainer.train(epochs=40))
        self.assertEqual([step.step for step in steps], list(range(1, 41)))
        self.assertEqual(steps[-1].progress, 1)
        self.assertIsNone(steps[-1].held_out)
        self.assertLess(steps[-1].loss, 0.01)
        self.assertGreater(steps[0].loss, 0.5)
        self.assertLessEqual(max(step.rate for step in steps), 0.02)
        names = ["encoder.embed_tokens", "encoder.layers.0", "encoder.layer_norm", "classifier"]
        self.assertEqual(list(steps[0].gradient_norms), names)
        whole = np.linalg.norm(list(steps[0].gradient_norms.values()))
        self.assertAlmostEqual(whole, steps[0].gradient_norm, 5)
        after = trainer.evaluate(examples)
        self.assertEqual(after.accuracy, 1)
        self.assertLess(after.loss, before.loss / 10)

    def test_the_saved_folder_gives_the_answers_of_the_trainer(self):
        trainer = self.make_new()
        list(trainer.train(epochs=20))
        options = {"attention": True, "trace": ["encoder.layers.0.output"]}
        answer = trainer.classify("a great film", **options)
        folder = self.folder() / "new/model"
        trainer.save(folder)
        trainer.save(str(folder))
        names = sorted(path.name for path in folder.iterdir())
        saved = ["config.json", "manifest.json", "model.safetensors", "tokenizer.model"]
        self.assertEqual(names, saved)
        facts = read_json(folder / "manifest.json")["files"]
        self.assertEqual(sorted(facts), [name for name in saved if name != "manifest.json"])
        self.assertEqual(facts["config.json"]["size"], (folder / "config.json").stat().st_size)
        with glassformer.load(folder) as model:
            other = model.classify("a great film", **options)
            self.assertEqual(other.scores, answer.scores)
            self.assertEqual(other.tokens, answer.tokens)
            for one, two in ((other.attention, answer.attention), (other.trace, answer.trace)):
                self.assertEqual(list(one), list(two))
                for name, array in one.items():
                    np.testing.assert_array_equal(two[name], array)
            self.assertEqual(model.vocabulary(), trainer.vocabulary())
            slopes = [each.gradients("a film", "encoder.embed_tokens") for each in (trainer, model)]
            np.testing.assert_array_equal(*(each["encoder.embed_tokens"] for each in slopes))
            lens = [each.explain("a film", "lens")["layers"] for each in (trainer, model)]
            self.assertEqual(*lens)
            for name in model.parameters:
                np.testing.assert_array_equal(model.weight(name), trainer.weight(name))

    def test_a_full_disk_leaves_the_model_before(self):
        trainer, folder = self.make_new(), self.folder()
        trainer.save(folder)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        next(trainer.train())
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            with self.assertRaisesRegex(OSError, "model.safetensors"):
                trainer.save(folder)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, before)
        trainer.save(folder)
        self.assertNotEqual((folder / "model.safetensors").read_bytes(), before["model.safetensors"])

    def test_answers_change_with_every_step(self):
        trainer = self.make()
        found = [trainer.classify("a great film").score for _ in trainer.train(epochs=4)]
        self.assertEqual(len(set(found)), 4)

    def test_the_command_gives_the_same_weights(self):
        folder = self.folder()
        (folder / "data.tsv").write_text(lines)
        (folder / "config.json").write_text(json.dumps(tiny))
        options = {"rate": 0.01, "held_out": 0, "vocabulary": 60, "seed": 3}
        given = {"epochs": 5, "threads": 1, **options}.items()
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in given]
        subprocess.run(
            [os.environ["GLASSFORMER"], "train", "config.json", "data.tsv", "out", *flags],
            cwd=folder,
            check=True,
            capture_output=True,
            env={**os.environ, "LD_PRELOAD": ""},
        )
        expected = read_tensors(folder / "out/model.safetensors")
        trainer = self.enterContext(Trainer(tiny, examples, threads=3, **options))
        self.assertEqual(trainer.info.threads, 3)
        list(trainer.train(epochs=5))
        trainer.save(folder / "ours")
        ours = read_tensors(folder / "ours/model.safetensors")
        self.assertEqual(sorted(ours), sorted(expected))
        for name, tensor in expected.items():
            np.testing.assert_array_equal(ours[name], tensor, name)
        for name in ("config.json", "tokenizer.model"):
            self.assertEqual(*[(folder / place / name).read_bytes() for place in ("ours", "out")])

    def test_files_are_read_like_tuples(self):
        file = self.folder() / "data.tsv"
        file.write_text(lines)
        broken = [(text.replace(" ", "\r\n"), label) for text, label in examples]
        losses = set()
        for data in (examples, iter(examples), broken, lines.encode(), file, str(file)):
            losses.add(list(self.make(data=data).train(epochs=2))[-1].loss)
        self.assertEqual(len(losses), 1)

    def test_a_model_from_a_folder_learns_further(self):
        corrections = [
            ("The food was so hot that I cried.", "negative"),
            ("This one is a banger, no cap.", "positive"),
        ]
        options = {"held_out": 0, "dropout": 0, "averaging": 0}
        with Trainer(sentiment, corrections, **options) as trainer:
            self.assertEqual(trainer.info.layers, 4)
            before = trainer.evaluate(corrections).loss
            list(trainer.train(epochs=5))
            self.assertLess(trainer.evaluate(corrections).loss, before)
            folder = self.folder()
            trainer.save(folder)
            with glassformer.load(folder) as model:
                given = corrections[0][0]
                self.assertEqual(model.classify(given).scores, trainer.classify(given).scores)

    def test_other_labels_get_a_new_head(self):
        with glassformer.load(small) as before:
            self.assertNotEqual(before.info.labels, ["bad", "good"])
        trainer = self.make()
        self.assertEqual(trainer.info.labels, ["bad", "good"])
        self.assertGreater(len(list(trainer.train(epochs=2))), 0)

    def test_examples_are_held_out_and_measured(self):
        trainer = self.make(held_out=0.2)
        self.assertEqual((trainer.examples, trainer.held_out), (8, 2))
        score = list(trainer.train(epochs=10))[-1].held_out
        self.assertGreater(score.loss, 0)
        self.assertTrue(0 <= score.accuracy <= 1)

    def test_minutes(self):
        steps = list(self.make().train(minutes=0.002))
        measured = sum(step.seconds for step in steps)
        self.assertGreaterEqual(measured, 0.12)
        self.assertEqual(steps[-1].progress, 1)

    def test_a_loop_that_ends_early_stops_the_training(self):
        trainer = self.make()
        for step in trainer.train(epochs=100):
            if step.step == 2:
                break
        self.assertEqual(next(trainer.train(epochs=1)).step, 3)

    def test_pictures(self):
        kinds = ["upright", "level"]
        options = {"held_out": 0, "dropout": 0, "smoothing": 0, "rate": 0.01, "averaging": 0}
        for channels, epochs in ((1, 150), (3, 2), (4, 2)):
            data = [(bar(i % 2, 2 + i // 2, channels), kinds[i % 2]) for i in range(20)]
            with self.subTest(channels), Trainer(tiny, data, distortion=0.3, **options) as trainer:
                self.assertEqual(trainer.info.task, "image-classification")
                list(trainer.train(epochs=epochs))
                if channels == 1:
                    self.assertEqual(trainer.evaluate(data).accuracy, 1)
                    self.assertEqual(trainer.classify(data[0][0]).label, "upright")
                folder = self.folder()
                trainer.save(folder)
                with glassformer.load(folder) as model:
                    self.assertIsInstance(model, glassformer.ImageClassifier)
                    found = model.classify(data[1][0])
                    self.assertEqual(found.scores, trainer.classify(data[1][0]).scores)
                self.assert_error("invalid_option", "pictures", trainer.evaluate, examples)
        uneven = [(bar(0, 2), "a"), (bar(1, 2)[1:], "b")]
        self.assert_error("invalid_data", r"examples\[1\]: .*14 x 13", Trainer, tiny, uneven)
        self.assertRaises(TypeError, Trainer, tiny, [(bar(0, 2), "a"), ("text", "b")])
        two = [(bar(0, 2, 2), "a"), (bar(1, 2, 2), "b")]
        self.assert_error("invalid_data", "channels", Trainer, tiny, two)

    def test_threads_wait_for_one_another(self):
        trainer = self.make()
        expected = [step.loss for step in self.make().train(epochs=30)]
        failures, losses = [], []

        def ask():
            try:
                while len(losses) < len(expected):
                    trainer.classify("a great film", attention=True)
                    trainer.evaluate(examples)
                    trainer.weight("classifier.weight")
                    self.assertEqual(len(trainer.vocabulary()), trainer.info.vocab_size)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for step in trainer.train(epochs=30):
            losses.append(step.loss)
        for thread in threads:
            thread.join()
        self.assertEqual((failures, losses), ([], expected))

    def test_the_core_before_a_training_has_begun(self):
        core = glassformer._core.Learner(1)
        for call in (core.description, core.vocabulary, lambda: core.weight("a"), core.parameters):
            self.assertRaisesRegex(RuntimeError, "has not begun", call)
        self.assertIn("error", core.step(0.0))
        self.assert_error("internal", "training", core.save)

    def test_a_signal_ends_a_training_and_the_trainer_goes_on(self):
        class Interrupted(Exception):
            pass

        def interrupt(*_):
            raise Interrupted

        trainer, last = self.make(), 0
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            with self.assertRaises(Interrupted):
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                for step in trainer.train(epochs=1e6):
                    last = step.step
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertIn(next(trainer.train(epochs=1)).step, (last + 1, last + 2))
        self.assertIn(trainer.classify("a film").label, ("good", "bad"))

    def test_a_forked_process_says_so(self):
        trainer = self.make(threads=2)
        next(trainer.train())
        child = os.fork()
        if child == 0:
            told = 0
            calls = (trainer.train().__next__, lambda: trainer.classify("a"), trainer._core.save)
            try:
                for call in calls:
                    try:
                        call()
                    except RuntimeError as error:
                        told += "forked" in str(error)
                trainer.close()
                del calls
            finally:
                os._exit(3 - told)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(next(trainer.train()).step, 2)

    def test_wrong_examples(self):
        refused = [
            (b"good\tyes\ngood\tno\n", "two labels or more"),
            (b"good\tyes\nbad\t \n", "line 2: .*after the tab"),
            (b"good yes\n", "line 1: .*no tab"),
            (b"\xff\t\xff\nb\tc\n", "UTF-8"),
            (b"", "empty file"),
            ([], "empty file"),
            ([("a", "b\tc")], r"examples\[0\]"),
        ]
        for data, pattern in refused:
            self.assert_error("invalid_data", pattern, Trainer, small, data, **quick)
        for data in (None, 5, [5], ["ab"], [("a",)], [("a", 1)], [(None, "a"), ("b", "c")]):
            self.assertRaises(TypeError, Trainer, small, data, **quick)
        self.assertRaises(UnicodeEncodeError, Trainer, tiny, [("\ud83d", "a"), ("b", "c")])
        self.assertRaises(FileNotFoundError, Trainer, small, "nowhere.tsv")
        trainer = self.make()
        self.assert_error("invalid_data", 'line 1: .*"fair"', trainer.evaluate, [("so", "fair")])
        self.assert_error("invalid_data", "at least one", trainer.evaluate, [])

    def test_pairs(self):
        both = ["a cat sat", "the old house"]
        pairs = [((text, text), "same") for text in both]
        pairs += [((text, f"{other}\tindeed"), "other") for text, other in zip(both, both[::-1])]
        trainer = self.make(bert, pairs, averaging=0)
        list(trainer.train(epochs=100))
        for given, label in pairs:
            self.assertEqual(trainer.classify(given).label, label)
        self.assertEqual(trainer.evaluate(pairs).accuracy, 1)
        for data, pattern in (
            ([*pairs, examples[0]], r"examples\[4\]: expected two texts as the first"),
            ([examples[0], *pairs], r"examples\[1\]: expected a text as the first"),
            ([(("a", " "), "b")], "line 1: .*second text"),
        ):
            self.assert_error("invalid_data", pattern, Trainer, bert, data, **quick)
        self.assertRaises(TypeError, Trainer, bert, [(("a", 5), "b")])
        self.assertRaises(TypeError, Trainer, bert, [(("a",), "b")])
        self.assert_error("unsupported", "line 1: pair", Trainer, small, pairs, **quick)

    def test_columns_that_are_something_else(self):
        numbered = [(text, str(index)) for index, (text, _) in enumerate(examples)]
        for data, pattern in (
            ([("text", "label"), *examples], "line 1: .*names of columns"),
            (numbered, "line 1: .*numbers the lines"),
            ([(label, text) for text, label in examples], "put the label before"),
            ([*examples, ("so", "good ")], "line 11: .*without spaces"),
        ):
            self.assert_error("invalid_data", pattern, Trainer, small, data, **quick)
        control = [("a", "x\u0085"), *examples]
        self.assert_error("invalid_config", "control characters", Trainer, bert, control, **quick)

    def test_many_labels_are_a_warning(self):
        many = [(f"a film {index}", f"l{index % 5}") for index in range(40)]
        with self.assertWarnsRegex(UserWarning, "^5 labels for 40 examples: "):
            self.make(bert, many)

    def test_wrong_options(self):
        refused = [
            ({"speed": 1}, '"speed"'),
            ({"dropout": 1}, "dropout: expected 0 to 0.9"),
            ({"decay": "slow"}, "decay"),
            ({"seed": -1}, "seed"),
            ({"threads": 0}, "threads"),
            ({"from_": "en"}, '"from"'),
            ({"lessons": "masked"}, "lessons: unknown field"),
            ({"lessons": "dictionary"}, "lessons: unknown field"),
            ({"kind": "sparse_autoencoder"}, '"kind"'),
            ({"epochs": 2}, '"epochs"'),
        ]
        for options, pattern in refused:
            given = quick | options
            self.assert_error("invalid_option", pattern, Trainer, small, examples, **given)
        self.assertRaises(TypeError, Trainer, 7, examples)
        self.assertRaises(TypeError, Trainer, small, examples, threads="two")
        self.assert_error("invalid_config", "", Trainer, {"d_model": 15}, examples)
        self.assert_error("missing_file", "", Trainer, "nowhere", examples)
        writes = goldens / "translate_pre_norm_shared"
        self.assert_error("wrong_task", "", Trainer, writes, examples)
        trainer = self.make()
        self.assert_error("invalid_option", "epochs", trainer.train, epochs=0)
        self.assert_error("invalid_option", "minutes", trainer.train, epochs=1, minutes=1)
        self.assertRaises(TypeError, trainer.train, steps=1)
        self.assertRaises(TypeError, trainer.train, epochs="one")
        self.assert_error("invalid_option", "beams", trainer.classify, "x", beams=2)
        self.assertRaises(TypeError, trainer.classify, 5)
        with self.assertRaises(OSError):
            trainer.save(Path(__file__) / "below")

    def test_a_closed_trainer(self):
        trainer = Trainer(small, examples, **quick)
        steps = trainer.train(epochs=2)
        next(steps)
        trainer.close()
        self.assert_error("disposed", "closed", next, steps)
        for call in (trainer.train, lambda: trainer.save("x"), lambda: trainer.evaluate(examples)):
            self.assert_error("disposed", "closed", call)
        self.assert_error("disposed", "closed", trainer.classify, "a")
        self.assertEqual(repr(trainer), "<Trainer: closed>")


if __name__ == "__main__":
    unittest.main()
