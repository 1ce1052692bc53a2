"""Writes the tiny translators of this folder and the answers of the original library: see README.md.

    translations.py            all translators
    translations.py NAME…      some translators

It needs the packages of make.py, and python3-sentencepiece.
"""

import dataclasses
import pathlib
import shutil
import sys

import sentencepiece
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

import folders
import tokens
import traces

HERE = pathlib.Path(__file__).parent
PIECES = HERE.parent / "golden" / "translate_post_norm_tied"
CODES = [">>de<<", ">>fra<<"]
TEXTS = ["the film is good", "ein Film", ">>fra<< the cat", ">>xyz<<the cat is good", "日本 😐 the dog", "a"]
LONGEST = 10  # most tokens of an output, without the start token
SEARCHES = [  # with the names of our options
    {"beams": 4},
    {"beams": 3, "earlyStopping": True},
    {"beams": 4, "earlyStopping": "never", "lengthPenalty": 0.5},
    {"beams": 2, "lengthPenalty": 2},
]
THEIRS = {"beams": "num_beams", "earlyStopping": "early_stopping", "lengthPenalty": "length_penalty",
          "maxLength": "max_new_tokens"}


def vocabulary(*sides):
    """Returns the ids as the makers assign them: </s> and <unk> first, codes after the pieces, <pad> last."""
    names = ["</s>", "<unk>"]
    for side in sides:
        model = sentencepiece.SentencePieceProcessor(str(PIECES / f"{side}.model"))
        names += [model.id_to_piece(i) for i in range(model.get_piece_size())]
    # One piece is missing, as in a truncated vocabulary.
    names = [name for name in dict.fromkeys(names) if name not in ("<s>", "▁the")]
    return {name: i for i, name in enumerate([*names, *CODES, "<pad>"])}


BOTH = vocabulary("source", "target")
PADDING, END = BOTH["<pad>"], BOTH["</s>"]


@dataclasses.dataclass
class Variant:
    name: str
    seed: int
    same_as: str = ""
    config: dict = dataclasses.field(default_factory=dict)
    dtype: str = "F32"
    positions: bool = False  # the file has the table of positions
    copies: tuple = ()  # other names under which the file holds the shared table
    only: str = ""  # the only name of the shared table in the file
    task: str = "translate"
    embeddings: float = 0.7
    traced: int = -1  # the text whose named tensors are all stored
    padding_bias: float = -30  # <pad> is never written
    end_bias: float = 0
    generation: dict = dataclasses.field(default_factory=dict)  # generation_config.json
    runs: list = dataclasses.field(default_factory=list)  # our options, if the folder has generation_config.json
    texts: int = len(TEXTS)
    separate: bool = False  # a vocabulary per side; the library's beams fail if their sizes differ


VARIANTS = [
    Variant("marian", seed=94, traced=2),
    Variant("marian_copies", seed=94, same_as="marian", dtype="BF16",
            copies=("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight")),
    Variant("marian_two_tables", seed=169, positions=True,
            config=dict(share_encoder_decoder_embeddings=False, encoder_layers=1, decoder_attention_heads=2,
                        decoder_ffn_dim=28, activation_function="relu", scale_embedding=False)),
    Variant("marian_search", seed=94, padding_bias=3,
            generation=dict(num_beams=4, max_length=9, length_penalty=1.3, early_stopping=True,
                            renormalize_logits=True),
            runs=[{}, {"beams": 2}, {"beams": 3, "earlyStopping": False, "lengthPenalty": 0.5, "maxLength": 6}]),
    # config.json has other tokens for the start and the end, which must be ignored.
    Variant("marian_rules", seed=2, dtype="BF16", padding_bias=3, end_bias=2,
            config=dict(encoder_layers=1, decoder_layers=1, decoder_start_token_id=7, eos_token_id=9),
            generation=dict(num_beams=3, max_length=12, renormalize_logits=True, repetition_penalty=1.3,
                            no_repeat_ngram_size=2, min_length=6, bad_words_ids=[[PADDING], [13, 78]]),
            runs=[{}, {"beams": 1}, {"beams": 4, "earlyStopping": True, "lengthPenalty": 0.5, "maxLength": 8}]),
    Variant("marian_two_vocabularies", seed=12, dtype="BF16", separate=True, texts=4,
            config=dict(share_encoder_decoder_embeddings=False, encoder_layers=1, decoder_layers=1)),
]


