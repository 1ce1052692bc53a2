"""Tokenizer files of the checkpoints, and the tokens of the original library."""

import json
import pathlib
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import BertTokenizer, PreTrainedTokenizerFast

SHARED = pathlib.Path(__file__).parent.parent / "data" / "tokenizers"
sys.path.insert(0, str(SHARED))
from ranges import ranges, utf16_units  # noqa: E402

NAMES = ("cls_token", "sep_token", "pad_token", "unk_token", "mask_token", "bos_token", "eos_token")
BERT = dict(zip(NAMES, ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")))
ROBERTA = dict(zip(NAMES, ("<s>", "</s>", "<pad>", "<unk>", "<mask>", "<s>", "</s>")))
GPT2 = dict.fromkeys(("unk_token", "bos_token", "eos_token"), "<|endoftext|>")
T5 = dict(pad_token="<pad>", eos_token="</s>", unk_token="<unk>")
LLAMA2 = dict(bos_token="<s>", eos_token="</s>", unk_token="<unk>")
LLAMA3 = dict(bos_token="<|begin_of_text|>", eos_token="<|eot_id|>")
SMOLLM3 = dict(eos_token="<|eot_id|>", pad_token="<|eot_id|>")
GEMMA = dict(bos_token="<bos>", eos_token="<eos>", unk_token="<unk>", pad_token="<pad>")
GPT_NEOX = dict.fromkeys(("unk_token", "bos_token", "eos_token"), "<|endoftext|>")
ALBERT = dict(zip(NAMES, ("[CLS]", "[SEP]", "<pad>", "<unk>", "[MASK]", "[CLS]", "[SEP]")))
DEBERTA = dict(zip(NAMES, ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "[CLS]", "[SEP]")))
MPNET = dict(zip(NAMES, ("<s>", "</s>", "<pad>", "[UNK]", "<mask>", "<s>", "</s>")))
QWEN2 = dict(eos_token="<|im_end|>", pad_token="<|endoftext|>")
SPECIALS = {"unigram": T5, "unigram_bytes": T5, "bytes": GPT2, "wordpiece_uncased": BERT, "wordpiece_cased": BERT, "bytes_masked": ROBERTA,
            "precompiled": ROBERTA}


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def specials_of(variant):
    return variant.family.specials or SPECIALS[variant.tokenizer]


def contents(variant):
    """Returns the contents of tokenizer.json, from which the other files are made, too."""
    file = json.loads((SHARED / f"{variant.tokenizer}.json").read_text())
    if variant.tokenizer_json:
        variant.tokenizer_json(file)
    return file


def write(variant, folder):
    file = contents(variant)
    if variant.tokenizer_files:
        variant.tokenizer_files(file, folder)
    else:
        write_json(folder / "tokenizer.json", file)
    specials = specials_of(variant)
    settings = {**specials, **variant.tokenizer_config}
    write_json(folder / "tokenizer_config.json", settings)
    write_json(folder / "special_tokens_map.json", specials)


def wordpiece(folder, settings):
    """Loads the tokenizer from vocab.txt with the library's own code."""
    return BertTokenizer.from_pretrained(folder, **settings)._tokenizer


def byte_level(folder, _):
    """Builds the tokenizer like the library's converter; the library's class does not work in 5.12."""
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken(name) for name in ("<s>", "<pad>", "</s>", "<unk>")])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return tokenizer


def plain_byte_level(folder, _):
    """Builds the same tokenizer without tokens around a text."""
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>")])
    return tokenizer


def vocabulary_only(file, folder):
    vocabulary = file["model"]["vocab"]
    pieces = sorted(vocabulary, key=vocabulary.get)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces))


def vocabulary_and_merges(file, folder):
    vocabulary = dict(file["model"]["vocab"])
    vocabulary |= {token["content"]: token["id"] for token in file["added_tokens"] if token["special"]}
    write_json(folder / "vocab.json", vocabulary)
    pair = lambda merge: merge if isinstance(merge, str) else " ".join(merge)
    merges = "".join(f"{pair(merge)}\n" for merge in file["model"]["merges"])
    (folder / "merges.txt").write_text("#version: 0.2\n" + merges)


def load(variant, folder):
    """Returns the library's tokenizer of a folder."""
    if variant.tokenizer_files:
        backend = variant.family.from_vocabulary(folder, variant.tokenizer_config)
    else:
        backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
    backend.no_padding()
    backend.no_truncation()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=variant.max_length,
        model_input_names=variant.family.inputs, **specials_of(variant))


def encoded(tokenizer, text, pair=None):
    """Returns ids, types and ranges in UTF-16 units (no range for the template's special tokens)."""
    cut = tokenizer(text, pair, truncation=True)
    tokenizer._tokenizer.no_truncation()
    whole = tokenizer._tokenizer.encode(text, pair)
    encoding = cut.encodings[0]
    result = {"ids": encoding.ids, "types": encoding.type_ids}
    places = [None] * len(encoding.ids)
    for sequence, part in enumerate((text, pair)):
        if part is None:
            continue
        own = [i for i, number in enumerate(encoding.sequence_ids) if number == sequence]
        alone = tokenizer._tokenizer.encode(part, add_special_tokens=False)
        assert [encoding.ids[i] for i in own] == alone.ids[: len(own)]
        for i, place in zip(own, ranges(alone, part)):
            places[i] = place
    result["offsets"] = places
    if pair is not None:
        result["sequences"] = encoding.sequence_ids
    result["truncated"] = len(whole.ids) > len(encoding.ids)
    return cut, result


def units(text):
    """Returns the start of each code point, in UTF-16 units."""
    return utf16_units(text)
