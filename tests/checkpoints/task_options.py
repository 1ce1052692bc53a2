#!/usr/bin/python3
"""Writes task_options.json: the output of the original library with the `prefix` and `task_specific_params` of a
config.json. It needs the packages of make.py and its checkpoints."""

import copy
import json
import pathlib

import torch
import transformers

import make  # before imports that put another make.py on the path
import folders
import tokens
from results import LIBRARY

HERE = pathlib.Path(__file__).parent
T5_TASKS = {
    "summarization": {"early_stopping": True, "length_penalty": 2.0, "max_length": 18, "min_length": 9,
                      "no_repeat_ngram_size": 2, "num_beams": 3, "prefix": "summarize: "},
    "translation_en_to_de": {"early_stopping": True, "max_length": 15, "num_beams": 4,
                             "prefix": "translate English to German: "},
    "text2text-generation": {"max_length": 11, "num_beams": None, "repetition_penalty": 1.3, "unknown": 1},
    "plain": {"max_new_tokens": 7, "min_new_tokens": 5, "prefix": None, "early_stopping": "never", "num_beams": 2},
    "start": {"max_length": 12, "decoder_start_token_id": 7, "prefix": ""},
}
GPT2_TASKS = {"text-generation": {"max_length": 18, "no_repeat_ngram_size": 3, "prefix": "Once\u00a0😐 "}}
# The folders: a checkpoint, and additional keys of its config.json.
FOLDERS = [
    ("t5", {"task_specific_params": T5_TASKS, "max_length": 13}),
    ("t5", {"task_specific_params": T5_TASKS, "prefix": "answer: ", "num_beams": 2, "max_length": 16}),
    ("gpt2_generate", {"prefix": "The ", "max_length": 14}),
    ("gpt2_generate", {"task_specific_params": GPT2_TASKS, "max_length": 14}),
    ("gpt2_generate", {"task_specific_params": {"text-generation": {"num_beams": 3, "max_length": 17}},
                       "prefix": "It was ", "max_length": 12}),
]
TEXTS = {"gpt2_generate": ["The film is", "a", ""]}  # it has 32 positions
OPTIONS = [{}, {"maxNewTokens": 6}, {"beams": 2, "minNewTokens": 4}, {"beams": 1}]


def rows_without_tokens(model, tokenizer):
    return list(range(len(tokenizer), model.config.vocab_size))


def of_call(options):
    return {LIBRARY[key]: value for key, value in options.items() if key in LIBRARY}


def answered(model, tokenizer, config, task, options, text):
    """Computes the answer of the pipelines of transformers 4 with the parts of version 5."""
    settings = dict(config["task_specific_params"][task]) if task else {}
    prefix = settings.pop("prefix") if "prefix" in settings else config.get("prefix")
    prefix = (prefix or "") if options.get("prefix", True) else ""
    how = copy.deepcopy(model.generation_config)
    how.update(**settings)
    suppressed = rows_without_tokens(model, tokenizer)
    found = model.generate(**tokenizer(prefix + text, return_tensors="pt"), generation_config=how, **of_call(options),
                           **({"suppress_tokens": suppressed} if suppressed else {}),
                           output_scores=True, return_dict_in_generate=True)
    return tokenizer(prefix + text)["input_ids"], found.sequences[0, 1:].tolist(), found.get("sequences_scores")


def continued(model, tokenizer, config, task, options, text):
    """Runs the pipeline itself, which has one task."""
    model.config.task_specific_params = copy.deepcopy(config.get("task_specific_params")) if task else None
    model.config.prefix = config.get("prefix")
    pipeline = transformers.TextGenerationPipeline(model=model, tokenizer=tokenizer, task="text-generation")
    if not options.get("prefix", True):
        pipeline = transformers.TextGenerationPipeline(model=model, tokenizer=tokenizer, task="text-generation",
                                                       prefix="")
    suppressed = rows_without_tokens(model, tokenizer)
    ids = pipeline(text, do_sample=False, return_tensors=True, **of_call(options),
                   **({"suppress_tokens": suppressed} if suppressed else {}))[0]["generated_token_ids"]
    prefix = (config.get("task_specific_params") or {}).get(task, {}).get("prefix", config.get("prefix")) or ""
    prompt = tokenizer((prefix if options.get("prefix", True) else "") + text)["input_ids"]
    prompt = prompt or [model.generation_config.bos_token_id]
    assert ids[: len(prompt)] == prompt, (ids, prompt)
    return prompt, ids[len(prompt) :], None


def runs(base, config):
    variant = next(variant for variant in make.VARIANTS if variant.name == base)
    model, tokenizer = folders.load(variant, HERE / base).eval(), tokens.load(variant, HERE / base)
    encoder = model.config.is_encoder_decoder
    for key in ("max_length", "num_beams"):
        if key in config:
            setattr(model.generation_config, key, config[key])
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    for text in TEXTS.get(base, variant.texts[:3]):
        for task in (None, *config.get("task_specific_params", {})):
            for given in OPTIONS:
                for without in ({}, {"prefix": False}):
                    options = ({"task": task} if task else {}) | given | without
                    with torch.no_grad():
                        prompt, ids, score = (answered if encoder else continued)(
                            model, tokenizer, config, task, options, text)
                    first = next((i for i, token in enumerate(ids) if token in ends), len(ids) - 1)
                    run = {"text": text, "options": options, "prompt": prompt, "ids": ids[: first + 1]}
                    yield run | ({} if score is None else {"score": float(f"{float(score[0]):.5g}")})


def main():
    transformers.logging.set_verbosity_error()
    result = [{"base": base, "config": config, "runs": list(runs(base, config))} for base, config in FOLDERS]
    (HERE / "task_options.json").write_text(folders.text_of({"folders": result}))
    print([len(folder["runs"]) for folder in result])


if __name__ == "__main__":
    main()
