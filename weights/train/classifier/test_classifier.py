"""Tests of the classifier's training code. They take seconds and need no data.

    python3 -m unittest classifier.test_classifier
"""
import random
import re
import unittest

import numpy
import torch

from classifier import prepare
from classifier.batches import MASK, cut, bucket, mask_tokens
from classifier.model import CONFIG, Classifier
from classifier.negation import negations
from classifier.negation import prepare as negation
from classifier.teachers import ngrams, sentences, variations
from common import attention, review_files
from common.encoder import sinusoids


class FakeItems:
    def __init__(self, lengths):
        self.lengths = numpy.array(lengths)
        self.starts = numpy.cumsum(self.lengths) - self.lengths
        self.ids = numpy.concatenate([numpy.arange(n) + 10 for n in lengths]).astype(numpy.uint16)
        self.targets = numpy.tile(numpy.float32([0.3, 0.7]), (len(lengths), 1))


class TrainingTest(unittest.TestCase):
    def test_evaluation_files_are_refused(self):
        for name in ("imdb.test.tsv.gz", "sst2.dev.tsv.gz", "sst5.dev.tsv.gz", "amazon.test.tsv.gz",
                     "uci_imdb.dev.tsv.gz", "yelp.train.tsv.gz", "yelp_sent.tsv.gz", "hotel.tsv.gz"):
            with self.assertRaises(ValueError):
                review_files.read_training("/nonexistent", name)
        for labeled, unlabeled in review_files.DOMAINS.values():
            for name in labeled + unlabeled:
                review_files.check_allowed(name)

    def test_treebank_spacing_is_undone(self):
        self.assertEqual(review_files.detokenize("it 's not bad , but i do n't care ."), "it's not bad, but i don't care.")

    def test_compiled_attention_equals_plain(self):
        if not attention.use_compiled():
            self.skipTest("no C++ compiler")
        library = attention.LIBRARY
        torch.manual_seed(0)
        lengths = (1, 3, 15, 16, 17, 48, 100)
        # bfloat16 keeps 8 bits, and the gradient goes through several roundings; float32's exp is good to 1e-5.
        for length, dtype, tolerance in [(n, torch.bfloat16, 0.02) for n in lengths] + [
                (n, torch.float32, 1e-4) for n in lengths]:
            qkv = (torch.randn(2, length, 3, 8, 16) * 1.5).to(dtype).requires_grad_()
            exact = qkv.detach().float().requires_grad_()
            out = attention.attention(qkv)
            attention.LIBRARY = None
            wanted = attention.attention(exact)
            attention.LIBRARY = library
            grad = torch.randn_like(wanted).to(dtype)
            out.backward(grad)
            wanted.backward(grad.float())
            for ours, theirs in ((out, wanted), (qkv.grad, exact.grad)):
                self.assertLess((ours.float() - theirs).abs().max(), tolerance * theirs.abs().max() + 1e-6)

    def test_cut_takes_beginning_or_beginning_and_end(self):
        items = FakeItems([100, 100, 40])
        self.assertEqual(bucket(items.lengths, 64).tolist(), [64, 64, 32])
        ids, targets = cut(items, numpy.array([0, 1] * 20), 64, 0.0, numpy.random.RandomState(1))
        begin = list(range(10, 74))
        both = list(range(10, 26)) + list(range(62, 110))
        self.assertEqual({tuple(row) for row in ids.tolist()}, {tuple(begin), tuple(both)})
        self.assertEqual(targets.shape, (40, 2))
        ids, _ = cut(items, numpy.array([2]), 32, 0.25, numpy.random.RandomState(1))
        self.assertEqual(ids.shape, (1, 24))
        self.assertTrue((numpy.diff(ids[0].numpy()) > 0).all())

    def test_masking_keeps_the_truth(self):
        torch.manual_seed(0)
        ids = torch.randint(5, 8000, (20, 50))
        masked, places, truth = mask_tokens(ids, 0.15, 8000)
        self.assertTrue((ids.view(-1)[places] == truth).all())
        self.assertGreater((masked == MASK).sum(), 50)
        untouched = torch.ones(1000, dtype=torch.bool)
        untouched[places] = False
        self.assertTrue((masked.view(-1)[untouched] == ids.view(-1)[untouched]).all())

    def test_heads_begin_on_neighbors(self):
        torch.manual_seed(0)
        encoder = Classifier(CONFIG).encoder
        own = encoder.layers[0].self_attn
        x = encoder.layers[0].self_attn_layer_norm(sinusoids(100, 128))
        scores = own.q_proj(x)[:, :16] @ own.k_proj(x)[:, :16].T
        back = torch.arange(100) - scores.argmax(1)
        self.assertTrue(((back[3:] == 1) | (back[3:] == 2)).all())

    def test_phrases_share_their_sentences_fold(self):
        wholes = [f"film {number} is number {number} of many" for number in range(30)]
        folds = prepare.folds_of(wholes, wholes)
        self.assertEqual(len(set(folds)), ngrams.FOLDS)
        self.assertEqual(prepare.folds_of([whole[:-5].upper() for whole in wholes], wholes).tolist(), folds.tolist())

    def test_varied_sentences_change_phrases_that_begin_alike(self):
        phrases = ["the plot", "the long tail of jokes", "a dull film", "a rare treat"]
        made = variations.vary(["the plot makes a dull film ."], phrases, 50)
        self.assertEqual(len(made), 50)
        self.assertIn("the long tail of jokes makes a rare treat .", made)
        self.assertEqual(made, variations.vary(["the plot makes a dull film ."], phrases, 50))

    def test_the_teacher_of_sentences_learns(self):
        generator = numpy.random.RandomState(1)
        texts = [generator.randint(1, 40, size=generator.randint(1, 9)) for _ in range(300)]
        labels = numpy.array([(text < 20).mean() > 0.5 for text in texts])
        torch.manual_seed(0)
        net = sentences.Reader(generator.randn(40, 16).astype(numpy.float32))
        sentences.fit(net, texts, labels, 15, rate=1e-2, tokens=64)
        scores = sentences.score(net, texts)
        self.assertGreater(((scores > 0) == labels).mean(), 0.9)
        self.assertLess(abs(sentences.score(net, texts[:1])[0] - scores[0]), 1e-3)

    def test_patterns_name_lists_that_their_domains_have(self):
        text = negations.GRAMMAR.read_text()
        self.assertEqual(text.count("("), text.count(")"))
        grammar = negations.Grammar(text)
        for domain, patterns in grammar.patterns.items():
            for _, pattern in patterns:
                for name in re.findall(r"\{(\w*)\}", pattern):
                    self.assertTrue(grammar.words(name, domain), f"{{{name}}} of {domain} in {pattern}")

    def test_written_sentences_of_both_labels_come_with_and_without_negators(self):
        made = negations.Grammar(negations.GRAMMAR.read_text()).sentences(2000)
        self.assertEqual(len({text for _, text in made}), 2000)
        self.assertFalse([text for _, text in made if re.search(r"[(){}|]", text)])
        for label in (0, 1):
            negated = [bool(negations.NEGATOR.search(text)) for own, text in made if own == label]
            self.assertGreater(sum(negated), 300)
            self.assertGreater(len(negated) - sum(negated), 200)

    def test_a_grammar_fills_in_words_of_the_domain(self):
        grammar = negations.Grammar("[bad =]\npoor\n[bad = film]\ndull\n[positive: film]\n(not|never) {bad}\n")
        texts = {grammar.sentence(random.Random(seed)) for seed in range(50)}
        self.assertEqual(texts, {(1, f"{no} {bad}") for no in ("not", "never") for bad in ("poor", "dull")})

    def test_a_negator_turns_a_phrase_round(self):
        found = negations.contrasts([(0, "a dull film"), (1, "a film that is not dull"), (1, "great")], 10)
        self.assertEqual([label for label, _ in found], [0, 1])
        self.assertIn("a dull film", found[1][1])
        self.assertTrue(negations.NEGATOR.search(found[1][1]))

    def test_cut_sentences_have_a_negator_and_their_reviews_label(self):
        review = "I saw it twice. You won't regret it! It is not " + "very " * 20 + "long. No."
        self.assertEqual(negations.cut([(1, review)]), [(1, "You won't regret it!")])

    def test_texts_that_measure_are_not_trained_on(self):
        kept_out = {negations.letters(text) for path in negation.KEPT_OUT
                    for _, _, text in negation.read_lines(path)}
        self.assertGreater(len(kept_out), 300)
        goals, texts = negation.usable(numpy.array([0.9, 0.8, numpy.nan]),
                                                ["never  BORING!", "Never a bore.", "Who knows?"], kept_out)
        self.assertEqual((goals.tolist(), texts), ([0.8], ["Never a bore."]))


if __name__ == "__main__":
    unittest.main()
