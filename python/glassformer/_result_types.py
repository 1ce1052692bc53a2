"""The results of calls."""
# Written by tools/schema.mjs from the results in src/api. Do not edit.

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ._readable import Array, Readable, Traced


@dataclass(repr=False)
class Token(Readable):
    """A token that a model read: a row of the attention weights."""

    #: Its number in the vocabulary.
    id: int
    #: The token as people read it, with a space in front if it starts a word, as in " gripping".
    #: Special tokens are shown by name, such as "</s>"; a byte that is not a whole character is
    #: shown as "<0xE6>".
    text: str
    #: Where its text begins, in characters. Special tokens have no text: start equals end.
    start: int
    #: Where its text ends.
    end: int
    #: Of two texts: the one that the token and its place belong to, 0 or 1.
    sequence: Optional[int] = None


@dataclass(kw_only=True, repr=False)
class OutputToken(Token):
    """A token that a model wrote. Its place is in the whole text that it wrote."""

    #: The natural logarithm of its probability after the tokens before it.
    logprob: float


@dataclass(repr=False)
class LabelScore(Readable):
    """A label of a model, or one that a picture was compared with, and its score."""

    #: Its index in the labels of the model, or in the given ones. Two labels may have one name.
    id: int
    #: Its name.
    label: str
    #: Its probability, or the model's estimate of a quantity.
    score: float
    #: The number from which the score is computed.
    logit: float


@dataclass(repr=False)
class Classification(Traced):
    """The labels of a text."""

    #: The label with the highest score.
    label: str
    #: The score of that label.
    score: float
    #: Each label, in the order of the model's labels. Scores are probabilities that sum to 1; or,
    #: if several labels can apply at once or there is only one, a probability for each; or, if
    #: the model estimates a quantity, the logits. Logits of several windows are their mean or
    #: maximum.
    scores: list[LabelScore]
    #: The tokens that the model read, one per row of the attention weights.
    tokens: list[Token]
    #: The number of windows in which the text was read.
    windows: int
    #: Whether a part of the text was left out because it is longer than the model's limit: its
    #: end or its middle, as the model's files say. The tokens are those of the part that was
    #: read.
    clipped: bool
    #: With `contributions`. For each label, one number per row of the attention weights, in logit
    #: units. Together with the classifier's bias they sum to the label's logit.
    contributions: Optional[Array] = None


@dataclass(repr=False)
class Entity(Readable):
    """An entity of a text, such as the name of a person."""

    #: Its label; of combined tokens without what stands before the first -.
    entity: str
    #: The label's probability; of combined tokens or words, the mean.
    score: float
    #: The token as the vocabulary spells it, such as ##ton; of combined tokens, their text.
    word: str
    #: Where it begins in the text, in characters.
    start: int
    #: Where it ends.
    end: int
    #: The position of its token, where tokens are not combined.
    index: Optional[int] = None


@dataclass(repr=False)
class TokenClassification(Traced):
    """The entities of a text."""

    #: The entities, in the order of the text.
    entities: list[Entity]
    #: The tokens that the model read, one per row of the attention weights.
    tokens: list[Token]
    #: The number of windows in which the text was read.
    windows: int
    #: Whether a part of the text was left out because it is longer than the model's limit: its
    #: end or its middle, as the model's files say. The tokens are those of the part that was
    #: read.
    clipped: bool


@dataclass(repr=False)
class Answer(Traced):
    """The answer to a question."""

    #: A part of the context. Empty if there is no answer, which must be allowed.
    answer: str
    #: Its probability.
    score: float
    #: Where it begins in the context, in characters.
    start: int
    #: Where it ends.
    end: int
    #: The tokens of the question (sequence 0) and of the window of the context (sequence 1) in
    #: which the answer was found.
    tokens: list[Token]


