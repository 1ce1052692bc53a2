"""The teachers that know words: NB-weighted logistic regression on word 1-3-grams (Wang & Manning, ACL 2012).

There is one for films and one for products. Scores are log-odds, calibrated on texts that the teacher was not fitted
on. Scores of texts that it was fitted on are computed out of fold, so that they are as reliable as those of other
texts.
"""
import re
import warnings

import numpy
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from common import review_files

FOLDS = 5
FEATURES = 2**22
WORDS = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[^\sa-z0-9]")


def words(text):
    """Returns lower-cased words and punctuation. Treebank spacing ("do n't") and plain text give the same words."""
    return WORDS.findall(review_files.detokenize(text.lower()))


def features(texts):
    """Returns binary hashed 1-3-grams [texts, FEATURES]."""
    hasher = HashingVectorizer(tokenizer=words, lowercase=False, ngram_range=(1, 3), binary=True, norm=None,
                               alternate_sign=False, n_features=FEATURES, token_pattern=None,
                               dtype=numpy.float32)
    return hasher.transform(texts)


class NbLogistic:
    """Logistic regression on features scaled by their naive-Bayes log-count ratio, with rows of length 10."""

    def __init__(self, strength=1.0):
        self.model = LogisticRegression(C=strength, solver="liblinear", dual=True, max_iter=60)

    def fit(self, matrix, labels, weights):
        positive = sparse.csr_matrix(weights * (labels == 1)) @ matrix
        negative = sparse.csr_matrix(weights * (labels == 0)) @ matrix
        p, q = positive.toarray()[0] + 1.0, negative.toarray()[0] + 1.0
        self.ratio = numpy.log((p / p.sum()) / (q / q.sum())).astype(numpy.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about liblinear's iteration limit: the fit is good enough then
            self.model.fit(self.scale(matrix), labels, sample_weight=weights)
        return self

    def scale(self, matrix):
        matrix = matrix @ sparse.diags(self.ratio)
        lengths = numpy.sqrt(numpy.asarray(matrix.multiply(matrix).sum(1)).ravel()) + 1e-6
        return (sparse.diags((10.0 / lengths).astype(numpy.float32)) @ matrix).tocsr()

    def score(self, matrix):
        return self.model.decision_function(self.scale(matrix)).astype(numpy.float32)


def weigh(teachers, labels):
    """Returns a factor per teacher, by logistic regression without intercept: the weighted sum of scores is log-odds."""
    model = LogisticRegression(C=1e6, fit_intercept=False)
    return model.fit(numpy.stack(teachers, axis=1), labels).coef_[0]


def fit_out_of_fold(matrix, labels, others=(), folds=None):
    """Returns (the rows' log-odds, out of fold; a function from features to log-odds).

    others: [(matrix, labels, weight)] of neighboring domains, used in every fold.
    folds: the fold of each row. Without it, folds are random, which requires texts that do not overlap.
    """
    if folds is None:
        folds = numpy.random.RandomState(1).randint(FOLDS, size=len(labels))
    models = []
    scores = numpy.zeros(len(labels), numpy.float32)
    for fold in range(FOLDS):
        kept = folds != fold
        parts = [(matrix[kept], labels[kept], 1.0), *others]
        weights = numpy.concatenate([numpy.full(len(part[1]), part[2], numpy.float32) for part in parts])
        model = NbLogistic().fit(sparse.vstack([part[0] for part in parts]).tocsr(),
                                 numpy.concatenate([part[1] for part in parts]), weights)
        scores[~kept] = model.score(matrix[~kept])
        models.append(model)
    [factor] = weigh([scores], labels)
    return scores * factor, lambda rows: factor * sum(model.score(rows) for model in models) / FOLDS
