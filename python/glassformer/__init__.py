"""Glassformer: a Transformer you can see through.

>>> import glassformer
>>> model = glassformer.load("weights/sentiment")
>>> model.classify("A gripping, beautifully shot film.").label
'positive'
>>> model.trace("A gripping film.", "encoder.layers.*.output")
"""

from importlib.metadata import PackageNotFoundError as _NotFound
from importlib.metadata import version as _version

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
    Summarizer,
    TokenClassifier,
    Translator,
    ZeroShotImageClassifier,
    load,
    read_picture,
)
from ._options import Head, Patch
from ._steering import SteeringVector, steering_vector
from ._tokenizer import Tokenizer
from ._trainer import Trainer

try:
    #: The version of the package; "0" where it is not installed, as in a folder of sources.
    __version__ = _version("glassformer")
except _NotFound:
    __version__ = "0"

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
    "SteeringVector",
    "Stream",
    "Summarizer",
    "TokenClassifier",
    "Tokenizer",
    "Trainer",
    "Translator",
    "ZeroShotImageClassifier",
    "__version__",
    "chat_prompt",
    "load",
    "read_picture",
    "steering_vector",
]
