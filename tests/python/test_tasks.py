"""Every class gives exactly what the native command gives, and has its own methods."""

import unittest

import numpy as np

import glassformer
from tests.python.helpers import (
    assert_same,
    checkpoints,
    command,
    read_json,
    root,
    sentiment,
    translator,
    writer,
)

text = "A gripping film with a dreadful ending."
pictures = root / "tests/fixtures/pictures"


def texts_of(name):
    return read_json(checkpoints / name / "expected.json")["texts"]


class Steering(unittest.TestCase):
    def test_a_direction_changes_what_is_written(self):
        name = "decoder.layers.2.output"
        good = ["A wonderful film, I loved it.", "An excellent and moving story."]
        bad = ["A terrible film, I hated it.", "An awful and boring story."]
        with glassformer.load(writer, compute="f32") as model:
            found = glassformer.steering_vector(model, name, good, bad)
            rows = [model.trace(text, name)[name][-1] for text in (*good, *bad)]
            vector = (rows[0] + rows[1] - rows[2] - rows[3]) / 2
            np.testing.assert_allclose(found.vector, vector, atol=1e-4)
            self.assertAlmostEqual(found.norm, float(np.linalg.norm(vector)), places=3)
            texts = []
            for scale in (-3, 3):
                patch = [glassformer.Patch(name, add=found.vector, scale=scale)]
                written = model.generate("This film is", patch=patch, sample=False, max_new_tokens=8)
                texts.append(written.text)
            self.assertNotEqual(*texts)
            removed = model.trace(
                "This film", name, patch=[glassformer.Patch(name, remove=vector)]
            )[name]
            self.assertLess(np.abs(removed @ vector).max(), 1e-2)
            with self.assertRaises(TypeError):
                model.trace("This film", name, patch=[glassformer.Patch(name)])
            with self.assertRaises(ValueError):
                glassformer.steering_vector(model, name, [], bad)