def make_config(variant, sides):
    ids, target = sides
    return MarianConfig(**{
        "vocab_size": len(ids), "decoder_vocab_size": len(target), "d_model": 16, "encoder_layers": 2,
        "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24, "max_position_embeddings": 32, "activation_function": "swish",
        "scale_embedding": True, "pad_token_id": target["<pad>"], "eos_token_id": ids["</s>"], "bos_token_id": None,
        "decoder_start_token_id": target["<pad>"], "forced_eos_token_id": None, **variant.config})


def random_model(variant, config):
    model = folders.randomize(MarianMTModel(config), variant)
    # Sinusoids are not weights.
    for stack in (model.model.encoder, model.model.decoder):
        positions = stack.embed_positions
        table = MarianMTModel(config).model.encoder.embed_positions.weight
        positions.weight.data.copy_(table if not variant.positions else (table * 0.5).half().float())
    random = torch.Generator().manual_seed(variant.seed + 100)
    bias = 0.2 * torch.randn(model.final_logits_bias.shape, generator=random)
    bias[0, config.pad_token_id] = variant.padding_bias
    bias[0, END] += variant.end_bias
    # Otherwise the likeliest next token is always the last token, or always the same one.
    for layer in model.model.decoder.layers:
        for linear in (layer.self_attn.out_proj, layer.encoder_attn.out_proj, layer.fc2):
            linear.weight.data *= 0.5
    norm = layer.final_layer_norm.weight.data
    norm *= torch.where(torch.rand(norm.shape, generator=random) < 0.5, -1.0, 1.0)
    model.final_logits_bias.copy_(bias.bfloat16().float())
    model.tie_weights()
    return model.eval()


def write(variant, folder, sides):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    model = random_model(variant, make_config(variant, sides))
    model.save_pretrained(folder)
    tensors = {name: value.to(folders.DTYPES[variant.dtype]).contiguous().clone()
               for name, value in load_file(folder / "model.safetensors").items()}
    table = "model.shared.weight"
    if variant.copies:
        for name in variant.copies:
            tensors[name] = tensors[table].clone()
    state = model.state_dict()
    for stack in ("encoder", "decoder"):
        name = f"model.{stack}.embed_positions.weight"
        tensors.pop(name, None)
        if variant.positions:
            tensors[name] = state[name].contiguous().clone()
    if variant.config.get("share_encoder_decoder_embeddings") is False:
        for stack in ("encoder", "decoder"):
            name = f"model.{stack}.embed_tokens.weight"
            tensors[name] = state[name].contiguous().clone()
        tensors.pop("lm_head.weight", None)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    for side in ("source", "target"):
        shutil.copy(PIECES / f"{side}.model", folder / f"{side}.spm")
    tokens.write_json(folder / "vocab.json", sides[0])
    if variant.separate:
        tokens.write_json(folder / "target_vocab.json", sides[1])
    settings = {"source_lang": "eng", "target_lang": "deu+fra", "separate_vocabs": variant.separate, "eos_token": "</s>",
                "unk_token": "<unk>", "pad_token": "<pad>", "model_max_length": 32}
    tokens.write_json(folder / "tokenizer_config.json", settings)
    return model


def searched(model, exact, inputs, options):
    """Returns the output of a search with these options, and its score."""
    theirs = {THEIRS[name]: value for name, value in options.items()}
    with torch.no_grad():
        single, double = (m.generate(inputs, attention_mask=torch.ones_like(inputs), do_sample=False,
                                     return_dict_in_generate=True, output_scores=True,
                                     **theirs) for m in (model, exact))
    ids = single.sequences[0].tolist()
    assert ids == double.sequences[0].tolist(), (options, ids)
    ids = ids[:ids.index(END) + 1 if END in ids else None]
    if hasattr(double, "sequences_scores"):
        score = double.sequences_scores[0]
    else:  # a single hypothesis: the mean of the model's log-probabilities
        with torch.no_grad():
            logits = exact(input_ids=inputs, decoder_input_ids=torch.tensor([ids[:-1]])).logits[0]
        logprobs = torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]]
        longest = options.get("maxLength", model.generation_config.max_length - 1)
        score = logprobs[:longest - 1].sum() / len(logprobs)  # a forced end has probability 1
    return {"options": options, "ids": ids[1:], "score": round(float(score), 5)}


