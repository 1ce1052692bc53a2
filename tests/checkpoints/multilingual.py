"""Writes the tiny translators for many languages of this folder and the answers of the original library: see README.md.

    multilingual.py            all of them
    multilingual.py NAME…      some of them

It needs the packages of make.py, and python3-sentencepiece.
"""

import dataclasses
import json
import pathlib
import shutil
import sys
import types

import sentencepiece
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import (M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer, MBart50Tokenizer, MBartConfig,
                          MBartForConditionalGeneration, MBartTokenizer, NllbTokenizer)

import folders
import tokenizer_forms
import tokens
import traces
import translations

HERE = pathlib.Path(__file__).parent
START = END = 2
PADDING = 1
FIRST_TOKENS = ["<s>", "<pad>", "</s>", "<unk>"]
LONGEST = 10  # most tokens of an output, without the start token
SPECIALS = dict(bos_token="<s>", eos_token="</s>", sep_token="</s>", unk_token="<unk>", pad_token="<pad>")
# Each text is translated from the first language into the second.
M2M_100_TEXTS = [("the film is good", "en", "de"), ("ein Film", "de", "fr"), ("the cat is good", "en", "zu"),
                 ("日本 😐 the dog", "zh", "af"), ("a __de__ film</s> <pad>the dog", "af", "en")]
NLLB_TEXTS = [("the film is good", "eng_Latn", "deu_Latn"), ("ein  Film", "deu_Latn", "fra_Latn"),
              ("the cat is good", "fra_Latn", "zho_Hans"), ("日本 😐 the ﬁlm", "zho_Hans", "eng_Latn"),
              ("a deu_Latn film</s> <mask> <pad>the dog", "eng_Latn", "fra_Latn")]
MBART_TEXTS = [("the film is good", "en_XX", "de_DE"), ("ein  Film", "de_DE", "fr_XX"),
               ("日本 😐 the dog", "ja_XX", "en_XX"), ("a de_DE film</s> <mask> <pad>the dog", "en_XX", "fr_XX")]
MBART_50_TEXTS = [*MBART_TEXTS[:3], ("a filmde_DE</s> the dog <mask><pad>is", "en_XX", "fr_XX")]
SEARCHES = [{"beams": 4}, {"beams": 3, "earlyStopping": True, "lengthPenalty": 0.5}]


def m2m_100_files(variant, folder):
    """Writes a SentencePiece model, and the ids of its pieces in another order, one of them missing. The languages follow.

    Returns the number of rows that the embedding table needs.
    """
    model = sentencepiece.SentencePieceProcessor(str(translations.PIECES / "source.model"))
    pieces = [model.id_to_piece(i) for i in range(model.get_piece_size())]
    pieces = [piece for piece in reversed(pieces) if piece not in (*FIRST_TOKENS, "▁the")]
    vocabulary = {name: i for i, name in enumerate([*FIRST_TOKENS, *pieces])}
    tokens.write_json(folder / "vocab.json", vocabulary)
    shutil.copy(translations.PIECES / "source.model", folder / "sentencepiece.bpe.model")
    codes = transformers.models.m2m_100.tokenization_m2m_100.FAIRSEQ_LANGUAGE_CODES["m2m100"]
    tokens.write_json(folder / "special_tokens_map.json",
                      SPECIALS | {"additional_special_tokens": [f"__{code}__" for code in codes]})
    tokens.write_json(folder / "tokenizer_config.json", SPECIALS | {
        "src_lang": None, "tgt_lang": None, "tokenizer_class": "M2M100Tokenizer", "language_codes": "m2m100",
        "num_madeup_words": 8, "model_max_length": 32} | variant.tokenizer_config)
    return len(vocabulary) + len(codes) + 8


def nllb_files(variant, folder):
    file = json.loads((tokens.SHARED / "precompiled.json").read_text())
    tokenizer_forms.nllb(file)
    tokens.write_json(folder / "tokenizer.json", file)
    specials = SPECIALS | {"cls_token": "<s>", "mask_token": "<mask>",
                           "additional_special_tokens": tokenizer_forms.LANGUAGES}
    tokens.write_json(folder / "special_tokens_map.json", specials)
    tokens.write_json(folder / "tokenizer_config.json", specials | {
        "src_lang": None, "tgt_lang": None, "tokenizer_class": "NllbTokenizer", "model_max_length": 32}
        | variant.tokenizer_config)
    return 1 + max(token["id"] for token in file["added_tokens"])


