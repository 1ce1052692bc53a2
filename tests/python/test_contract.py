"""Errors, memory, threads, processes, Ctrl-C, and what a loaded model tells."""

import copy
import gc
import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import unittest
import weakref
from importlib import metadata
from pathlib import Path
from types import FunctionType, MethodType

import numpy as np

import glassformer
from glassformer import Error, Head, Patch
from tests.python.helpers import checkpoints, everything, root, sentiment, translator, writer

text = "A gripping film with a dreadful ending."


class Errors(unittest.TestCase):
    def assert_error(self, code, pattern, call, *given, **options):
        with self.assertRaisesRegex(Error, pattern) as raised:
            call(*given, **options)
        self.assertEqual(raised.exception.code, code)

    def test_of_folders(self):
        load = glassformer.load
        self.assert_error("missing_file", "nowhere: expected a model folder", load, "nowhere")
        wrong = "expected \"translation\", got \"text-classification\""
        self.assert_error("wrong_task", wrong, glassformer.Translator.load, sentiment)
        self.assert_error("invalid_option", "compute: expected f32", load, sentiment, compute="f16")
        self.assert_error("invalid_option", "threads: expected", load, sentiment, threads=0)
        self.assert_error("invalid_option", "threads: expected", load, sentiment, threads=10**9)
        self.assertRegex(glassformer.__version__, r"^\d")
        self.assertRaises(TypeError, load, 3)
        for wrong in ("two", 2.5):
            self.assertRaisesRegex(TypeError, "threads: ", load, sentiment, threads=wrong)
        self.assertRaisesRegex(TypeError, "compute: ", load, sentiment, compute=3)
        self.assertRaises(TypeError, load, sentiment, thread=1)

    def test_of_options(self):
        with glassformer.load(sentiment) as model:
            classify = model.classify
            refused = [
                ('"atention": unknown', classify, {"atention": True}),
                ("attention: expected", classify, {"attention": "all"}),
                ("it has encoder.embed_tokens", classify, {"trace": ["x"]}),
                ("layer", classify, {"ablate": [Head(9, 0)]}),
                ("label", model.explain, {"method": "direct_logit_attribution", "label": "good"}),
                ("method", model.explain, {"method": "guess"}),
            ]
            for pattern, call, options in refused:
                self.assert_error("invalid_option", pattern, call, text, **options)
            with self.assertRaisesRegex(Error, "^mask_tokens: expected positions") as raised:
                classify(text, mask_tokens=[999])
            self.assertEqual(raised.exception.field, "mask_tokens")
            self.assertIn("mask_tokens : ", classify.__doc__)
            self.assertRaises(TypeError, classify, text, window=object())
            self.assertRaises(TypeError, model.trace, text, "logits", trace=["logits"])
            self.assertRaises(ValueError, classify, text, stride=float("nan"))

    def test_of_patches(self):
        name = "encoder.layers.0.output"
        with glassformer.load(sentiment, compute="f32") as model:
            states = model.trace(text, name)[name]
            refused = [
                ("invalid_option", Patch(name, states[1:])),
                ("invalid_option", Patch(name, states, tokens=[999])),
                ("invalid_option", Patch("encoder.layers.9.output", 0)),
                ("invalid_option", Patch(name, float("inf"))),
            ]
            for code, patch in refused:
                self.assert_error(code, "patch", model.classify, text, patch=[patch])
            with self.assertRaises(ValueError):
                model.classify(text, patch=[Patch(name, "a")])

    def test_of_inputs(self):
        with glassformer.load(sentiment) as model:
            self.assert_error("empty_input", "token", model.classify, "")
            self.assert_error("empty_input", r"inputs\[1\]: ", model.batch, [text, "", ""])
            self.assert_error("unsupported", "", model.classify, (text, text))
            self.assertEqual(model.batch([]), [])
            for wrong in (None, 3, text.encode(), [text], (text, None)):
                self.assertRaises(TypeError, model.classify, wrong)
            self.assertRaises(ValueError, model.classify, (text, text, text))
            self.assertRaises(UnicodeEncodeError, model.classify, "\ud83d")
        with glassformer.load(root / "weights/digits") as model:
            self.assertRaises(FileNotFoundError, model.classify, "nowhere.png")
            self.assert_error("unsupported", "", model.classify, b"no picture")
            for wrong in (np.zeros((4, 4, 3)), np.zeros(4, np.uint8), None, 3):
                self.assertRaises(TypeError, model.classify, wrong)
            wide = np.zeros((4, 4, 2), np.uint8)
            self.assert_error("invalid_option", "channels", model.classify, wide)
            none = np.zeros((0, 4, 3), np.uint8)
            self.assert_error("empty_input", "at least one pixel", model.classify, none)

    def test_gradients_need_floats(self):
        with glassformer.load(sentiment, compute="int8") as model:
            self.assert_error("unsupported", "f32", model.gradients, text, "encoder.embeddings")
        with glassformer.load(checkpoints / "bert_embed") as model:
            self.assert_error(
                "invalid_option", "gradients", model.gradients, text, "encoder.embeddings"
            )

    def test_of_streams(self):
        with glassformer.load(writer) as model:
            self.assertRaises(TypeError, model.stream, text, beams=4)
            self.assert_error("invalid_option", "unknown", model.stream, text, beam=4)

    def test_of_a_closed_model(self):
        model = glassformer.load(writer)
        stream = model.stream(text, max_new_tokens=4)
        next(stream)
        model.close()
        model.close()
        for call in (model.generate, model.stream, model.next):
            self.assert_error("disposed", "closed", call, text)
        self.assert_error("disposed", "closed", model.vocabulary)
        # A stream in progress keeps the memory until its end.
        self.assertEqual(len(list(stream)), 3)

    def test_are_like_other_exceptions(self):
        error = Error("too_large", "text: too large")
        self.assertEqual(str(error), "text: too large")
        for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            self.assertEqual((other.code, str(other)), ("too_large", "text: too large"))


