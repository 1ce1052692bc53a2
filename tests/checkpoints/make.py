#!/usr/bin/python3
"""Writes the tiny checkpoints of this folder and the answers of the original library: see README.md.

    make.py            all checkpoints
    make.py NAME…      some checkpoints

It needs python3-transformers (5.12.1), python3-torch and python3-tokenizers from Debian sid.
"""

import dataclasses
import json
import pathlib
import sys
from collections.abc import Callable

import tokenizers
import torch
import transformers
from safetensors.torch import save_file

import folders
import forms
import formulas
import results
import sentences
import text_to_text
import tokenizer_forms
import tokens
import traces

HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass
class Family:
    """The common parts of the checkpoints of one model_type."""
    config: type
    models: dict  # task: the library's class
    size: dict
    trace: dict
    inputs: list
    tokenizer: str = "wordpiece_uncased"
    from_vocabulary: Callable | None = None  # loads the tokenizer of a folder without tokenizer.json
    positions: Callable = lambda settings: settings["max_position_embeddings"]  # the number of positions
    specials: dict | None = None  # the names of the special tokens; None: those of the tokenizer
    formula: type | None = None  # computes the same from the folder only


@dataclasses.dataclass
class Variant:
    """One checkpoint. If same_as names another one, only the files differ, and the goldens of that one apply."""
    name: str
    family: Family
    task: str
    seed: int
    texts: list = dataclasses.field(default_factory=list)
    same_as: str = ""
    tokenizer: str = ""  # a file of tests/data/tokenizers; default: the family's
    size: dict = dataclasses.field(default_factory=dict)  # sizes of the model, in addition to the family's
    labels: list = dataclasses.field(default_factory=list)
    score: str = "softmax"
    embeddings: float = 0.7  # size of the embeddings: with small ones, the norms' epsilon matters
    traced: int = -1  # the text whose named tensors are all stored
    dtype: str = "F32"
    shard_size: str = "1GB"
    unused: tuple = ()  # tensors that the model does not read
    tensors: Callable | None = None  # maps {name: tensor} as saved to the published form
    config: Callable | None = None  # maps config.json as saved to the published form
    files: dict = dataclasses.field(default_factory=dict)  # further files
    transformer: str = ""  # the checkpoint's folder inside the variant's folder
    tokenizer_json: Callable | None = None  # changes tokenizer.json in place
    tokenizer_files: Callable | None = None  # writes other files instead of tokenizer.json
    tokenizer_config: dict = dataclasses.field(default_factory=dict)
    generation: dict | None = dataclasses.field(default_factory=dict)  # generation_config.json; None: no file
    own_output: bool = False  # lm_head is not the embedding table

    def __post_init__(self):
        self.tokenizer = self.tokenizer or self.family.tokenizer

    @property
    def model_class(self):
        return self.family.models[self.task]

    def settings(self):
        vocabulary = tokens.contents(self)
        ids = [token["id"] for token in vocabulary["added_tokens"]]
        size = max(len(vocabulary["model"]["vocab"]), *(i + 1 for i in ids))
        settings = {"vocab_size": size, "bos_token_id": None, "eos_token_id": None}
        if self.labels:
            settings["id2label"] = dict(enumerate(self.labels))
            settings["label2id"] = {label: i for i, label in enumerate(self.labels)}
        return settings | self.family.size | self.size

    @property
    def max_length(self):
        most = self.family.positions(self.family.size | self.size)
        return min(most, self.tokenizer_config.get("model_max_length", most))


BERT = Family(
    config=transformers.BertConfig,
    models={"sequence": transformers.BertForSequenceClassification,
            "tokens": transformers.BertForTokenClassification,
            "answer": transformers.BertForQuestionAnswering, "masks": transformers.BertForMaskedLM,
            "embed": transformers.BertModel},
    size=dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
              max_position_embeddings=20),
    trace=traces.BERT, inputs=["input_ids", "token_type_ids", "attention_mask"])

DISTILBERT = Family(
    config=transformers.DistilBertConfig,
    models={"sequence": transformers.DistilBertForSequenceClassification,
            "tokens": transformers.DistilBertForTokenClassification,
            "answer": transformers.DistilBertForQuestionAnswering, "masks": transformers.DistilBertForMaskedLM},
    size=dict(dim=16, n_layers=2, n_heads=2, hidden_dim=28, max_position_embeddings=20),
    trace=traces.DISTILBERT, inputs=["input_ids", "attention_mask"],
    from_vocabulary=tokens.wordpiece)

ROBERTA = Family(
    config=transformers.RobertaConfig,
    models={"sequence": transformers.RobertaForSequenceClassification,
            "tokens": transformers.RobertaForTokenClassification,
            "answer": transformers.RobertaForQuestionAnswering, "masks": transformers.RobertaForMaskedLM},
    size=dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=40,
              max_position_embeddings=22, type_vocab_size=1, bos_token_id=0, eos_token_id=2, pad_token_id=1),
    trace=traces.ROBERTA, inputs=["input_ids", "attention_mask"],
    tokenizer="bytes_masked", from_vocabulary=tokens.byte_level,
    positions=lambda settings: settings["max_position_embeddings"] - settings["pad_token_id"] - 1)

XLM_ROBERTA = dataclasses.replace(
    ROBERTA, config=transformers.XLMRobertaConfig, tokenizer="precompiled",
    models={"sequence": transformers.XLMRobertaForSequenceClassification,
            "tokens": transformers.XLMRobertaForTokenClassification})

ELECTRA = dataclasses.replace(
    BERT, config=transformers.ElectraConfig, trace=traces.ELECTRA,
    models={"sequence": transformers.ElectraForSequenceClassification,
            "tokens": transformers.ElectraForTokenClassification,
            "answer": transformers.ElectraForQuestionAnswering, "masks": transformers.ElectraForMaskedLM},
    size=BERT.size | dict(hidden_size=16, num_attention_heads=2, intermediate_size=28, embedding_size=10))

ALBERT = dataclasses.replace(
    BERT, config=transformers.AlbertConfig, trace=traces.ALBERT, tokenizer="precompiled", specials=tokens.ALBERT,
    models={"sequence": transformers.AlbertForSequenceClassification,
            "tokens": transformers.AlbertForTokenClassification, "masks": transformers.AlbertForMaskedLM,
            "embed": transformers.AlbertModel},
    size=BERT.size | dict(hidden_size=16, num_attention_heads=2, intermediate_size=28, embedding_size=10,
                          num_hidden_layers=3))

