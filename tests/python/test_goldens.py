"""Answers, traces, patches and gradients equal PyTorch's. tests/fixtures/reference describes the goldens."""

import unittest

import numpy as np

import glassformer
from glassformer import Head, Patch
from tests.python.helpers import (
    assert_near,
    checkpoints,
    everything,
    goldens,
    read_json,
    read_tensors,
    sentiment,
)

# Relative to the largest number of a tensor, as in the tests of the JavaScript package: PyTorch and
# the core both round to 24 bits, in different orders.
tolerance = 1e-4
folders = sorted(path.parent for path in goldens.glob("*/golden.json"))
classifiers = [folder for folder in folders if not folder.name.startswith("translate_")]
translators = [
    folder
    for folder in sorted(set(folders) - set(classifiers))
    if read_json(folder / "config.json").get("decoder_attention") != "recurrent"
]


def gradients_of(folder, name):
    """Returns the plan of gradients, and the gradients, those that are the same included."""
    plan = read_json(folder / f"{name}.json")
    tensors = {
        key.removeprefix("trace/"): tensor
        for key, tensor in read_tensors(folder / f"{name}.safetensors").items()
        if key.startswith("trace/")
    }
    tensors |= {key: tensors[source] for key, source in plan["same"].items()}
    return plan, tensors