def mbart_files(variant, folder):
    """Writes a SentencePiece model. The tokenizer's class has the languages."""
    shutil.copy(translations.PIECES / "source.model", folder / "sentencepiece.bpe.model")
    tokens.write_json(folder / "special_tokens_map.json", SPECIALS | {"cls_token": "<s>", "mask_token": "<mask>"})
    tokens.write_json(folder / "tokenizer_config.json", SPECIALS | {
        "src_lang": None, "tgt_lang": None, "tokenizer_class": variant.tokenizer_class.__name__, "model_max_length": 32})
    return len(mbart_tokenizer(variant.tokenizer_class))


def mbart_json(variant, folder):
    """Writes the same tokenizer as tokenizer.json."""
    mbart_tokenizer(variant.tokenizer_class).save_pretrained(folder)
    return len(variant.tokenizer_class.from_pretrained(folder))


def codes_of(tokenizer_class):
    return sys.modules[tokenizer_class.__module__].FAIRSEQ_LANGUAGE_CODES


def mbart_tokenizer(tokenizer_class):
    """Returns the library's tokenizer of the SentencePiece model, which has no map of characters."""
    model = sentencepiece.SentencePieceProcessor(str(translations.PIECES / "source.model"))
    pieces = [(model.id_to_piece(i), model.get_score(i)) for i in range(3, model.get_piece_size())]
    last = [(name, 0.0) for name in (*codes_of(tokenizer_class), "<mask>")]
    vocabulary = [(name, 0.0) for name in FIRST_TOKENS] + pieces + last
    return tokenizer_class(vocab=vocabulary, model_max_length=32)


@dataclasses.dataclass
class Variant:
    name: str
    seed: int
    files: object  # writes those of the tokenizer
    tokenizer_class: type
    texts: list
    languages: int  # rows at the end of the embedding table that are not text
    config: dict = dataclasses.field(default_factory=dict)
    tokenizer_config: dict = dataclasses.field(default_factory=dict)
    dtype: str = "F16"
    task: str = "translate"
    embeddings: float = 0.7
    traced: int = -1  # the text whose named tensors are all stored
    generation: dict = dataclasses.field(default_factory=dict)  # generation_config.json
    runs: list = dataclasses.field(default_factory=list)  # our options, if the folder says how to search
    same_as: str = ""
    model_class: type = M2M100ForConditionalGeneration
    config_class: type = M2M100Config
    names: dict = dataclasses.field(default_factory=lambda: traces.M2M_100)
    start: str = ""  # the language that the decoder reads first, if it reads the language to write first
    family = types.SimpleNamespace(formula=None)


MBART = dict(model_class=MBartForConditionalGeneration, config_class=MBartConfig, names=traces.MBART)
VARIANTS = [
    Variant("m2m_100", seed=7, files=m2m_100_files, tokenizer_class=M2M100Tokenizer, texts=M2M_100_TEXTS, languages=108,
            traced=2),
    Variant("nllb", seed=49, files=nllb_files, tokenizer_class=NllbTokenizer, texts=NLLB_TEXTS, languages=5, traced=0,
            config=dict(encoder_layers=1, decoder_attention_heads=2, decoder_ffn_dim=28, scale_embedding=False,
                        activation_function="gelu")),
    # The folder says the languages and how to search.
    Variant("nllb_suffix", seed=24, files=nllb_files, tokenizer_class=NllbTokenizer, texts=NLLB_TEXTS[:3], languages=5,
            dtype="BF16", config=dict(encoder_layers=1, decoder_layers=1),
            tokenizer_config=dict(legacy_behaviour=True, src_lang="fra_Latn"),
            generation=dict(num_beams=3, early_stopping=True, max_length=9, no_repeat_ngram_size=2,
                            forced_bos_token_id="deu_Latn"),
            runs=[{}, {"from": "zho_Hans", "to": "fra_Latn"}, {"to": "eng_Latn", "beams": 1}]),
    Variant("mbart", seed=2, files=mbart_files, tokenizer_class=MBartTokenizer, texts=MBART_TEXTS, languages=26,
            start="de_DE", traced=1, **MBART, config=dict(scale_embedding=True, forced_eos_token_id=None)),
    Variant("mbart_50", seed=1, files=mbart_json, tokenizer_class=MBart50Tokenizer, texts=MBART_50_TEXTS, languages=53,
            traced=0, dtype="BF16", **MBART, config=dict(
                encoder_layers=1, decoder_attention_heads=2, decoder_ffn_dim=28, activation_function="relu",
                decoder_start_token_id=START, forced_eos_token_id=None)),
    Variant("mbart_50_old", seed=1, files=mbart_files, tokenizer_class=MBart50Tokenizer, texts=[], languages=53,
            same_as="mbart_50", **MBART, config=dict(
                encoder_layers=1, decoder_attention_heads=2, decoder_ffn_dim=28, activation_function="relu",
                decoder_start_token_id=START, forced_eos_token_id=None)),
]