MPNET = dataclasses.replace(
    BERT, config=transformers.MPNetConfig, trace=traces.MPNET, inputs=["input_ids", "attention_mask"],
    specials=tokens.MPNET,
    models={"sequence": transformers.MPNetForSequenceClassification,
            "tokens": transformers.MPNetForTokenClassification, "masks": transformers.MPNetForMaskedLM,
            "embed": transformers.MPNetModel},
    size=BERT.size | dict(hidden_size=16, num_attention_heads=2, intermediate_size=28, max_position_embeddings=42,
                          bos_token_id=0, eos_token_id=2, pad_token_id=1),
    positions=lambda settings: settings["max_position_embeddings"] - 2)

DEBERTA = dataclasses.replace(
    BERT, config=transformers.DebertaV2Config, trace=traces.DEBERTA, tokenizer="precompiled", specials=tokens.DEBERTA,
    models={"sequence": transformers.DebertaV2ForSequenceClassification,
            "tokens": transformers.DebertaV2ForTokenClassification,
            "answer": transformers.DebertaV2ForQuestionAnswering, "masks": transformers.DebertaV2ForMaskedLM,
            "embed": transformers.DebertaV2Model},
    size=BERT.size | dict(hidden_size=16, num_attention_heads=2, intermediate_size=28, type_vocab_size=0,
                          relative_attention=True, position_biased_input=False, pos_att_type=["p2c", "c2p"],
                          position_buckets=8, max_relative_positions=-1, share_att_key=True,
                          norm_rel_ebd="layer_norm"),
    positions=lambda settings: settings["max_position_embeddings"] if settings["position_biased_input"] else 1 << 14)
DEBERTA_BARE = dataclasses.replace(DEBERTA, trace=traces.DEBERTA_BARE)
DEBERTA_PLAIN = dataclasses.replace(DEBERTA, trace=traces.DEBERTA_PLAIN)
DEBERTA_POSITIONS = dataclasses.replace(DEBERTA, trace=traces.DEBERTA_POSITIONS)

GPT2 = Family(
    config=transformers.GPT2Config,
    models={"generate": transformers.GPT2LMHeadModel},
    size=dict(n_embd=24, n_layer=2, n_head=3, n_positions=32, bos_token_id=0, eos_token_id=153),
    trace=traces.GPT2, inputs=["input_ids", "attention_mask"], tokenizer="bytes",
    from_vocabulary=tokens.plain_byte_level, positions=lambda settings: settings["n_positions"])

T5 = Family(
    config=transformers.T5Config,
    models={"text2text": transformers.T5ForConditionalGeneration},
    size=dict(d_model=16, d_kv=6, d_ff=28, num_layers=2, num_heads=3, vocab_size=320,
              decoder_start_token_id=0, eos_token_id=1, pad_token_id=0),
    trace=traces.T5, inputs=["input_ids", "attention_mask"], tokenizer="unigram",
    positions=lambda settings: 1 << 14)

T5_ENCODER = dataclasses.replace(T5, models={"embed": transformers.T5EncoderModel})

MT5 = dataclasses.replace(
    T5, config=transformers.MT5Config, tokenizer="unigram_bytes",
    models={"text2text": transformers.MT5ForConditionalGeneration})

BART = Family(
    config=transformers.BartConfig,
    models={"text2text": transformers.BartForConditionalGeneration,
            "sequence": transformers.BartForSequenceClassification},
    size=dict(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
              encoder_ffn_dim=28, decoder_ffn_dim=28, max_position_embeddings=24, bos_token_id=0, pad_token_id=1,
              eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2),
    trace=traces.BART, inputs=["input_ids", "attention_mask"], tokenizer="bytes_masked",
    from_vocabulary=tokens.byte_level)

LLAMA = Family(
    config=transformers.LlamaConfig,
    models={"generate": transformers.LlamaForCausalLM},
    size=dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, max_position_embeddings=64, bos_token_id=1, eos_token_id=2),
    trace=traces.LLAMA, inputs=["input_ids", "attention_mask"], tokenizer="bytes", specials=tokens.LLAMA2,
    formula=formulas.Llama)

LLAMA3 = dataclasses.replace(
    LLAMA, specials=tokens.LLAMA3, size=LLAMA.size | dict(bos_token_id=340, eos_token_id=341))

MISTRAL = dataclasses.replace(
    LLAMA, config=transformers.MistralConfig, models={"generate": transformers.MistralForCausalLM})

QWEN2 = dataclasses.replace(
    LLAMA, config=transformers.Qwen2Config, models={"generate": transformers.Qwen2ForCausalLM},
    specials=tokens.QWEN2, size=LLAMA.size | dict(bos_token_id=340, eos_token_id=342))

QWEN3 = dataclasses.replace(
    QWEN2, config=transformers.Qwen3Config, models={"generate": transformers.Qwen3ForCausalLM},
    trace=traces.QWEN3, size=QWEN2.size | dict(head_dim=8))

SMOLLM3 = dataclasses.replace(
    LLAMA, config=transformers.SmolLM3Config, models={"generate": transformers.SmolLM3ForCausalLM},
    specials=tokens.SMOLLM3,
    size=LLAMA.size | dict(num_hidden_layers=3, bos_token_id=340, eos_token_id=342, pad_token_id=341))

PHI3 = dataclasses.replace(
    LLAMA, config=transformers.Phi3Config, models={"generate": transformers.Phi3ForCausalLM}, trace=traces.PHI3,
    size=LLAMA.size | dict(pad_token_id=0), formula=formulas.Phi3,
    positions=lambda settings: min(settings["max_position_embeddings"],
                                   settings.get("original_max_position_embeddings", 4096)))

GEMMA2 = dataclasses.replace(
    LLAMA, config=transformers.Gemma2Config, models={"generate": transformers.Gemma2ForCausalLM}, trace=traces.GEMMA2,
    specials=tokens.GEMMA, formula=formulas.Gemma,
    size=LLAMA.size | dict(head_dim=6, num_hidden_layers=3, bos_token_id=2, eos_token_id=1, pad_token_id=0))

GEMMA3 = dataclasses.replace(
    GEMMA2, config=transformers.Gemma3TextConfig, models={"generate": transformers.Gemma3ForCausalLM},
    trace=traces.GEMMA3)

GPT_NEOX = dataclasses.replace(
    LLAMA, config=transformers.GPTNeoXConfig, models={"generate": transformers.GPTNeoXForCausalLM},
    trace=traces.GPT_NEOX, specials=tokens.GPT_NEOX, formula=formulas.GptNeoX,
    size=dict(hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=2,
              max_position_embeddings=64, bos_token_id=0, eos_token_id=0))