class Package(unittest.TestCase):
    def test_what_pip_installed(self):
        package = metadata.distribution("glassformer")
        version = json.loads((root / "package.json").read_text())["version"]
        self.assertEqual(package.version, version)
        self.assertEqual([each.split()[0] for each in package.requires], ["numpy"])
        names = {Path(each).name for each in package.files}
        self.assertLessEqual({"LICENSE", "THIRD_PARTY_NOTICES", "py.typed", "_core.pyi"}, names)
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        self.assertRegex(package.read_text("WHEEL"), f"Tag: {python}-{python}-linux_")


class Objects(unittest.TestCase):
    def test_say_what_they_are(self):
        with glassformer.load(sentiment) as model:
            facts = f"4 layers, {model.info.parameters:,} parameters, {model.info.compute}"
            expected = f"<Classifier: text-classification, {facts}>"
            self.assertEqual(repr(model), expected)
            result = model.classify("A film.", attention=True)
            self.assertTrue(repr(result).startswith("Classification(label='"), repr(result))
            self.assertIn("Token(id=", repr(result))
        self.assertEqual(repr(model), "<Classifier: closed>")
        with glassformer.Tokenizer.load(sentiment) as tokenizer:
            self.assertEqual(repr(tokenizer), "<Tokenizer: 8,000 tokens>")

    def test_results_are_copied_and_pickled_and_models_are_not(self):
        with glassformer.load(sentiment) as model:
            result = model.classify(text, attention=True)
            for other in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
                self.assertEqual((other.scores, other.tokens), (result.scores, result.tokens))
                attention = other.attention["encoder"]
                np.testing.assert_array_equal(attention, result.attention["encoder"])
                self.assertFalse(np.shares_memory(attention, result.attention["encoder"]))
            for call in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, "cannot copy or pickle a Classifier"):
                    call(model)

    def test_have_help(self):
        for name in glassformer.__all__:
            made = getattr(glassformer, name)
            self.assertTrue(made.__doc__, name)
            methods = (FunctionType, MethodType, property)
            for own, value in inspect.getmembers(made):
                if not own.startswith("_") and isinstance(value, methods):
                    self.assertTrue(inspect.getdoc(value) or "", f"{name}.{own}")

    def test_are_gone_when_python_ends(self):
        # The module of the tests writes about objects that are left.
        left = """
import glassformer
model = glassformer.load("weights/writer")
stream = model.stream("The film", max_new_tokens=4)
next(stream)
states = model.trace("The film", "logits")
tokenizer = glassformer.Tokenizer.load("weights/writer")
lines = b"a\\tgood\\nb\\tbad\\n"
trainer = glassformer.Trainer("weights/sentiment", lines, held_out=0)
next(trainer.train())
try:
    model.generate("")
except glassformer.Error as error:
    kept = error
print(len(stream.result or "none"))
"""
        def run(code):
            command = [sys.executable, "-B", "-c", code]
            return subprocess.run(command, cwd=root, capture_output=True, text=True)

        for more in ("", "import sys; sys.exit()", "raise SystemExit"):
            ended = run(left + more)
            self.assertEqual((ended.stdout, ended.stderr, ended.returncode), ("4\n", "", 0))
        if "asan" in os.environ.get("LD_PRELOAD", ""):  # the module of the tests
            held = "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(model._core))"
            self.assertIn("leaked 1 instances", run(left + held).stderr)