def make_config(variant, rows):
    return variant.config_class(**{
        "vocab_size": rows, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
        "max_position_embeddings": 32, **variant.config})


def random_model(variant, config):
    model = folders.randomize(variant.model_class(config), variant)
    random = torch.Generator().manual_seed(variant.seed + 100)
    # Otherwise the likeliest next token is always the last token, or always the same one.
    norm = model.model.decoder.layer_norm.weight.data
    norm *= torch.where(torch.rand(norm.shape, generator=random) < 0.5, -1.0, 1.0)
    table = model.model.shared.weight.data
    table[END] *= 2  # texts end
    table[:PADDING + 1] *= 0.25  # and have neither padding
    table[-variant.languages:] *= 0.5  # nor many languages
    model.tie_weights()
    return model.eval()


def write(variant, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rows = variant.files(variant, folder)
    if variant.start:
        start = id_of(mbart_tokenizer(variant.tokenizer_class), variant.start)
        variant.config["decoder_start_token_id"] = start
    model = random_model(variant, make_config(variant, rows))
    model.save_pretrained(folder)
    tensors = {name: value.to(folders.DTYPES[variant.dtype]).contiguous().clone()
               for name, value in load_file(folder / "model.safetensors").items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "generation_config.json").unlink()
    return model


def id_of(tokenizer, language):
    return tokenizer.convert_tokens_to_ids(f"__{language}__" if isinstance(tokenizer, M2M100Tokenizer) else language)


def to_language(variant, language):
    """Returns the option of generate() that selects a language to write."""
    return {"decoder_start_token_id" if variant.start else "forced_bos_token_id": language}


def searched(variant, models, tokenizer, text, options, usual):
    """Returns the output of a search with these options, and its score."""
    model, exact = models
    pair = {name: options.get(name, usual.get(name)) for name in ("from", "to")}
    tokenizer.src_lang = pair["from"]
    inputs = torch.tensor([tokenizer(text).input_ids])
    theirs = {translations.THEIRS[name]: value for name, value in options.items() if name not in pair}
    if "to" in options:
        theirs |= to_language(variant, id_of(tokenizer, options["to"]))
    with torch.no_grad():
        single, double = (m.generate(inputs, attention_mask=torch.ones_like(inputs), do_sample=False,
                                     return_dict_in_generate=True, output_scores=True,
                                     **theirs) for m in (model, exact))
    ids = single.sequences[0].tolist()
    assert ids == double.sequences[0].tolist(), (options, ids)
    ids = ids[:ids.index(END, 1) + 1 if END in ids[1:] else None]
    assert ids[not variant.start] == id_of(tokenizer, pair["to"]), (options, ids)
    if hasattr(double, "sequences_scores"):
        score = double.sequences_scores[0]
    else:  # a single hypothesis: the mean of the model's log-probabilities
        with torch.no_grad():
            logits = exact(input_ids=inputs, decoder_input_ids=torch.tensor([ids[:-1]])).logits[0]
        score = torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]].mean()
    return {"options": options, "ids": ids[1:], "score": round(float(score), 5)}