GPT_NEOX_IN_TURN = dataclasses.replace(GPT_NEOX, trace=traces.GPT_NEOX_IN_TURN)

MODERNBERT = Family(
    config=transformers.ModernBertConfig,
    models={"sequence": transformers.ModernBertForSequenceClassification,
            "tokens": transformers.ModernBertForTokenClassification, "masks": transformers.ModernBertForMaskedLM,
            "embed": transformers.ModernBertModel},
    size=dict(hidden_size=16, intermediate_size=12, num_hidden_layers=4, num_attention_heads=2,
              max_position_embeddings=24, local_attention=6, vocab_size=352, bos_token_id=345, cls_token_id=345,
              eos_token_id=346, sep_token_id=346, pad_token_id=347),
    trace=traces.MODERNBERT, inputs=["input_ids", "attention_mask"], tokenizer="bytes", specials=tokens.BERT,
    formula=formulas.ModernBert)

REVIEWS = [
    ("Great cast.", "Not good!"),
    "I loved it!",
    "Où est la MAGIE ? Straße, ΣΊΣΥΦΟΣ",
    "Meh 😐👍🏽 2⁵ 日本の映画 𠀋",
    "a [MASK] film [SEP] [sep] …",
    "\u200b",
    "She plays the widow with such restraint that you forget she is acting, and the camera lingers.",
    ("The plot is thin and the jokes are old, the pacing is worse still.", "Loved it!"),
    ("The very idea of a very, very long film is very appealing.", "It is not."),
    ("It is not.", "The very idea of a very, very long film is very appealing."),
    ("the film is not good the film is not good the film", "it is not bad and it is not bad and it"),
]
MASKED = [
    ("Great cast.", "Not good!"),
    "a <mask> film<pad>is not </s>good",
    "Où est\u00a0la MAGIE ? ﬁn Straße",
    "Meh 😐👍🏽 日本",
    "\u200b",
    "She plays the widow with such restraint that you forget she is acting.",
    ("The very idea of a very, very long film", "It is not."),
    ("the film is not good the film", "it is not bad and it is not bad"),
]
PLAIN = [
    ("Great cast.", "Not good!"),
    "I loved it!",
    "Où est la MAGIE ? Straße",
    "Meh 😐 ``fine''",
    "She plays the widow with such restraint that you forget she is acting, and the camera lingers.",
]
NEWS = [
    "New York isn't Köln, 日本 or O'Neill's.",
    "Mary-Jane 😐 met\tJürgen [SEP] on Tuesday",
    "He said:«Where?»  and left",
    "In 1998 the same story was told in Paris; here it takes 154 minutes.",
    ".",
]
QUESTIONS = [
    ("Who did?", "My children laughed from start to finish, and so did I. The film opens on a quiet street, "
     "and the camera lingers on 😐 faces.", {}),
    ("Où?", "Straße, café — überraschend 日本の 😐 naïve.", {"max_answer_length": 3}),
    ("Is it?", "It is not bad.", {"handle_impossible_answer": True}),
    ("Is it?", "It is not a film, is it?", {"handle_impossible_answer": True}),
    ("Thin?", "The plot is thin and the jokes are old, the pacing is worse.",
     {"max_length": 16, "stride": 4, "max_answer_length": 5}),
]
HIDDEN = [
    "The film is [MASK].",
    "[MASK] loved the [MASK] 😐",
]
HIDDEN_PLAIN = [text.replace("[MASK]", "<mask>") for text in HIDDEN]
SENTENCES = [
    "I loved it!",
    "Loved it, the camera lingers on faces.",
    "Où est la MAGIE ? 日本 😐",
    "\u200b",
    "She plays the widow with such restraint that you forget she is acting, and the camera lingers.",
]
LONG_SENTENCES = [
    *SENTENCES[:3],
    "a <mask> film<pad>is not </s>good",
    "it is not bad and it is not bad and it is not bad and it is not bad and it is not bad and it is not good",
]
PROMPTED = [
    ("I loved it!", None),
    ("I loved it!", "passage"),
    ("Où est la MAGIE ? 日本 😐", None),
    ("She plays the widow with such restraint that you forget she is acting.", "passage"),
]
PROMPTS = [
    "The film is",
    "Où est\u00a0la MAGIE ? 日本 😐",
    "a",
    " the the<|endoftext|>not good, it isn't",
    "She plays the widow with such restraint that you forget she is acting",
]

STORIES = [
    "The film opens on a",
    "Où est\u00a0l'été 日 😐",
    "It's 1998!\n\n  THEY'LL</s>it",
]
CHATS = [
    "The film opens on a quiet",
    "It's 19!\n\n  THEY'LL<|im_end|>\nno",
    "Cafe\u0301 日\u00a0😐",
]
SCENES = [
    ("Great cast.", "Not good!"),
    "a  [MASK] film [SEP]    é",
    "Meh 😐 日本",
    "She plays the widow with such restraint that you forget she is acting.",
    ("The plot is thin and the jokes", "it is not bad and it is not bad"),
]

REQUESTS = [
    "translate English to German: The film is good.",
    "summarize: She plays the widow with restraint, and the camera lingers.",
    "Où est\u00a0la MAGIE ? 日本 😐",
    "a",
]
T5_COPIES = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")
T5_STALE = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"

T5_DECODER = {"decoder.final_layer_norm.weight": [16], "lm_head.weight": [320, 16],
              "decoder.block.0.layer.0.SelfAttention.q.weight": [18, 16]}
T5_MODULES = (forms.old_pooling(16, ["mean_tokens"]), forms.dense(3, 16, 12, "Identity", bias=False),
              forms.NORMALIZE)

MASKS = {f"transformer.h.{layer}.attn.{name}": shape for layer in range(2)
         for name, shape in {"bias": [1, 1, 32, 32], "masked_bias": [1]}.items()}
BERT_HEADS = {
    "bert.embeddings.position_ids": [1, 20], "cls.predictions.bias": [400],
    "cls.predictions.transform.dense.weight": [24, 24], "cls.predictions.transform.dense.bias": [24],
    "cls.predictions.transform.LayerNorm.weight": [24], "cls.predictions.transform.LayerNorm.bias": [24],
    "cls.seq_relationship.weight": [2, 24], "cls.seq_relationship.bias": [2]}
