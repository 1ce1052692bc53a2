"""Glassformer: a Transformer you can see through.

>>> import glassformer
>>> model = glassformer.load("weights/sentiment")
>>> model.classify("A gripping, beautifully shot film.").label
'positive'
>>> model.trace("A gripping film.", "encoder.layers.*.output")
"""

from ._chat import Chat, chat_prompt
from ._errors import Error
from ._models import (
    Classifier,
    Embedder,
    Generator,
    ImageClassifier,
    MaskFiller,
    Model,
    QuestionAnswerer,
    Stream,
    TokenClassifier,
    Translator,
    ZeroShotImageClassifier,
    load,
    read_picture,
)
from ._options import Head, Patch
from ._tokenizer import Tokenizer
from ._trainer import Trainer

__all__ = [
    "Chat",
    "Classifier",
    "Embedder",
    "Error",
    "Generator",
    "Head",
    "ImageClassifier",
    "MaskFiller",
    "Model",
    "Patch",
    "QuestionAnswerer",
    "Stream",
    "TokenClassifier",
    "Tokenizer",
    "Trainer",
    "Translator",
    "ZeroShotImageClassifier",
    "chat_prompt",
    "load",
    "read_picture",
]