def answer(variant, model, tokenizer):
    """Returns the expected tensors and answers."""
    exact = random_model(variant, model.config).double()
    exact.generation_config = model.generation_config
    kept, texts = {}, []
    usual = {"from": variant.tokenizer_config.get("src_lang"), "to": "deu_Latn"}
    for index, (text, source, target) in enumerate(variant.texts):
        if variant.generation:
            tokenizer.src_lang = usual["from"]
            texts.append({"text": text, "ids": tokenizer(text).input_ids,
                          "runs": [searched(variant, (model, exact), tokenizer, text, options, usual)
                                   for options in variant.runs]})
            with torch.no_grad():
                states = model.get_encoder()(torch.tensor([texts[-1]["ids"]])).last_hidden_state[0]
            kept[f"states.{index}"] = states
            continue
        tokenizer.src_lang = source
        inputs = torch.tensor([tokenizer(text).input_ids])
        language = id_of(tokenizer, target)
        with torch.no_grad():
            generated = model.generate(inputs, attention_mask=torch.ones_like(inputs), num_beams=1, do_sample=False,
                                       max_new_tokens=LONGEST, **to_language(variant, language))[0].tolist()
            both = {"input_ids": inputs, "decoder_input_ids": torch.tensor([generated[:-1]])}
            output = model(**both, output_attentions=True)
            double = exact(**both)
        error = float((output.logits.double() - double.logits).abs().max())
        assert error < 2e-5, (variant.name, error)
        made = generated[1:]
        assert generated[not variant.start] == language and PADDING not in made, (variant.name, text, made)
        assert all(i < len(tokenizer) for i in made), (variant.name, text, made)
        top = output.logits[0, 0 if variant.start else 1:].topk(2).values
        assert float((top[:, 0] - top[:, 1]).min()) > 1e-3, (variant.name, text)
        logprobs = torch.log_softmax(output.logits[0].double(), -1)
        pair = {"from": source, "to": target}
        start = {"start": language} if variant.start else {}
        texts.append({"text": text, **pair, **start, "ids": inputs[0].tolist(), "output": made,
                      "logprob": round(float(sum(row[i] for row, i in zip(logprobs, made))), 6),
                      "translation": tokenizer.decode(made, skip_special_tokens=True),
                      "runs": [searched(variant, (model, exact), tokenizer, text, pair | options | {"maxLength": LONGEST}, {})
                               for options in SEARCHES]})
        stack = lambda maps: torch.cat([m[:1] for m in maps])
        kept[f"encoder.{index}"] = stack(output.encoder_attentions)
        kept[f"decoder.{index}"] = stack(output.decoder_attentions)
        kept[f"cross.{index}"] = stack(output.cross_attentions)
        kept[f"logits.{index}"] = output.logits[0]
        kept[f"states.{index}"] = output.encoder_last_hidden_state[0]
        if index == variant.traced:
            found = traces.trace_both(variant.names, model, both)
            kept |= {f"{index}/{name}": tensor for name, tensor in found.items()}
    runs = [run["ids"] for text in texts for run in text["runs"]]
    assert len({len(made) for made in runs}) > 1, (variant.name, runs)
    assert any(made[-1] == END for made in runs), (variant.name, runs)
    return {name: value.detach().float().contiguous().clone() for name, value in kept.items()}, texts


def language_ids(variant):
    """Returns the ids of the languages' tokens."""
    tokenizer = variant.tokenizer_class.from_pretrained(HERE / variant.name)
    if variant.tokenizer_class is M2M100Tokenizer:
        return list(tokenizer.lang_code_to_id.values())
    nllb = variant.tokenizer_class is NllbTokenizer
    codes = tokenizer_forms.LANGUAGES if nllb else codes_of(variant.tokenizer_class)
    return [id_of(tokenizer, name) for name in codes]


def make(variant):
    folder = HERE / variant.name
    original = write(variant, folder)
    if variant.same_as:
        (folder / "expected.json").write_text(folders.text_of({"same_as": variant.same_as}))
        return
    tokenizer = variant.tokenizer_class.from_pretrained(folder)
    if variant.generation:
        given = variant.generation | {"forced_bos_token_id": id_of(tokenizer, variant.generation["forced_bos_token_id"])}
        tokens.write_json(folder / "generation_config.json", {
            "bos_token_id": 0, "decoder_start_token_id": START, "eos_token_id": END, "pad_token_id": PADDING, **given})
    model, info = variant.model_class.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"], (variant.name, info)
    for name, value in original.state_dict().items():
        traces.near(value, model.state_dict()[name], 0)
    kept, texts = answer(variant, model.eval(), tokenizer)
    save_file(kept, folder / "expected.safetensors")
    libraries = {m.__name__: m.__version__.split("+")[0] for m in (transformers, torch, sentencepiece)}
    expected = {"task": variant.task, "libraries": libraries, "max_length": 32, "texts": texts}
    print(variant.name, [text["translation"] if "translation" in text else text["runs"][0] for text in texts])
    (folder / "expected.json").write_text(folders.text_of(expected))
    for file in folder.rglob("*.safetensors"):
        file.chmod(0o644)


def main():
    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    for variant in VARIANTS:
        if not sys.argv[1:] or variant.name in sys.argv[1:]:
            make(variant)


if __name__ == "__main__":
    main()