BERT_POOLER = {"bert.pooler.dense.weight": [16, 16], "bert.pooler.dense.bias": [16]}
DISTILBERT_HEADS = {
    "vocab_transform.weight": [16, 16], "vocab_transform.bias": [16], "vocab_layer_norm.weight": [16],
    "vocab_layer_norm.bias": [16], "vocab_projector.bias": [400]}
ELECTRA_HEADS = {
    "discriminator_predictions.dense.weight": [16, 16], "discriminator_predictions.dense.bias": [16],
    "discriminator_predictions.dense_prediction.weight": [1, 16], "discriminator_predictions.dense_prediction.bias": [1],
    "electra.embeddings.position_ids": [1, 20]}
DEBERTA_MASKS = {"mask_predictions.classifier.weight": [1, 16], "mask_predictions.classifier.bias": [1]}
DEBERTA_HEADS = DEBERTA_MASKS | {
    "deberta.embeddings.position_embeddings.weight": [20, 16], "lm_predictions.lm_head.bias": [301],
    "lm_predictions.lm_head.dense.weight": [16, 16], "lm_predictions.lm_head.dense.bias": [16]}
ROBERTA_HEADS = {
    "roberta.embeddings.position_ids": [1, 22], "roberta.pooler.dense.weight": [24, 24],
    "roberta.pooler.dense.bias": [24], "lm_head.bias": [503], "lm_head.dense.weight": [24, 24],
    "lm_head.dense.bias": [24], "lm_head.layer_norm.weight": [24], "lm_head.layer_norm.bias": [24]}

# Uses a tokenizer.json unchanged: the library's classes change parts of it.
AS_IT_IS = dict(tokenizer_class="PreTrainedTokenizerFast")
LLAMA2_TOKENIZER = dict(tokenizer_class="LlamaTokenizer", add_bos_token=True, add_eos_token=False, legacy=True,
                        model_max_length=1000000000000000019884624838656)
QWEN2_TOKENIZER = dict(tokenizer_class="Qwen2Tokenizer", add_bos_token=False, add_prefix_space=False, bos_token=None,
                       model_max_length=131072, unk_token=None)
GEMMA_TOKENIZER = dict(tokenizer_class="GemmaTokenizer", add_bos_token=True, add_eos_token=False,
                       model_max_length=1000000000000000019884624838656)
NEOX_MASKS = {f"gpt_neox.layers.{layer}.attention.{name}": shape for layer in range(2)
              for name, shape in {"bias": [1, 1, 64, 64], "masked_bias": [1], "rotary_emb.inv_freq": [2]}.items()}
BART_SIZE = dict(scale_embedding=True, decoder_layers=1, decoder_ffn_dim=20, encoder_attention_heads=4)
BART_COPIES = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
BART_OTHERS = ("model.encoder.version", "model.decoder.version")
BART_GENERATION = dict(forced_bos_token_id=0, forced_eos_token_id=2, no_repeat_ngram_size=3, num_beams=2,
                       max_length=14, early_stopping=True)
BERT_OTHERS = {"bert.pooler.dense.weight": [16, 16], "bert.pooler.dense.bias": [16],
               "cls.seq_relationship.weight": [2, 16], "cls.seq_relationship.bias": [2]}
SMALL = dict(hidden_size=16, num_attention_heads=2, intermediate_size=28)
SMALLEST = dict(hidden_size=8, num_attention_heads=2, intermediate_size=12)
SENTIMENT = ["negative", "neutral", "positive"]
ENTITIES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "geo-place"]