class AsTheCommand(unittest.TestCase):
    def test_classifier(self):
        (expected,) = command(["classify", sentiment, "--attention", "--contributions"], text)
        with glassformer.load(sentiment) as model:
            result = model.classify(text, attention=True, contributions=True)
            assert_same(self, result, expected)
            self.assertEqual([each.label for each in result.scores], model.info.labels)
            self.assertEqual(result.attention["encoder"].shape, (4, 8, *2 * [len(result.tokens)]))

    def test_token_classifier(self):
        folder = checkpoints / "bert_tokens"
        given = texts_of("bert_tokens")[0]["text"]
        (expected,) = command(["ner", folder, "--aggregation", "simple"], given)
        with glassformer.load(folder) as model:
            self.assertIsInstance(model, glassformer.TokenClassifier)
            assert_same(self, model.classify(given, aggregation="simple"), expected)

    def test_question_answerer(self):
        folder = checkpoints / "bert_answer"
        given = texts_of("bert_answer")[1]
        question, context = given["question"], given["context"]
        (expected,) = command(["answer", folder], f"{question}\t{context}")
        with glassformer.load(folder) as model:
            result = model.answer(question, context)
            self.assertEqual(context[result.start : result.end], result.answer)
            self.assertEqual(result.score, expected["score"])
            (other,) = model.batch([(question, context)])
            self.assertEqual(other, result)
            names = model.trace((question, context), "logits")
            self.assertEqual(names["logits"].shape, (len(result.tokens), 2))

    def test_mask_filler(self):
        folder = checkpoints / "bert_masks"
        given = texts_of("bert_masks")[0]["text"]
        (expected,) = command(["fill", folder], given)
        with glassformer.load(folder) as model:
            self.assertIn(model.info.mask_token, given)
            assert_same(self, model.fill(given), expected)
            best = model.fill(given, top_k=1).masks[0].answers
            self.assertEqual([each.id for each in best], [expected["masks"][0]["answers"][0]["id"]])

    def test_embedder(self):
        folder = checkpoints / "bert_embed"
        (expected,) = command(["embed", folder], text)
        with glassformer.load(folder) as model:
            result = model.embed(text)
            assert_same(self, result, expected)
            self.assertEqual(result.embedding.ndim, 1)
            self.assertNotEqual(model.embed(text, pooling="max").embedding[0], result.embedding[0])

    def test_image_classifier(self):
        path = pictures / "files/jpeg_exif6.jpg"
        (expected,) = command(["image", root / "weights/digits", path, "--contributions"])
        with glassformer.load(root / "weights/digits") as model:
            result = model.classify(path, contributions=True)
            assert_same(self, result, expected)
            pixels = glassformer.read_picture(path)
            for same in (str(path), path.read_bytes(), pixels, np.asfortranarray(pixels)):
                self.assertEqual(model.classify(same).scores, result.scores)
            gray = pixels[:, :, 0]
            self.assertEqual(
                model.classify(gray).scores, model.classify(gray[:, :, np.newaxis]).scores
            )
            lens = model.explain(path, "lens")
            self.assertEqual(lens["layers"][-1]["label"], result.label)

    def test_zero_shot_image_classifier(self):
        folder, path = pictures / "clip/clip", pictures / "files/jpeg_exif6.jpg"
        labels = ["a cat", "a dog", "a red car"]
        given = ["--labels", labels[0], "--labels", labels[1], "--labels", labels[2]]
        (expected,) = command(["image", folder, path, *given])
        with glassformer.load(folder) as model:
            result = model.classify(path, labels)
            assert_same(self, result.scores, expected["scores"])
            self.assertEqual(result.label, expected["label"])
            np.testing.assert_allclose(np.linalg.norm(result.embedding), 1, 1e-5)
            np.testing.assert_array_equal(model.embed_image(path).embedding, result.embedding)
            self.assertEqual(model.embed_text("a cat").embedding.shape, result.embedding.shape)
            slopes = model.gradients(path, "encoder.embeddings", labels=labels)
            states = model.trace(path, "encoder.embeddings")
            self.assertEqual(slopes["encoder.embeddings"].shape, states["encoder.embeddings"].shape)
            lens = model.explain(path, "lens", labels=labels)
            self.assertEqual(lens["layers"][-1]["label"], result.label)
            with self.assertRaisesRegex(glassformer.Error, "labels: expected at least one"):
                model.explain(path, "lens")

    def test_generator(self):
        (expected,) = command(["generate", writer, "--max-new-tokens", "8"], text)
        with glassformer.load(writer) as model:
            self.assertIsInstance(model, glassformer.Generator)
            result = model.generate(text, max_new_tokens=8, attention=True)
            assert_same(self, result, expected)
            rows = len(result.prompt_tokens) + 7
            self.assertEqual(result.attention["decoder"].shape[2:], (rows, rows))
            best = model.next(text, count=3)
            self.assertEqual(len(best.next), 3)
            greedy = model.generate(text, max_new_tokens=1, sample=False).tokens[0]
            self.assertEqual(best.next[0].id, greedy.id)
            # The rows are those of the text.
            logits = model.trace(text, "logits")["logits"]
            self.assertEqual(len(logits), len(result.prompt_tokens))
            self.assertEqual(logits[-1].argmax(), greedy.id)

    def test_summarizer(self):
        folder = checkpoints / "t5_first"
        (expected,) = command(["summarize", folder, "--max-new-tokens", "12"], text)
        with glassformer.Summarizer.load(folder) as model:
            result = model.summarize(text, max_new_tokens=12)
            assert_same(self, result, expected)
            stream = model.stream(text, max_new_tokens=12)
            self.assertEqual([step.token.id for step in stream][:1], [stream.result.tokens[0].id])
            with glassformer.Generator.load(folder) as generator:
                other = generator.generate(text, task="summarization", max_new_tokens=12)
                self.assertEqual(other, result)
        with self.assertRaisesRegex(glassformer.Error, "text2text-generation"):
            glassformer.Summarizer.load(writer)

    def test_translator(self):
        given = "How are you? I am fine."
        (expected,) = command(["translate", translator, "--attention"], given)
        with glassformer.load(translator) as model:
            result = model.translate(given, attention=True)
            assert_same(self, result, expected)
            first, second = result.sentences
            self.assertEqual(given[second.start : second.end], "I am fine.")
            self.assertEqual(result.text[: first.target_end], first.text)
            name = "encoder.embeddings"
            states = model.trace(given, name)
            self.assertEqual(list(states), [f"0/{name}", f"1/{name}"])
            self.assertEqual(list(model.trace("Good morning.", name)), [name])
            lens = model.explain(given, "lens")
            self.assertEqual(len(lens["sentences"]), 2)
        with glassformer.Translator.load(translator, shortlist=True) as model:
            self.assertTrue(model.translate(given).text)

    def test_pairs(self):
        given = next(each for each in texts_of("bert_sequence") if each.get("pair") is not None)
        folder = checkpoints / "bert_sequence"
        with glassformer.load(folder) as model:
            result = model.classify((given["text"], given["pair"]))
            self.assertEqual([token.id for token in result.tokens], given["ids"])
            self.assertIn(1, [token.sequence for token in result.tokens])