@dataclass(repr=False)
class FilledToken(Readable):
    """A token that may stand at the place of a mask."""

    #: Its number in the vocabulary.
    id: int
    #: The token as the vocabulary spells it, such as ##ing.
    token: str
    #: Its text.
    text: str
    #: Its probability.
    score: float
    #: The text as the model reads it, with this token; other masks stay.
    sequence: str


@dataclass(repr=False)
class FilledMask(Readable):
    """A mask of a text."""

    #: The position of its token.
    index: int
    #: Where it begins in the text, in characters.
    start: int
    #: Where it ends.
    end: int
    #: The most probable tokens, the best first.
    answers: list[FilledToken]


@dataclass(repr=False)
class FilledText(Traced):
    """The tokens for the masks of a text."""

    #: The masks, in the order of the text. Each is filled on its own; the others stay masked.
    masks: list[FilledMask]
    #: The tokens that the model read, one per row of the attention weights.
    tokens: list[Token]
    #: Whether a part of the text was left out because it is longer than the model's limit: its
    #: end or its middle, as the model's files say. The tokens are those of the part that was
    #: read.
    clipped: bool


@dataclass(repr=False)
class Embedding(Traced):
    """The vector of a text."""

    #: [poolings · d_model], or as wide as the model's last module.
    embedding: Array
    #: The tokens that the model read, one per row of the attention weights.
    tokens: list[Token]
    #: Whether a part of the text was left out because it is longer than the model's limit: its
    #: end or its middle, as the model's files say. The tokens are those of the part that was
    #: read.
    clipped: bool


@dataclass(repr=False)
class PatchGrid(Readable):
    """The rows of a picture's attention weights."""

    #: The number of rows of patches.
    rows: int
    #: The number of patches of a row.
    columns: int
    #: The names of the rows of attention before the patches: [CLS], [DIST].
    special: list[str]


@dataclass(repr=False)
class PictureRegion(Readable):
    """A part of a picture."""

    #: In pixels of the picture, as the other numbers.
    left: float
    top: float
    width: float
    height: float


@dataclass(repr=False)
class ImageClassification(Traced):
    """The labels of a picture."""

    #: The label with the highest score.
    label: str
    #: The score of that label.
    score: float
    #: Each label, in the order of the model's labels, or with `top_k` the best ones, the best
    #: first. Scores are as those of texts.
    scores: list[LabelScore]
    #: The rows of the attention weights: the special ones, then the patches, row by row.
    grid: PatchGrid
    #: The part of the picture that the patches cover. It may exceed the picture.
    region: PictureRegion
    #: With `contributions`. For each label, one number per row of the attention weights, in logit
    #: units. Together with the classifier's bias they sum to the label's logit.
    contributions: Optional[Array] = None


@dataclass(repr=False)
class ImageMatch(Traced):
    """A picture, compared with labels, or only its vector."""

    #: The picture's vector, of length 1. Its dot product with the vector of a text is their
    #: similarity.
    embedding: Array
    #: The rows of the attention weights: the special ones, then the patches, row by row.
    grid: PatchGrid
    #: The part of the picture that the patches cover. It may exceed the picture.
    region: PictureRegion
    #: With `labels`. The label with the highest score.
    label: Optional[str] = None
    #: With `labels`. The score of that label.
    score: Optional[float] = None
    #: With `labels`. Each label, in the given order. Scores are probabilities that sum to 1; a
    #: logit is the similarity of the label's text and the picture, times the model's scale.
    scores: Optional[list[LabelScore]] = None


@dataclass(repr=False)
class Hypothesis(Readable):
    """A text that a model wrote."""

    text: str
    #: Its log-probability / tokens ^ `length_penalty`: normalized by its length.
    score: float
    #: Its tokens, with the end token if there is one. Their places are in the whole output.
    tokens: list[OutputToken]