class Models(unittest.TestCase):
    def test_facts(self):
        with glassformer.load(sentiment, threads=2) as model:
            info = model.info
            self.assertEqual((info.task, info.threads), ("text-classification", 2))
            self.assertEqual(info.labels, ["negative", "positive"])
            self.assertIsNone(info.languages)
            self.assertEqual(len(model.architecture["encoder"]["layers"]), info.layers)
            shapes = model.parameters
            count = sum(int(np.prod(shape)) for shape in shapes.values())
            self.assertEqual(count, info.parameters)
            self.assertEqual(len(model.vocabulary()), info.vocab_size)
        with glassformer.load(translator) as model:
            self.assertEqual((model.info.source_language, model.info.target_language), ("en", "de"))

    def test_weights_explain_the_trace(self):
        with glassformer.load(sentiment, compute="f32") as model:
            name = next(name for name in model.parameters if name.endswith("embed_tokens.weight"))
            table = model.weight(name)
            self.assertEqual(table.shape, model.parameters[name])
            tokens = [token.id for token in model.classify(text).tokens]
            found = model.trace(text, "encoder.embed_tokens")["encoder.embed_tokens"]
            scale = np.sqrt(model.info.d_model)
            np.testing.assert_allclose(found, table[tokens] * scale, 1e-5, 1e-6)
            self.assertRaises(KeyError, model.weight, "embed_tokens.wait")

    def test_batches_equal_single_inputs(self):
        texts = [text, "Dreadful.", text[:10]]
        with glassformer.load(sentiment) as model:
            self.assertEqual(model.batch(texts), [model.classify(each) for each in texts])

    def test_numpy_numbers_are_options(self):
        with glassformer.load(sentiment) as model:
            plain = model.classify(text, mask_tokens=[1, 2])
            self.assertEqual(model.classify(text, mask_tokens=np.array([1, 2])), plain)
            self.assertNotEqual(model.classify(text).scores, plain.scores)

    def test_progress_of_activation_patching(self):
        with glassformer.load(sentiment, compute="f32") as model:
            tables = []
            pair = ("The plot is good.", "The plot is bad.")
            result = model.explain(pair, "activation_patching", on_progress=tables.append)
            self.assertGreater(len(tables), 1)
            self.assertEqual(tables[0]["delta"].shape, result["delta"].shape)
            self.assertEqual(result["donor_tokens"][-1]["end"], len(pair[1]))

    def test_activation_patching_of_a_translation(self):
        with glassformer.load(translator, compute="f32") as model:
            tables = []
            pair = ("My brother is a doctor.", "My sister is a doctor.")
            result = model.explain(pair, "activation_patching", on_progress=tables.append)
            self.assertGreater(len(tables), 1)
            self.assertEqual((result["token"]["text"], result["prefix"]), (" Meine", []))
            self.assertEqual(result["delta"].shape, (7, len(result["tokens"])))
            self.assertEqual(result["donor_tokens"][-1]["end"], len(pair[1]))
            with self.assertRaises(TypeError):
                model.translate(pair)