class Goldens(unittest.TestCase):
    def assert_tensors(self, actual, expected, largest=None):
        self.assertEqual(sorted(actual), sorted(expected))
        for name, tensor in expected.items():
            share = tolerance
            if largest is not None:  # of all tensors together
                share = tolerance * largest / max(np.abs(tensor).max(), 1e-30)
            assert_near(actual[name], tensor, share, name)

    def assert_gradients(self, actual, expected):
        self.assert_tensors(actual, expected, max(np.abs(each).max() for each in expected.values()))

    def test_there_are_goldens(self):
        self.assertGreaterEqual(len(classifiers), 8)
        self.assertGreaterEqual(len(translators), 4)

    def test_classifiers(self):
        for folder in classifiers:
            golden = read_json(folder / "golden.json")
            tensors = read_tensors(folder / "golden.safetensors")
            allowed = {name: entry[0] for name, entry in golden["tolerance"].items()}
            with self.subTest(folder.name), glassformer.load(folder) as model:
                self.assertIsInstance(model, glassformer.Classifier)
                parts = "contributions.0" in tensors
                for index, text in enumerate(golden["texts"]):
                    result = model.classify(text, attention=True, contributions=parts)
                    self.assertEqual([token.id for token in result.tokens], golden["ids"][index])
                    self.assertEqual(result.label, golden["labels"][index])
                    self.assertEqual(result.clipped, golden["clipped"][index])
                    logits = [each.logit for each in result.scores]
                    expected = tensors["logits"][index]
                    np.testing.assert_allclose(logits, expected, 0, allowed["logits"])
                    scores = [each.score for each in result.scores]
                    expected = golden["scores"][index]
                    np.testing.assert_allclose(scores, expected, 0, allowed["scores"])
                    name = f"attention.{index}"
                    found = result.attention["encoder"]
                    self.assertEqual(found.shape, tensors[name].shape)
                    np.testing.assert_allclose(found, tensors[name], 0, allowed[name])
                    if parts:
                        name = f"contributions.{index}"
                        found = result.contributions  # [C, T]
                        np.testing.assert_allclose(found, tensors[name], 0, allowed[name])
                self.check_interventions(model, golden, allowed["logits"])

    def check_interventions(self, model, golden, allowed):
        for each in golden["interventions"]:
            options = each["options"]
            result = model.classify(
                golden["texts"][each["text"]],
                ablate=[Head(**head) for head in options.get("ablate", [])],
                mask_tokens=options.get("maskTokens", []),
            )
            logits = [each.logit for each in result.scores]
            np.testing.assert_allclose(logits, each["logits"], 0, allowed)

    def test_traces(self):
        for folder in classifiers:
            expected = {}
            for key, tensor in read_tensors(folder / "golden.trace.safetensors").items():
                text, name = key.split("/")
                expected[name] = tensor
            with self.subTest(folder.name), glassformer.load(folder) as model:
                given = read_json(folder / "golden.json")["texts"][int(text)]
                self.assert_tensors(model.trace(given, everything), expected)

    def test_gradients(self):
        checked = 0
        for folder in classifiers:
            if not (folder / "gradients.json").exists():
                continue
            checked += 1
            plan, expected = gradients_of(folder, "gradients")
            given = read_json(folder / "golden.json")["texts"][plan["text"]]
            with self.subTest(folder.name), glassformer.load(folder) as model:
                self.assert_gradients(model.gradients(given, everything), expected)
        self.assertGreaterEqual(checked, 7)

    def test_gradients_of_a_next_token(self):
        subjects = [(folder, "gradients", "golden") for folder in translators]
        subjects.append((checkpoints / "gpt2_generate", "expected.gradients", "expected"))
        for folder, file, answers in subjects:
            plan, expected = gradients_of(folder, file)
            expected.pop("logits", None)
            pair = {weight: id for _, id, weight in plan["contrast"]}
            options = {"token": pair[1.0], "against": pair[-1.0]}
            if "target_ids" in plan:
                options["prefix"] = plan["target_ids"][1:]
            given = read_json(folder / f"{answers}.json")["texts"][plan["text"]]
            with self.subTest(folder.name), glassformer.load(folder) as model:
                text = given["text"] if isinstance(given, dict) else given
                self.assert_gradients(model.gradients(text, everything[1:], **options), expected)

    def test_gradients_of_tokens(self):
        folder = checkpoints / "bert_tokens"
        plan, expected = gradients_of(folder, "expected.gradients")
        text = read_json(folder / "expected.json")["texts"][plan["text"]]["text"]
        with glassformer.load(folder) as model:
            position = plan["contrast"][0][0]
            options = {"gradient_token": position, "window": "first"}
            self.assert_gradients(model.gradients(text, everything, **options), expected)

    def test_explanations(self):
        folder = goldens / "tutorial_post_norm"
        plan = read_json(folder / "explain.json")
        text = read_json(folder / "golden.json")["texts"][plan["text"]]
        with glassformer.load(folder) as model:
            attribution = model.explain(text, "direct_logit_attribution", label=model.info.labels[plan["label"]])
            self.assertAlmostEqual(attribution["value"], plan["value"], 4)
            columns = [each.replace("encoder.", "") for each in attribution["columns"]]
            self.assertEqual(columns, plan["columns"])
            self.assertAlmostEqual(attribution["written"].sum(), plan["value"], 4)
            expected = read_tensors(folder / "explain.safetensors")
            rollout = model.explain(text, "rollout")["rollout"]
            assert_near(rollout, expected["rollout"], tolerance, "rollout")
            relevance = model.explain(text, "relevance")
            np.testing.assert_allclose(relevance["relevance"].shape, [16, 16])
            lens = model.explain(text, "lens")
            self.assertEqual(lens["token_logits"].shape, (3, 16, 2))

    def test_a_circuit_and_what_rules_pass_back(self):
        clean, corrupt = "The actors in this film", "The actor in this film"
        with glassformer.load(sentiment.parent / "writer", compute="f32") as model:
            found = model.explain((clean, corrupt), "circuit", random_circuits=0)
            self.assertEqual([found["token"]["text"], found["against"]["text"]], [" are", " is"])
            self.assertEqual(found["scores"].shape, (len(found["nodes"]), len(found["inputs"])))
            self.assertGreaterEqual(found["faithfulness"], 0.8)
            more = [{"text": "The girls in that car", "pair": "The girl in that car"}]
            both = model.explain((clean, corrupt), "circuit", random_circuits=0, more_pairs=more)
            self.assertEqual(len(both["pairs"]), 2)
            self.assertAlmostEqual(sum(model.explain(clean, "value_zeroing")["scores"]), 1, places=4)
            scores = model.explain(clean, "attn_lrp")["scores"]
            tested = model.explain(clean, "faithfulness", of="attn_lrp", orders=0)
            np.testing.assert_allclose(tested["scores"], scores, atol=1e-5)

    def test_features_lead_to_a_token(self):
        folder = sentiment.parent / "writer"
        with glassformer.load(folder, compute="f32") as model:
            with self.assertRaises(glassformer.Error) as refused:
                model.explain("This film", "features")
            self.assertEqual(refused.exception.code, "invalid_option")
            model.load_dictionaries(folder / "features")
            found = model.explain("This film is one of the", "features")
            graph = model.explain("This film is one of the", "attribution_graph", feature_count=20)
            self.assertEqual(graph["explained"], 20)
            rows = {each["name"]: each["rows"] for each in found["dictionaries"]}
            nodes = [node for node in graph["nodes"] if node["kind"] == "feature"]
            self.assertGreater(len(nodes), 3)
            for node in nodes:
                active = {each["feature"]: each["activation"] for each in rows[node["name"]][node["row"]]}
                self.assertAlmostEqual(active[node["feature"]], node["activation"], 3)
        with glassformer.load(sentiment, compute="f32") as other:
            with self.assertRaises(glassformer.Error) as refused:
                other.load_dictionaries(folder / "features")
            self.assertEqual(refused.exception.code, "invalid_weights")

    def test_a_patch_of_all_numbers_gives_their_answer(self):
        """The states of one text, put in the place of another's, give the first one's answer."""
        name = "encoder.layers.0.output"
        with glassformer.load(sentiment, compute="f32") as model:
            donor, base = "The plot is good.", "The plot is bad."
            expected, before = model.classify(donor), model.classify(base)
            self.assertEqual(len(before.tokens), len(expected.tokens))
            self.assertNotEqual(before.label, expected.label)
            states = model.trace(donor, name)[name]
            patched = model.classify(base, patch=[Patch(name, states)])
            self.assertEqual(patched.scores, expected.scores)
            tokens = list(range(1, len(states)))
            part = [Patch(name, 0), Patch(name, states[1:], tokens), Patch(name, states[0:1], [0])]
            self.assertEqual(model.classify(base, patch=part).scores, expected.scores)


if __name__ == "__main__":
    unittest.main()