def rules_matter(model, variant):
    """Checks that each of the folder's rules changes the ids of a search."""
    rules = {"repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "min_length": 0, "bad_words_ids": [[PADDING]]}
    tokenizer = MarianTokenizer.from_pretrained(HERE / variant.name)
    inputs = [torch.tensor([tokenizer(text).input_ids]) for text in TEXTS]
    search = lambda given: [model.generate(one, do_sample=False, **given)[0].tolist() for one in inputs]
    with torch.no_grad():
        for name, neutral in rules.items():
            if name in variant.generation:
                assert search({}) != search({name: neutral}), (variant.name, name)


def answer(variant, model, tokenizer, ids):
    """Writes the expected answers. ids: the target's vocabulary."""
    exact = random_model(variant, model.config).double()
    exact.generation_config = model.generation_config
    kept, texts = {}, []
    for index, text in enumerate(TEXTS[:variant.texts]):
        source = tokenizer(text).input_ids
        inputs = torch.tensor([source])
        if variant.generation:
            with torch.no_grad():
                kept[f"states.{index}"] = model.get_encoder()(inputs).last_hidden_state[0]
            texts.append({"text": text, "ids": source,
                          "runs": [searched(model, exact, inputs, options) for options in variant.runs]})
            continue
        with torch.no_grad():
            generated = model.generate(inputs, attention_mask=torch.ones_like(inputs), num_beams=1, do_sample=False,
                                       max_new_tokens=LONGEST)[0].tolist()
            output = model(input_ids=inputs, decoder_input_ids=torch.tensor([generated[:-1]]), output_attentions=True)
            double = exact(input_ids=inputs, decoder_input_ids=torch.tensor([generated[:-1]]))
        error = float((output.logits.double() - double.logits).abs().max())
        assert error < 2e-5, (variant.name, error)
        made = generated[1:]
        assert ids["<unk>"] not in made and not set(made) & {ids[code] for code in CODES}, (variant.name, text)
        top = output.logits[0].topk(2).values
        assert float((top[:, 0] - top[:, 1]).min()) > 1e-3, (variant.name, text)
        logprobs = torch.log_softmax(output.logits[0].double(), -1)
        texts.append({"text": text, "ids": source, "output": made,
                      "logprob": round(float(sum(row[i] for row, i in zip(logprobs, made))), 6),
                      "translation": tokenizer.decode(made, skip_special_tokens=True),
                      "runs": [searched(model, exact, inputs, {**options, "maxLength": LONGEST})
                               for options in SEARCHES if not variant.separate]})
        stack = lambda maps: torch.cat([m[:1] for m in maps])
        kept[f"encoder.{index}"] = stack(output.encoder_attentions)
        kept[f"decoder.{index}"] = stack(output.decoder_attentions)
        kept[f"cross.{index}"] = stack(output.cross_attentions)
        kept[f"logits.{index}"] = output.logits[0]
        kept[f"states.{index}"] = output.encoder_last_hidden_state[0]
        if index == variant.traced:
            both = {"input_ids": inputs, "decoder_input_ids": torch.tensor([generated[:-1]])}
            found = traces.trace_both(traces.MARIAN, model, both)
            kept |= {f"{index}/{name}": tensor for name, tensor in found.items()}
    runs = [text["output"] for text in texts] if variant.separate else [
        run["ids"] for text in texts for run in text["runs"]]
    assert len({len(made) for made in runs}) > 2, (variant.name, runs)
    assert any(made[-1] == ids["</s>"] for made in runs), (variant.name, runs)
    return {name: value.detach().float().contiguous().clone() for name, value in kept.items()}, texts


def make(variant):
    folder = HERE / variant.name
    sides = [vocabulary("source"), vocabulary("target")] if variant.separate else [BOTH, BOTH]
    original = write(variant, folder, sides)
    (folder / "generation_config.json").unlink(missing_ok=True)
    if variant.generation:
        tokens.write_json(folder / "generation_config.json", {
            "bad_words_ids": [[PADDING]], "decoder_start_token_id": PADDING, "pad_token_id": PADDING,
            "eos_token_id": END, "forced_eos_token_id": END, **variant.generation})
    model, info = MarianMTModel.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                                output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"], (variant.name, info)
    for name, value in original.state_dict().items():
        traces.near(value, model.state_dict()[name], 0)
    if variant.same_as:
        expected = {"same_as": variant.same_as}
    else:
        tokenizer = MarianTokenizer.from_pretrained(folder)
        kept, texts = answer(variant, model.eval(), tokenizer, sides[1])
        rules_matter(model, variant)
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