@dataclass(repr=False)
class Generation(Traced, Hypothesis):
    """A continuation of a text, or an answer to it."""

    #: The text as the model read it, prefix included. Places refer to the given text alone.
    prompt_tokens: list[Token]
    #: Whether the text was longer than the model's limit, and its beginning was left out or, if
    #: an encoder reads it, its end.
    clipped: bool
    #: Whether it ended with an end token or a stop string, not at the maximum number of tokens.
    ended: bool
    #: With `keep`. The number of the text's tokens that an earlier call had read.
    reused: Optional[int] = None
    #: With `hypotheses`. The other finished hypotheses of the beam search, the best first.
    hypotheses: Optional[list[Hypothesis]] = None


@dataclass(repr=False)
class NextToken(Readable):
    """A token that may come next."""

    #: Its number in the vocabulary.
    id: int
    #: The token as people read it, with a space in front if it starts a word, as in " gripping".
    #: Special tokens are shown by name, such as "</s>"; a byte that is not a whole character is
    #: shown as "<0xE6>".
    text: str
    #: The natural logarithm of the model's probability.
    logprob: float
    #: The probability of being sampled: after penalties, temperature and the options that leave
    #: out tokens, such as `top_k` and `top_p`.
    probability: float


@dataclass(repr=False)
class Prediction(Traced):
    """The tokens that may follow a text."""

    #: The tokens that may come next, the most probable first.
    next: list[NextToken]
    #: The text as the model read it, prefix included. Places refer to the given text alone.
    prompt_tokens: list[Token]
    #: Whether the text was longer than the model's limit, and its beginning was left out or, if
    #: an encoder reads it, its end.
    clipped: bool


@dataclass(repr=False)
class TextRange(Readable):
    """A part of a text."""

    #: Where it begins, in characters.
    start: int
    #: Where it ends.
    end: int


@dataclass(repr=False)
class AlignmentLink(Readable):
    """A word of a translation, and the word from which it was translated."""

    #: In the whole translation.
    target: TextRange
    #: In the text.
    source: TextRange
    #: The share of the target word's attention that is on the source word.
    weight: float


@dataclass(repr=False)
class Candidate(Readable):
    """A token that a search considered."""

    #: The index of the token before it in the tree.
    parent: int
    #: Its number in the vocabulary.
    id: int
    #: The token as people read it, with a space in front if it starts a word, as in " gripping".
    #: Special tokens are shown by name, such as "</s>"; a byte that is not a whole character is
    #: shown as "<0xE6>".
    text: str
    #: The natural logarithm of its probability after the tokens before it.
    logprob: float
    #: The sum of the log-probabilities from the start.
    total: float
    #: Whether the search continued from it, or it finished a hypothesis.
    kept: bool


@dataclass(repr=False)
class SentenceTranslation(Traced, Hypothesis):
    """The translation of a sentence."""

    #: Where the sentence begins in the text, in characters.
    start: int
    #: Where it ends.
    end: int
    #: Where its translation begins in the whole translation.
    target_start: int
    #: Where its translation ends.
    target_end: int
    #: Whether the end of the sentence was left out because of the model's limit.
    clipped: bool
    #: The tokens that the encoder read, with their places in the text.
    source_tokens: list[Token]
    #: With `alignment` or `attention`. Which words were translated from which.
    alignment: Optional[list[AlignmentLink]] = None
    #: With `hypotheses`. The other finished translations, the best first.
    hypotheses: Optional[list[Hypothesis]] = None
    #: With `hypotheses`. All tokens that the search considered, parents before children.
    tree: Optional[list[Candidate]] = None


@dataclass(repr=False)
class Translation(Readable):
    """The translation of a text."""

    #: The translation.
    text: str
    #: The mean of the sentences' scores, weighted by their tokens.
    score: float
    #: The sentences of the text, in order.
    sentences: list[SentenceTranslation]


@dataclass(repr=False)
class Encoding(Readable):
    """A text, or two, as tokens."""

    #: The tokens' numbers in the vocabulary.
    ids: list[int]
    #: The same tokens, with their text and place.
    tokens: list[Token]
    #: Whether tokens over `max_length` were left out.
    clipped: bool