class Memory(unittest.TestCase):
    def test_arrays_outlive_the_model(self):
        model = glassformer.load(sentiment, compute="f32")
        states = model.trace(text, "encoder.layers.*.output")
        weight = model.weight(next(iter(model.parameters)))
        attention = model.classify(text, attention=True).attention["encoder"]
        before = [np.array(each) for each in (*states.values(), weight, attention)]
        gone = weakref.ref(model)
        del model
        gc.collect()
        self.assertIsNone(gone())
        for array, kept in zip((*states.values(), weight, attention), before):
            np.testing.assert_array_equal(array, kept)
            array += 1  # it belongs to the caller

    def test_many_calls_do_not_grow(self):
        def resident():
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE")

        def call(times):
            for _ in range(times):
                found = model.trace(given, everything)
                with self.assertRaises(Error):
                    model.classify("")
            return sum(each.nbytes for each in found.values())

        given = " ".join([text] * 8)
        with glassformer.load(sentiment, threads=1) as model:
            call(20)
            before = resident()
            size = call(60)
            self.assertGreater(60 * size, 100 << 20)  # what a leak would add
            self.assertLess(resident() - before, 25 << 20)


class Threads(unittest.TestCase):
    def test_several_use_one_model(self):
        with glassformer.load(sentiment) as model, glassformer.load(writer) as other:
            texts = [text, "Dreadful.", "A joy from start to finish.", text[:20]]
            names = "encoder.layers.*.output"
            expected = [model.trace(each, names) for each in texts]
            written = other.generate(text, max_new_tokens=5)
            failures = []

            def run(own):
                try:
                    for _ in range(10):
                        for name, array in model.trace(texts[own], names).items():
                            np.testing.assert_array_equal(array, expected[own][name])
                        assert other.generate(text, max_new_tokens=5) == written
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=run, args=[own]) for own in range(len(texts))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])

    def test_a_stream_stays_in_its_thread(self):
        with glassformer.load(writer) as model:
            stream = model.stream(text, max_new_tokens=3)
            errors = []

            def run():
                try:
                    next(stream)
                except RuntimeError as error:
                    errors.append(str(error))

            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
            self.assertRegex(errors[0], "in the thread that began it")
            self.assertEqual(len(list(stream)), 3)

    def test_a_forked_process_says_so(self):
        model = glassformer.load(sentiment, threads=2)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                model.classify(text)
            except RuntimeError as error:
                status = 0 if "forked" in str(error) else 2
            try:
                del model  # must not wait for threads that do not exist
                gc.collect()
                with glassformer.load(sentiment) as own:
                    status = status or int(own.classify(text).label != "negative")
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(model.classify(text).label, "negative")

    def test_a_signal_ends_a_long_call(self):
        class Interrupted(Exception):
            pass

        def interrupt(*_):
            raise Interrupted

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            with glassformer.load(writer) as model:
                expected = model.generate(text, max_new_tokens=3)
                with self.assertRaises(Interrupted):
                    signal.setitimer(signal.ITIMER_REAL, 1e-3)
                    model.batch([text] * 1000, max_new_tokens=64)
                self.assertEqual(model.generate(text, max_new_tokens=3), expected)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    unittest.main()