class Streams(unittest.TestCase):
    def test_generation(self):
        with glassformer.load(writer) as model:
            options = {"max_new_tokens": 8, "attention": True}
            whole = model.generate(text, **options)
            stream = model.stream(text, **options)
            self.assertIsNone(stream.result)
            steps = list(stream)
            self.assertEqual(stream.result.text, whole.text)
            self.assertEqual([step.token for step in steps], whole.tokens)
            self.assertEqual(steps[0].prompt_tokens, whole.prompt_tokens)
            for step, after in zip(steps, steps[1:]):
                self.assertTrue(after.text.startswith(step.text))
            self.assertEqual(steps[3].attention["decoder"].shape[2], 1)
            self.assertRaises(StopIteration, next, stream)

    def test_other_calls_in_between(self):
        with glassformer.load(writer) as model:
            alone = [step.token for step in model.stream(text, max_new_tokens=6)]
            other = model.generate("The plot", max_new_tokens=3)
            tokens = []
            for step in model.stream(text, max_new_tokens=6):
                tokens.append(step.token)
                self.assertEqual(model.generate("The plot", max_new_tokens=3), other)
            self.assertEqual(tokens, alone)

    def test_translation(self):
        given = "I am \N{GRINNING FACE} fine. How are you?"
        with glassformer.load(translator) as model:
            stream = model.stream(given)
            steps = list(stream)
            whole = model.translate(given, beams=1)
            self.assertEqual(stream.result, whole)
            self.assertEqual(steps[-1].text, whole.text)
            tokens = [token for each in whole.sentences for token in each.tokens]
            streamed = [step.token for step in steps]
            self.assertEqual([each for each in tokens if each in streamed], streamed)
            sentences = [step.sentence for step in steps if step.sentence]
            self.assertEqual([each.start for each in sentences], [0, 13])
            self.assertEqual(sentences[1].target_start, whole.sentences[1].target_start)


class Offsets(unittest.TestCase):
    """They count characters, not the UTF-16 code units of the core."""

    given = "I \N{GRINNING FACE} loved \N{GRINNING FACE}\N{GRINNING FACE} it. A dreadful film."

    def assert_words(self, tokens, text):
        words = [each for each in tokens if each.text.strip().isalpha()]
        self.assertGreater(len(words), 2)
        for each in words:
            self.assertEqual(text[each.start : each.end], each.text.strip())

    def test_of_what_is_read(self):
        with glassformer.load(sentiment) as model:
            tokens = model.classify(self.given).tokens
            self.assert_words(tokens, self.given.lower())
            self.assertEqual(tokens[-1].end, len(self.given))
            explained = model.explain(self.given, "rollout")
            self.assertEqual(explained["tokens"][-1]["end"], len(self.given))

    def test_of_an_answer(self):
        folder = checkpoints / "bert_answer"
        context = "\N{GRINNING FACE} " + texts_of("bert_answer")[0]["context"]
        with glassformer.load(folder) as model:
            result = model.answer("Who did?", context)
            self.assertEqual(context[result.start : result.end], result.answer)

    def test_of_a_translation(self):
        with glassformer.load(translator) as model:
            result = model.translate(self.given, attention=True, hypotheses=True)
            self.assertIn("\N{GRINNING FACE}", result.text)
            for each in result.sentences:
                self.assertEqual(result.text[each.target_start : each.target_end], each.text)
                self.assert_words(each.tokens, result.text)
                for link in each.alignment:
                    self.assertTrue(self.given[link.source.start : link.source.end].strip())
                    self.assertTrue(result.text[link.target.start : link.target.end].strip())
            self.assertEqual(self.given[each.start : each.end], "A dreadful film.")

    def test_of_entities_and_masks(self):
        with glassformer.load(checkpoints / "bert_tokens") as model:
            entities = model.classify(self.given, ignore_labels=[]).entities
            self.assertGreater(len(entities), 5)
            for each in entities:
                self.assertEqual(each.word.removeprefix("##"), self.given[each.start : each.end])
        with glassformer.load(checkpoints / "bert_masks") as model:
            given = "\N{GRINNING FACE} The film is [MASK]."
            (mask,) = model.fill(given).masks
            self.assertEqual(given[mask.start : mask.end], "[MASK]")


if __name__ == "__main__":
    unittest.main()