VARIANTS = [
    Variant("bert_sequence", BERT, "sequence", seed=8, texts=REVIEWS, traced=0, labels=SENTIMENT,
            config=forms.disordered),
    Variant("bert_old_names", BERT, "sequence", seed=8, same_as="bert_sequence", labels=SENTIMENT,
            dtype="F16", config=forms.of_2019, unused=tuple(BERT_HEADS),
            tensors=forms.in_turn(forms.foreign(BERT_HEADS), forms.old_names)),
    Variant("bert_bare", BERT, "sequence", seed=8, same_as="bert_sequence", labels=SENTIMENT, dtype="BF16",
            config=forms.of_2020, tensors=forms.bare("bert.")),
    Variant("bert_shards", BERT, "sequence", seed=8, same_as="bert_sequence", labels=SENTIMENT, dtype="F16",
            shard_size="16KB"),
    Variant("bert_many_labels", BERT, "sequence", seed=2, dtype="F16", texts=REVIEWS[:4], score="sigmoid",
            labels=[f"topic {i}" for i in range(11)], config=forms.disordered,
            size=SMALLEST | dict(hidden_act="relu", problem_type="multi_label_classification",
                              layer_norm_eps=0.02)),
    Variant("bert_one_label", BERT, "sequence", seed=1, dtype="F16", texts=REVIEWS[-4:-1], score="sigmoid",
            labels=["LABEL_0"], size=SMALLEST | dict(hidden_act="gelu_new")),
    Variant("bert_regression", BERT, "sequence", seed=4, dtype="F16", texts=REVIEWS[:2], score="none",
            labels=["stars"], size=SMALLEST | dict(hidden_act="silu", problem_type="regression")),
    Variant("bert_tokens", BERT, "tokens", seed=40, traced=1, texts=NEWS, dtype="F16", labels=ENTITIES,
            tokenizer="wordpiece_cased", tokenizer_config=dict(do_lower_case=False),
            size=SMALL | dict(num_hidden_layers=3)),
    Variant("bert_answer", BERT, "answer", seed=17, texts=QUESTIONS, dtype="F16",
            size=SMALL | dict(max_position_embeddings=32),
            unused=tuple(BERT_POOLER), tensors=forms.foreign(BERT_POOLER)),
    Variant("bert_embed", BERT, "embed", seed=7, traced=0, texts=SENTENCES, dtype="F16",
            size=SMALL, tokenizer_json=forms.cut_and_padded, tokenizer_config=dict(model_max_length=16),
            unused=("embeddings.position_ids",), tensors=forms.foreign({"embeddings.position_ids": [1, 20]}),
            files=forms.sentence_transformers(16, ["mean_tokens"], True, 16)),
    Variant("bert_embed_first", BERT, "embed", seed=9, texts=SENTENCES[:3], dtype="F16", size=SMALLEST,
            files=forms.sentence_transformers(8, ["cls_token"], True)),
    Variant("bert_embed_several", BERT, "embed", seed=10, texts=SENTENCES[:4], dtype="F16",
            tokenizer="precompiled", size=SMALL,
            files=forms.sentence_transformers(
                16, ["mean_sqrt_len_tokens", "cls_token", "mean_tokens", "max_tokens"], False)),

    Variant("bert_embed_modules", BERT, "embed", seed=12, texts=SENTENCES[:3], dtype="F16", size=SMALLEST,
            files=forms.modules(forms.pooling(8, "cls"), forms.dense(1, 8, 4, "ReLU"),
                                forms.pooling(8, ["lasttoken", "weightedmean"]), forms.dense(2, 16, 9, None),
                                forms.layer_norm(3, 9), forms.dense(4, 9, 12, "GELU", bias=False),
                                forms.NORMALIZE, forms.dense(5, 12, 10, "ReLU"),
                                forms.dense(6, 10, 7, "SiLU"))),
    Variant("bert_embed_prompts", BERT, "embed", seed=14, texts=PROMPTED, dtype="F16", size=SMALL,
            files=forms.modules(
                forms.pooling(16, ["cls", "mean", "lasttoken", "max", "weightedmean"], include_prompt=False),
                forms.NORMALIZE, prompts={"default_prompt_name": "query", "prompts": {
                    "query": "the question: ", "passage": "naïve 😐 is"}})),

    Variant("distilbert_sequence", DISTILBERT, "sequence", seed=11, texts=REVIEWS[:7], traced=1,
            labels=["LABEL_0", "LABEL_1"], dtype="F16", embeddings=0.01,
            config=forms.without("id2label", "label2id", "architectures"),
            unused=tuple(DISTILBERT_HEADS), tensors=forms.foreign(DISTILBERT_HEADS)),
    Variant("distilbert_tokens", DISTILBERT, "tokens", seed=3, texts=NEWS, dtype="F16", labels=ENTITIES,
            tokenizer="wordpiece_cased", tokenizer_files=tokens.vocabulary_only,
            tokenizer_config=dict(do_lower_case=False)),
    Variant("distilbert_answer", DISTILBERT, "answer", seed=19, texts=QUESTIONS, dtype="F16",
            size=dict(max_position_embeddings=32), config=forms.without("architectures"),
            tokenizer_files=tokens.vocabulary_only),

    Variant("roberta_sequence", ROBERTA, "sequence", seed=2, traced=0, labels=SENTIMENT, dtype="F16",
            texts=MASKED, size=dict(layer_norm_eps=1e-5), unused=tuple(ROBERTA_HEADS),
            tensors=forms.foreign(ROBERTA_HEADS), tokenizer_config=AS_IT_IS),
    Variant("roberta_tokens", ROBERTA, "tokens", seed=15, texts=NEWS, dtype="F16", labels=ENTITIES,
            size=SMALL | dict(layer_norm_eps=0.01, pad_token_id=3),
            tokenizer_files=tokens.vocabulary_and_merges),
    Variant("roberta_answer", ROBERTA, "answer", seed=470, texts=QUESTIONS, dtype="F16",
            size=SMALL | dict(max_position_embeddings=36), tokenizer_config=AS_IT_IS),
    Variant("xlm_roberta_sequence", XLM_ROBERTA, "sequence", seed=3, traced=3, texts=MASKED,
            labels=SENTIMENT, dtype="F16", size=SMALL),
    Variant("camembert_sequence", XLM_ROBERTA, "sequence", seed=3, same_as="xlm_roberta_sequence",
            labels=SENTIMENT, dtype="BF16", size=SMALL, config=forms.as_camembert),
    Variant("xlm_roberta_tokens", XLM_ROBERTA, "tokens", seed=45, texts=NEWS, labels=ENTITIES, dtype="F16",
            size=SMALL),

    Variant("electra_sequence", ELECTRA, "sequence", seed=5, texts=REVIEWS[:6], traced=0, labels=SENTIMENT, dtype="F16",
            unused=tuple(ELECTRA_HEADS), tensors=forms.foreign(ELECTRA_HEADS), config=forms.of_dtype_4),
    Variant("electra_tokens", ELECTRA, "tokens", seed=4, texts=NEWS[1:3], traced=0, labels=ENTITIES, dtype="BF16",
            size=dict(embedding_size=16, layer_norm_eps=0.01)),
    Variant("electra_answer", ELECTRA, "answer", seed=19, texts=QUESTIONS[1:4], dtype="F16",
            size=dict(max_position_embeddings=32), config=forms.without("architectures")),
    Variant("albert_sequence", ALBERT, "sequence", seed=5, texts=PLAIN, traced=0, labels=SENTIMENT, dtype="F16",
            tokenizer_json=tokenizer_forms.albert, tokenizer_config=AS_IT_IS, config=forms.of_dtype_4),
    Variant("albert_tokens", ALBERT, "tokens", seed=9, texts=NEWS[2:5:2], traced=1, labels=ENTITIES, dtype="BF16",
            tokenizer_json=tokenizer_forms.albert, tokenizer_config=AS_IT_IS,
            size=dict(num_hidden_layers=5, num_hidden_groups=2, embedding_size=16, hidden_act="gelu")),
    Variant("albert_embed", ALBERT, "embed", seed=3, texts=SENTENCES[:3], traced=0, dtype="F16",
            tokenizer_json=tokenizer_forms.albert, tokenizer_config=AS_IT_IS,
            files=forms.sentence_transformers(16, ["mean_tokens"], True)),
    Variant("mpnet_embed", MPNET, "embed", seed=6, texts=LONG_SENTENCES, traced=0, dtype="F16",
            tokenizer_json=tokenizer_forms.mpnet, tokenizer_config=AS_IT_IS | dict(model_max_length=38),
            unused=("embeddings.position_ids",), tensors=forms.foreign({"embeddings.position_ids": [1, 42]}),
            config=forms.of_dtype_4, files=forms.sentence_transformers(16, ["mean_tokens"], True, 38)),
    Variant("mpnet_sequence", MPNET, "sequence", seed=8, texts=PLAIN, traced=1, labels=SENTIMENT, dtype="BF16",
            tokenizer_json=tokenizer_forms.mpnet, tokenizer_config=AS_IT_IS, size=dict(layer_norm_eps=1e-5)),

    Variant("deberta_sequence", DEBERTA, "sequence", seed=5, texts=[*PLAIN[:4:3], *REVIEWS[7:10:2]], traced=0, dtype="F16",
            labels=SENTIMENT, unused=tuple(DEBERTA_HEADS), tensors=forms.foreign(DEBERTA_HEADS), config=forms.of_deberta,
            tokenizer_json=tokenizer_forms.deberta, tokenizer_config=AS_IT_IS | dict(model_max_length=44)),
    Variant("deberta_tokens", DEBERTA_BARE, "tokens", seed=9, texts=NEWS[2:5:2], traced=0, labels=ENTITIES, dtype="BF16",
            tokenizer_json=tokenizer_forms.deberta_old, tokenizer_config=AS_IT_IS,
            size=dict(position_buckets=-1, max_relative_positions=10, pos_att_type=["c2p"], norm_rel_ebd="none",
                      layer_norm_eps=0.01)),
    Variant("deberta_answer", DEBERTA_POSITIONS, "answer", seed=19, texts=QUESTIONS[1:4], dtype="F16",
            tokenizer_json=tokenizer_forms.deberta, tokenizer_config=AS_IT_IS, config=forms.without("architectures"),
            size=dict(max_position_embeddings=32, position_biased_input=True, type_vocab_size=2, position_buckets=6,
                      max_relative_positions=16, pos_att_type=["p2c"], norm_rel_ebd="none")),
    Variant("deberta_embed", DEBERTA, "embed", seed=3, texts=LONG_SENTENCES[::4], traced=0, dtype="F16",
            tokenizer_json=tokenizer_forms.deberta, tokenizer_config=AS_IT_IS, size=dict(position_buckets=10),
            config=forms.without("architectures"), unused=tuple(DEBERTA_MASKS), tensors=forms.foreign(DEBERTA_MASKS),
            files=forms.sentence_transformers(16, ["mean_tokens"], True)),
    Variant("deberta_plain", DEBERTA_PLAIN, "sequence", seed=4, texts=PLAIN[1:2], traced=0, labels=SENTIMENT, dtype="BF16",
            tokenizer_json=tokenizer_forms.deberta, tokenizer_config=AS_IT_IS,
            size=SMALLEST | dict(relative_attention=False, norm_rel_ebd="none", pooler_hidden_act="tanh")),

    Variant("gpt2_generate", GPT2, "generate", seed=3, traced=0, texts=PROMPTS,
            tokenizer_files=tokens.vocabulary_and_merges, unused=tuple(MASKS),
            tensors=forms.foreign(MASKS)),
    Variant("gpt2_bare", GPT2, "generate", seed=3, same_as="gpt2_generate", dtype="F16",
            config=forms.without("architectures"), tensors=forms.bare("transformer.")),
    Variant("gpt2_scaled", GPT2, "generate", seed=6, texts=PROMPTS[:3], dtype="F16",
            size=dict(n_embd=16, n_layer=3, n_head=2, n_inner=20, activation_function="relu",
                      scale_attn_by_inverse_layer_idx=True, layer_norm_epsilon=0.01,
                      tie_word_embeddings=False, eos_token_id=[0, 319, 220]),
            generation=dict(max_new_tokens=9, num_beams=3, early_stopping=True, length_penalty=1.5)),
    Variant("gpt2_unscaled", GPT2, "generate", seed=8, texts=PROMPTS[:3:2], dtype="BF16",
            size=dict(n_embd=16, n_head=4, n_inner=28, activation_function="gelu",
                      scale_attn_weights=False, reorder_and_upcast_attn=True),
            generation=dict(max_length=24, repetition_penalty=1.1, no_repeat_ngram_size=2,
                            bad_words_ids=[[119, 119], [20, 387, 348]])),

    Variant("llama", LLAMA, "generate", seed=6, traced=0, texts=STORIES, dtype="F16",
            tokenizer_json=tokenizer_forms.llama2,
            size=dict(head_dim=6, rms_norm_eps=1e-5, rope_parameters=dict(rope_type="linear", factor=2.5, rope_theta=1e4)),
            tokenizer_config=LLAMA2_TOKENIZER,
            config=forms.of_4(rope_scaling=dict(type="linear", factor=2.5), pretraining_tp=1)),
    Variant("llama_scaled", LLAMA3, "generate", seed=61, traced=0, texts=STORIES[:2], dtype="BF16",
            tokenizer_json=tokenizer_forms.llama3, tokenizer_config=AS_IT_IS,
            size=dict(hidden_size=18, num_attention_heads=3, num_key_value_heads=1, head_dim=16, intermediate_size=20,
                      max_position_embeddings=128, attention_bias=True, mlp_bias=True, tie_word_embeddings=True,
                      rope_parameters=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                           original_max_position_embeddings=32, rope_theta=500.0)),
            config=forms.of_4(), generation=dict(eos_token_id=[341, 342, 220])),
    Variant("mistral", MISTRAL, "generate", seed=42, traced=0, texts=STORIES[::2], dtype="BF16",
            tokenizer_json=tokenizer_forms.mistral, tokenizer_config=LLAMA2_TOKENIZER,
            size=dict(head_dim=6, sliding_window=5), config=forms.of_4()),
    Variant("qwen2", QWEN2, "generate", seed=40, traced=0, texts=CHATS[:2], dtype="F16",
            tokenizer_json=tokenizer_forms.qwen2, tokenizer_config=QWEN2_TOKENIZER,
            size=dict(hidden_size=24, num_attention_heads=6, tie_word_embeddings=True, sliding_window=3,
                      max_window_layers=1, rope_parameters=dict(rope_type="default", rope_theta=1e6)),
            generation=dict(eos_token_id=[342, 340], repetition_penalty=1.05)),
    Variant("qwen2_window", QWEN2, "generate", seed=3, traced=0, texts=CHATS[:1], dtype="BF16",
            tokenizer_json=tokenizer_forms.qwen2, tokenizer_config=QWEN2_TOKENIZER,
            size=dict(use_sliding_window=True, sliding_window=4, max_window_layers=1), config=forms.of_4()),
    Variant("qwen3", QWEN3, "generate", seed=31, traced=0, texts=CHATS[:2], dtype="BF16",
            tokenizer_json=tokenizer_forms.qwen2, tokenizer_config=QWEN2_TOKENIZER,
            size=dict(rms_norm_eps=0.01, tie_word_embeddings=True),
            config=forms.of_4(rope_theta=10000, sliding_window=3, max_window_layers=0)),
    Variant("qwen3_window", QWEN3, "generate", seed=28, traced=0, texts=CHATS[::2], dtype="F16",
            tokenizer_json=tokenizer_forms.qwen2, tokenizer_config=QWEN2_TOKENIZER,
            size=dict(num_hidden_layers=3, use_sliding_window=True, sliding_window=4,
                      layer_types=["sliding_attention", "full_attention", "sliding_attention"])),
    Variant("smollm3", SMOLLM3, "generate", seed=18, traced=0, texts=STORIES[:1], dtype="BF16",
            tokenizer_json=tokenizer_forms.smollm3, tokenizer_config=AS_IT_IS, size=dict(no_rope_layers=[1, 0, 1])),
    Variant("smollm3_defaults", SMOLLM3, "generate", seed=18, same_as="smollm3", dtype="F16",
            tokenizer_json=tokenizer_forms.smollm3, tokenizer_config=AS_IT_IS, size=dict(no_rope_layers=[1, 0, 1]),
            config=forms.in_turn(forms.of_4("no_rope_layers", "tie_word_embeddings", no_rope_layer_interval=2),
                                 forms.without("rope_theta", "rope_scaling"))),

    Variant("phi3", PHI3, "generate", seed=8, traced=0, texts=STORIES[:2], dtype="BF16",
            tokenizer_json=tokenizer_forms.phi3, tokenizer_config=LLAMA2_TOKENIZER,
            size=dict(hidden_size=24, num_attention_heads=3, num_key_value_heads=1, sliding_window=6,
                      rope_parameters=dict(rope_type="default", rope_theta=1e4, partial_rotary_factor=0.75)),
            generation=dict(eos_token_id=[2, 40])),
    Variant("phi3_long", PHI3, "generate", seed=9, traced=0, texts=STORIES[:1], dtype="F16",
            tokenizer_json=tokenizer_forms.phi3, tokenizer_config=LLAMA2_TOKENIZER,
            size=dict(max_position_embeddings=128, original_max_position_embeddings=48, tie_word_embeddings=True,
                      rope_parameters=dict(rope_type="longrope", short_factor=[1.0, 1.5], long_factor=[2.0, 7.0],
                                           rope_theta=1e4)),
            config=forms.of_4(rope_scaling=dict(type="longrope", short_factor=[1.0, 1.5], long_factor=[2.0, 7.0]))),
    Variant("gemma2", GEMMA2, "generate", seed=9, traced=0, texts=STORIES[:2], dtype="F16",
            tokenizer_json=tokenizer_forms.gemma, tokenizer_config=GEMMA_TOKENIZER,
            size=dict(sliding_window=5, query_pre_attn_scalar=9, attn_logit_softcapping=2.0, final_logit_softcapping=6.0),
            config=forms.of_4(), generation=dict(eos_token_id=[1, 107])),
    Variant("gemma2_plain", GEMMA2, "generate", seed=5, traced=0, texts=STORIES[:1], dtype="BF16",
            tokenizer_json=tokenizer_forms.gemma, tokenizer_config=GEMMA_TOKENIZER,
            size=dict(attn_logit_softcapping=None, final_logit_softcapping=None, num_hidden_layers=2, sliding_window=4,
                      query_pre_attn_scalar=6, attention_bias=True,
                      layer_types=["full_attention", "sliding_attention"])),
    Variant("gemma3", GEMMA3, "generate", seed=12, traced=0, texts=STORIES[:1], dtype="BF16",
            tokenizer_json=tokenizer_forms.gemma, tokenizer_config=GEMMA_TOKENIZER,
            size=dict(sliding_window=4, query_pre_attn_scalar=4,
                      layer_types=["sliding_attention", "sliding_attention", "full_attention"],
                      rope_parameters=dict(full_attention=dict(rope_type="linear", factor=4.0, rope_theta=1e4),
                                           sliding_attention=dict(rope_type="default", rope_theta=50.0))),
            config=forms.of_gemma3),
    Variant("gemma3_types", GEMMA3, "generate", seed=15, traced=0, texts=STORIES[:1], dtype="F16",
            tokenizer_json=tokenizer_forms.gemma, tokenizer_config=GEMMA_TOKENIZER,
            size=dict(num_hidden_layers=2, sliding_window=4, query_pre_attn_scalar=8, final_logit_softcapping=7.0,
                      rms_norm_eps=0.01, layer_types=["full_attention", "sliding_attention"])),
    Variant("gpt_neox", GPT_NEOX, "generate", seed=17, traced=0, texts=STORIES[:1], dtype="F16",
            tokenizer_json=tokenizer_forms.gpt_neox, tokenizer_config=AS_IT_IS, config=forms.of_gpt_neox,
            unused=tuple(NEOX_MASKS), tensors=forms.foreign(NEOX_MASKS)),
    Variant("gpt_neox_in_turn", GPT_NEOX_IN_TURN, "generate", seed=13, traced=0, texts=STORIES[:1], dtype="BF16",
            tokenizer_json=tokenizer_forms.gpt_neox, tokenizer_config=AS_IT_IS,
            size=dict(hidden_size=24, num_attention_heads=3, use_parallel_residual=False, attention_bias=False,
                      layer_norm_eps=0.01, rope_parameters=dict(rope_type="default", rope_theta=500.0,
                                                                partial_rotary_factor=0.5))),

    Variant("modernbert_sequence", MODERNBERT, "sequence", seed=12, traced=1, texts=SCENES, labels=SENTIMENT, dtype="F16",
            tokenizer_json=tokenizer_forms.modernbert, tokenizer_config=AS_IT_IS,
            size=dict(classifier_pooling="mean"), config=forms.of_modernbert),
    Variant("modernbert_first", MODERNBERT, "sequence", seed=5, traced=0, texts=SCENES[:3], labels=SENTIMENT, dtype="F16",
            tokenizer_json=tokenizer_forms.modernbert, tokenizer_config=AS_IT_IS, tensors=forms.bare("model."),
            size=dict(norm_eps=0.01, local_attention=5, layer_types=["sliding_attention", "full_attention"],
                      num_hidden_layers=2)),
    Variant("modernbert_tokens", MODERNBERT, "tokens", seed=17, traced=1, texts=[*NEWS[1:3], NEWS[4]],
            labels=ENTITIES, dtype="BF16",
            tokenizer_json=tokenizer_forms.modernbert, tokenizer_config=AS_IT_IS,
            size=dict(rope_parameters=dict(full_attention=dict(rope_type="default", rope_theta=500.0),
                                           sliding_attention=dict(rope_type="default", rope_theta=20.0)))),
    Variant("modernbert_embed", MODERNBERT, "embed", seed=14, traced=0, texts=SENTENCES, dtype="F16",
            tokenizer_json=tokenizer_forms.modernbert, config=forms.of_modernbert,
            files=forms.sentence_transformers(16, ["mean_tokens"], True, 20),
            tokenizer_config=AS_IT_IS | dict(model_max_length=20)),

    Variant("bert_masks", BERT, "masks", seed=6, traced=0, texts=HIDDEN, dtype="F16", size=SMALL,
            config=lambda config: config | {"architectures": ["BertForPreTraining"]}, unused=tuple(BERT_OTHERS),
            tensors=forms.foreign(BERT_OTHERS)),
    Variant("bert_masks_separate", BERT, "masks", seed=5, traced=0, texts=HIDDEN[:1], dtype="F16",
            size=SMALLEST | dict(hidden_act="relu", tie_word_embeddings=False, layer_norm_eps=0.02)),
    Variant("distilbert_masks", DISTILBERT, "masks", seed=6, traced=0, texts=HIDDEN, dtype="BF16",
            config=forms.without("architectures")),
    Variant("roberta_masks", ROBERTA, "masks", seed=6, traced=0, texts=HIDDEN_PLAIN, dtype="F16", size=SMALL,
            tokenizer_config=AS_IT_IS),
    Variant("electra_masks", ELECTRA, "masks", seed=6, traced=0, texts=HIDDEN, dtype="F16"),
    Variant("albert_masks", ALBERT, "masks", seed=7, traced=0, texts=HIDDEN, dtype="F16",
            tokenizer_json=tokenizer_forms.albert, tokenizer_config=AS_IT_IS),
    Variant("mpnet_masks", MPNET, "masks", seed=6, traced=0, texts=HIDDEN_PLAIN, dtype="F16",
            tokenizer_json=tokenizer_forms.mpnet, tokenizer_config=AS_IT_IS),
    Variant("deberta_masks", DEBERTA, "masks", seed=6, traced=0, texts=HIDDEN[:1], dtype="F16",
            tokenizer_json=tokenizer_forms.deberta, tokenizer_config=AS_IT_IS),
    Variant("modernbert_masks", MODERNBERT, "masks", seed=10, traced=0, texts=HIDDEN, dtype="F16", embeddings=0.2,
            tokenizer_json=tokenizer_forms.modernbert, tokenizer_config=AS_IT_IS),

    Variant("t5", T5, "text2text", seed=6, texts=REQUESTS, traced=0, tokenizer_json=forms.with_extra_ids),
    Variant("t5_first", T5, "text2text", seed=6, same_as="t5", dtype="F16", config=forms.of_t5,
            tokenizer_json=forms.with_extra_ids, generation=None, unused=(T5_STALE,),
            tensors=forms.in_turn(forms.copied("shared.weight", *T5_COPIES), forms.foreign({T5_STALE: [32, 3]}))),
    Variant("flan_t5", T5, "text2text", seed=1, texts=REQUESTS[:3], traced=1, dtype="BF16", shard_size="24KB",
            own_output=True, config=forms.of_flan_t5,
            size=dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_layers=3, num_decoder_layers=2,
                      relative_attention_num_buckets=8, relative_attention_max_distance=14, d_kv=7, num_heads=2,
                      layer_norm_epsilon=0.01),
            tokenizer_config=dict(model_max_length=24),
            generation=dict(max_length=14, repetition_penalty=1.1, bad_words_ids=[[215], [273]],
                            forced_eos_token_id=1)),
    Variant("t5_embed", T5_ENCODER, "embed", seed=5, texts=SENTENCES, dtype="F16",
            tokenizer_json=forms.with_extra_ids, tokenizer_config=dict(model_max_length=20),
            files=forms.modules(*T5_MODULES, max_length=20)),
    Variant("t5_embed_whole", T5_ENCODER, "embed", seed=5, same_as="t5_embed", dtype="BF16",
            tokenizer_json=forms.with_extra_ids, transformer="0_Transformer",
            config=lambda config: config | {"architectures": ["T5ForConditionalGeneration"]},
            unused=tuple(T5_DECODER), tensors=forms.in_turn(
                forms.renamed("shared.weight", "encoder.embed_tokens.weight"), forms.foreign(T5_DECODER)),
            files=forms.modules(*T5_MODULES, transformer="0_Transformer", max_length=20)),
    Variant("bart", BART, "text2text", seed=3, texts=REQUESTS[::3], traced=1, dtype="F16",
            tokenizer_files=tokens.vocabulary_and_merges, size=BART_SIZE, generation=BART_GENERATION),
    Variant("bart_sequence", BART, "sequence", seed=9, texts=MASKED, traced=0, labels=SENTIMENT, dtype="F16",
            tokenizer_json=tokenizer_forms.bart, size=BART_SIZE),
    Variant("bart_sequence_old", BART, "sequence", seed=9, same_as="bart_sequence", labels=SENTIMENT, dtype="BF16",
            size=BART_SIZE, tokenizer_files=tokens.vocabulary_and_merges, config=forms.of_bart, unused=BART_OTHERS,
            tensors=forms.in_turn(forms.copied("model.shared.weight", *BART_COPIES),
                                  forms.foreign({name: [1] for name in BART_OTHERS}))),
    Variant("mt5", MT5, "text2text", seed=3, traced=2, texts=REQUESTS[:3], dtype="F16", own_output=True,
            size=dict(feed_forward_proj="gated-silu", vocab_size=560, num_decoder_layers=1,
                      relative_attention_num_buckets=6, relative_attention_max_distance=9, d_kv=4, num_heads=4),
            generation=dict(num_beams=2, max_new_tokens=9, early_stopping=True, min_length=4,
                            no_repeat_ngram_size=2, bad_words_ids=[[180, 312], [79, 521, 358]])),
]


TASKS = results.TASKS | {"embed": sentences.embed, "text2text": text_to_text.text_to_text}


def make(variant):
    folder = HERE / variant.name
    folders.write(variant, folder)
    checkpoint = folder / variant.transformer
    model = folders.load(variant, checkpoint)
    formula = variant.family.formula and variant.family.formula(checkpoint)
    if formula:
        formulas.check(formula, model)
    if variant.same_as:
        same = next(other for other in VARIANTS if other.name == variant.same_as)
        assert (same.seed, same.settings()) == (variant.seed, variant.settings()), variant.name
        expected = {"same_as": variant.same_as}
    else:
        found = results.Results(variant, model, tokens.load(variant, checkpoint), formula)
        more = TASKS[variant.task](found)
        save_file(found.tensors, folder / "expected.safetensors")
        libraries = {m.__name__: m.__version__.split("+")[0] for m in (transformers, torch, tokenizers)}
        expected = {"task": variant.task, "libraries": libraries, "max_length": variant.max_length, **more,
                    "texts": found.texts}
        labels = {text.get("label") for text in found.texts}
        print(f"{variant.name}: float32 against float64 {found.error:.1e}; {labels}")
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
