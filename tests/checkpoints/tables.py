#!/usr/bin/python3
"""Prints which of the library's classes read an embedding table that a file holds only as the output matrix
of a masked language model.

With transformers 5.12.1, only AutoModelForMaskedLM reads it, for BERT, DistilBERT, RoBERTa, XLM-R and
CamemBERT, unless tie_word_embeddings is false. The others fill the table with random numbers, and warn.
"""

import json
import pathlib
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import (AutoModel, AutoModelForMaskedLM, AutoModelForQuestionAnswering,
                          AutoModelForSequenceClassification, AutoModelForTokenClassification)

BERT = dict(vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=12,
            max_position_embeddings=20)
DISTILBERT = dict(vocab_size=50, dim=8, n_layers=1, n_heads=2, hidden_dim=12, max_position_embeddings=20)
FAMILIES = [("Bert", BERT, "bert.", "cls.predictions.decoder.weight"),
            ("DistilBert", DISTILBERT, "distilbert.", "vocab_projector.weight"),
            ("Roberta", BERT, "roberta.", "lm_head.decoder.weight"),
            ("XLMRoberta", BERT, "roberta.", "lm_head.decoder.weight"),
            ("Camembert", BERT, "roberta.", "lm_head.decoder.weight")]
CLASSES = (AutoModelForMaskedLM, AutoModel, AutoModelForSequenceClassification,
           AutoModelForTokenClassification, AutoModelForQuestionAnswering)


def main():
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    for family, size, prefix, output in FAMILIES:
        config = getattr(transformers, f"{family}Config")(**size)
        model = getattr(transformers, f"{family}ForMaskedLM")(config)
        table = f"{prefix}embeddings.word_embeddings.weight"
        for tied in (True, None, False):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                model.save_pretrained(folder)
                tensors = load_file(folder / "model.safetensors")
                tensors[output] = tensors.pop(table)
                save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
                settings = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": tied}
                settings = {key: value for key, value in settings.items() if value is not None}
                (folder / "config.json").write_text(json.dumps(settings))
                read = [each.__name__ for each in CLASSES if torch.equal(
                    each.from_pretrained(folder).get_input_embeddings().weight, tensors[output])]
            print(f"{family}, tie_word_embeddings {tied}: {', '.join(read) or 'none'}")


if __name__ == "__main__":
    main()
