"""The options of calls, for type checkers and for `help`."""
# Written by tools/schema.mjs from the options of the core. Do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from ._options import Head, Patch

#: The methods of `explain`.
ExplainMethod = Literal[
    "rollout",
    "value_norms",
    "value_zeroing",
    "lens",
    "decoder_lens",
    "direct_logit_attribution",
    "score",
    "activation_patching",
    "faithfulness",
    "edges",
    "circuit",
    "features",
    "attribution_graph",
    "gradient_times_input",
    "integrated_gradients",
    "relevance",
    "attn_lrp",
    "cp_lrp",
    "gradients",
]


class EncoderOptions(TypedDict, total=False):
    """Options of every model that reads a text.

    attention : bool, optional
        Return the attention weights of all heads.
    trace : Sequence[str], optional
        Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for
        any characters except dots: encoder.layers.*.output. The error for an unknown name lists
        those that the model has. Tracing does not change the answer.
    patch : Sequence[Patch], optional
        Changes of traced tensors, or of parts of them, before anything is computed from them:
        numbers that replace theirs, or a direction that is added to each row or removed from it.
        In order: a later patch sees what an earlier one has changed.
    ablate : Sequence[Head], optional
        Heads whose output becomes zero before the output projection. Layers and heads count from
        0.
    mask_tokens : Sequence[int], optional
        Positions of tokens to treat as padding: they are neither attended to nor pooled. A model
        that answers from its first or last token refuses to mask that one.
    """

    attention: bool | None
    trace: Sequence[str] | None
    patch: Sequence[Patch] | None
    ablate: Sequence[Head] | None
    mask_tokens: Sequence[int] | None


class ClassifyOptions(EncoderOptions, total=False):
    """Options of Classifier.

    gradients : Sequence[str], optional
        Names of tensors: return the gradient of the answer with respect to each of them, for a
        model that computes with floats. The answer is a number computed from the logits. With two
        labels, it is the log-odds of the predicted one; with more, its logit minus the mean of
        all; with one, its logit. For labels of tokens, it is the same for one token. For a
        question, it is the sum of the logits of the answer's first and last token.
    contributions : bool, optional
        Return what each token adds to each label's logit.
    window : Literal["first", "mean", "max"], optional
        How to read a text with more tokens than the model takes at once. first: its beginning.
        mean, max: all of it, in windows; a label's score is the mean or the maximum of its scores
        in the windows. Attention, contributions, traces, gradients, patches and masked tokens
        need a text that fits one window. Default: "first".
    stride : int, optional
        The number of tokens that two neighboring windows share. Default: 128, or half of a window
        if that is less.
    """

    gradients: Sequence[str] | None
    contributions: bool | None
    window: Literal["first", "mean", "max"] | None
    stride: int | None


class TokenClassifyOptions(EncoderOptions, total=False):
    """Options of TokenClassifier.

    gradients : Sequence[str], optional
        Names of tensors: return the gradient of the answer with respect to each of them, for a
        model that computes with floats. The answer is a number computed from the logits. With two
        labels, it is the log-odds of the predicted one; with more, its logit minus the mean of
        all; with one, its logit. For labels of tokens, it is the same for one token. For a
        question, it is the sum of the logits of the answer's first and last token.
    gradient_token : int, optional
        The position of the token whose label gradients explain. Default: the first token that is
        not special.
    aggregation : Literal["none", "simple", "first", "average", "max"], optional
        How tokens become entities. none: each token is one. simple: neighbors with the same label
        are one. first, average, max: words are, with the label of their first token, of the mean
        of their tokens' scores, or of the highest score. Default: "none".
    ignore_labels : Sequence[str], optional
        Labels that are not entities. Default: ["O"].
    window : Literal["all", "first"], optional
        How to read a text with more tokens than the model takes at once. all: all of it, in
        windows; of overlapping entities, the longest is kept, of equally long ones the most
        probable. first: its beginning. Attention, traces, gradients, patches and masked tokens
        need a text that fits one window. Default: "all".
    stride : int, optional
        The number of tokens that two neighboring windows share. Default: 128, or half of a window
        if that is less.
    """

    gradients: Sequence[str] | None
    gradient_token: int | None
    aggregation: Literal["none", "simple", "first", "average", "max"] | None
    ignore_labels: Sequence[str] | None
    window: Literal["all", "first"] | None
    stride: int | None


class AnswerOptions(TypedDict, total=False):
    """Options of QuestionAnswerer.

    attention : bool, optional
        Return the attention weights of all heads.
    trace : Sequence[str], optional
        Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for
        any characters except dots: encoder.layers.*.output. The error for an unknown name lists
        those that the model has. Tracing does not change the answer.
    gradients : Sequence[str], optional
        Names of tensors: return the gradient of the answer with respect to each of them, for a
        model that computes with floats. The answer is a number computed from the logits. With two
        labels, it is the log-odds of the predicted one; with more, its logit minus the mean of
        all; with one, its logit. For labels of tokens, it is the same for one token. For a
        question, it is the sum of the logits of the answer's first and last token.
    patch : Sequence[Patch], optional
        Changes of traced tensors, or of parts of them, before anything is computed from them:
        numbers that replace theirs, or a direction that is added to each row or removed from it.
        In order: a later patch sees what an earlier one has changed.
    ablate : Sequence[Head], optional
        Heads whose output becomes zero before the output projection. Layers and heads count from
        0.
    max_seq_len : int, optional
        The maximum number of tokens of a window; the model's own limit applies, too. At least 1.
        Default: 384.
    doc_stride : int, optional
        A longer context is read in windows, each with the whole question: the number of tokens of
        the context that two neighboring windows share. Default: 128, or half of a window if that
        is less.
    max_answer_len : int, optional
        The maximum number of tokens of an answer. At least 1. Default: 15.
    handle_impossible_answer : bool, optional
        Allow the result that the context has no answer.
    """

    attention: bool | None
    trace: Sequence[str] | None
    gradients: Sequence[str] | None
    patch: Sequence[Patch] | None
    ablate: Sequence[Head] | None
    max_seq_len: int | None
    doc_stride: int | None
    max_answer_len: int | None
    handle_impossible_answer: bool | None


class FillOptions(EncoderOptions, total=False):
    """Options of MaskFiller.

    gradients : Sequence[str], optional
        Names of tensors: return the gradient of the answer with respect to each of them, for a
        model that computes with floats. The answer is a number computed from the logits. With two
        labels, it is the log-odds of the predicted one; with more, its logit minus the mean of
        all; with one, its logit. For labels of tokens, it is the same for one token. For a
        question, it is the sum of the logits of the answer's first and last token.
    gradient_token : int, optional
        The position of the mask that gradients explain. Default: the first mask.
    top_k : int, optional
        The number of tokens for each mask. At least 1. Default: 5.
    targets : Sequence[str], optional
        Compare only these tokens; their scores sum to 1. Each must be one token.
    """

    gradients: Sequence[str] | None
    gradient_token: int | None
    top_k: int | None
    targets: Sequence[str] | None


class EmbedOptions(EncoderOptions, total=False):
    """Options of Embedder.

    pooling : Literal["cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken"] | Sequence[Literal["cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken"]], optional
        How the vectors of the tokens become one. The vectors of several are concatenated.
        Default: as the model's files say.
    normalize : bool, optional
        Scale the vector to length 1. Default: as the model's files say.
    prompt : str, optional
        A text to put before each text. Offsets of tokens refer to the text without it.
    prompt_name : str, optional
        The name of one of the folder's prompts, such as query. Default: the folder's default
        prompt, if it has one.
    """

    pooling: Literal["cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken"] | Sequence[Literal["cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken"]] | None
    normalize: bool | None
    prompt: str | None
    prompt_name: str | None


class ImageOptions(EncoderOptions, total=False):
    """Options of ImageClassifier.

    gradients : Sequence[str], optional
        Names of tensors: return the gradient of the answer with respect to each of them, for a
        model that computes with floats. The answer is a number computed from the logits. With two
        labels, it is the log-odds of the predicted one; with more, its logit minus the mean of
        all; with one, its logit. For labels of tokens, it is the same for one token. For a
        question, it is the sum of the logits of the answer's first and last token.
    contributions : bool, optional
        Return what each row of patches adds to each label's logit.
    top_k : int, optional
        How many labels to return, those with the highest scores. At least 1. Default: all.
    interpolate : bool, optional
        Accept a picture that has, after its preparation, another size than the model's: learned
        positions are interpolated. Without this, such a picture is refused.
    size : tuple[int, int], optional
        Resize pictures to this height and width instead of what the model's folder says, without
        cropping. Other sizes than the model's need interpolation.
    """

    gradients: Sequence[str] | None
    contributions: bool | None
    top_k: int | None
    interpolate: bool | None
    size: tuple[int, int] | None


class MatchOptions(EncoderOptions, total=False):
    """Options of ZeroShotImageClassifier.

    gradients : Sequence[str], optional
        Names of tensors: return the gradient of the answer with respect to each of them, for a
        model that computes with floats. The answer is a number computed from the logits. With two
        labels, it is the log-odds of the predicted one; with more, its logit minus the mean of
        all; with one, its logit. For labels of tokens, it is the same for one token. For a
        question, it is the sum of the logits of the answer's first and last token.
    hypothesis_template : str, optional
        The text for a label, with the label in place of {}. Default: "This is a photo of {}.".
    interpolate : bool, optional
        Accept a picture that has, after its preparation, another size than the model's: learned
        positions are interpolated. Without this, such a picture is refused.
    size : tuple[int, int], optional
        Resize pictures to this height and width instead of what the model's folder says, without
        cropping. Other sizes than the model's need interpolation.
    """

    gradients: Sequence[str] | None
    hypothesis_template: str | None
    interpolate: bool | None
    size: tuple[int, int] | None


class TaskPromptOptions(TypedDict, total=False):
    """Some of the options of Generator.

    task : str, optional
        A task for which the folder's config.json has settings (task_specific_params), such as
        translation_en_to_de. They override its other settings, options override both, and the
        task's prefix is put before the text.
    prefix : bool, optional
        Put the prefix of the task, or of the folder, before the text. Default: true.
    special_tokens : bool, optional
        Put the tokenizer's special tokens around the text. A text that has its own, such as one
        from a chat template, needs no others. A model with an encoder always has them. Default:
        true.
    """

    task: str | None
    prefix: bool | None
    special_tokens: bool | None


class SampleOptions(TypedDict, total=False):
    """Some of the options of Generator.

    temperature : float, optional
        Divide the logits by this: above 1 for more surprising texts, below 1 for safer ones. 0:
        do not sample. Between 0 and 1000. Default: as the model's files say, or 1.
    top_k : int, optional
        Sample from the K most probable tokens. 0: from all. Default: as the model's files say.
    top_p : float, optional
        Sample from the smallest set of tokens whose probabilities sum to P. Between 0 and 1.
        Default: as the model's files say, or 1.
    min_p : float, optional
        Sample from the tokens that are at least P times as probable as the most probable one
        (Nguyen et al. 2024). Between 0 and 1. Default: as the model's files say, or 0.
    typical_p : float, optional
        Sample from the tokens whose log-probability is nearest to the negative entropy, until
        their probabilities sum to P (Meister et al. 2022). Between 0 and 1. Default: as the
        model's files say, or 1.
    repetition_penalty : float, optional
        Above 1: tokens that the text already contains become less probable (Keskar et al. 2019).
        Between 0.001 and 1000. Default: as the model's files say, or 1.
    encoder_repetition_penalty : float, optional
        Above 1: tokens of the given text become more probable. Between 0.001 and 1000. Default:
        as the model's files say, or 1.
    no_repeat_ngram_size : int, optional
        No n-gram of this size occurs twice in the text, prompt included. 0: any may. Default: as
        the model's files say, or 0.
    sample : bool, optional
        Sample the next token; false: take the most probable one, whatever the model's files say.
        Default: true if an option of sampling is given (`temperature`, `top_k`, `top_p`, `min_p`,
        `typical_p`, `seed`), else as the model's files say.
    seed : int, optional
        The same seed gives the same text on every machine, up to rounding. Default: 0.
    bad_words : Sequence[str], optional
        Texts that are never generated, neither at the start of a text nor after a space. They are
        still possible within a word, or spelled with other tokens. Default: as the model's files
        say.
    suppress_tokens : Sequence[int], optional
        Ids of tokens that are never generated. Default: as the model's files say.
    begin_suppress_tokens : Sequence[int], optional
        Ids of tokens that are not generated first. Default: as the model's files say.
    """

    temperature: float | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    typical_p: float | None
    repetition_penalty: float | None
    encoder_repetition_penalty: float | None
    no_repeat_ngram_size: int | None
    sample: bool | None
    seed: int | None
    bad_words: Sequence[str] | None
    suppress_tokens: Sequence[int] | None
    begin_suppress_tokens: Sequence[int] | None


class GenerateOptions(TaskPromptOptions, SampleOptions, total=False):
    """Options of `Generator.generate`.

    max_new_tokens : int, optional
        The maximum number of tokens to write. The model's number of positions is a limit, too. At
        least 1. Default: as the model's files say, or 64.
    min_new_tokens : int, optional
        The minimum number of tokens to write. Default: as the model's files say, or 0.
    beams : int, optional
        The number of hypotheses of a beam search, which does not sample. 1: greedy. Between 1 and
        64. Default: as the model's files say, or 1.
    length_penalty : float, optional
        With beams: a hypothesis' score is its log-probability / tokens ^ this. Above 0, longer
        texts win. Between -10 and 10. Default: as the model's files say, or 1.
    early_stopping : bool | Literal["never"], optional
        When a search ends, once as many hypotheses are finished as there are beams. true: at
        once. false: when no better one is likely. never: when none is possible. Default: as the
        model's files say.
    stop_strings : Sequence[str], optional
        The text ends with the token that completes one of these strings, and includes that token.
        A string may begin in the prompt. Default: as the model's files say.
    hypotheses : bool, optional
        Return the other finished hypotheses of the beam search.
    keep : bool, optional
        Keep what was computed for this text and its continuation, and go on from what an earlier
        call with this option kept, as far as both texts begin with the same tokens. The answer is
        the same. The memory is freed with the model. No effect with an encoder, beams, traces,
        patches or ablated heads.
    attention : bool, optional
        Return the attention weights of all heads.
    trace : Sequence[str], optional
        Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for
        any characters except dots: encoder.layers.*.output. The error for an unknown name lists
        those that the model has. Tracing does not change the answer.
    patch : Sequence[Patch], optional
        Changes of traced tensors, or of parts of them, before anything is computed from them:
        numbers that replace theirs, or a direction that is added to each row or removed from it.
        In order: a later patch sees what an earlier one has changed.
    ablate : Sequence[Head], optional
        Heads whose output becomes zero before the output projection. Layers and heads count from
        0.
    """

    max_new_tokens: int | None
    min_new_tokens: int | None
    beams: int | None
    length_penalty: float | None
    early_stopping: bool | Literal["never"] | None
    stop_strings: Sequence[str] | None
    hypotheses: bool | None
    keep: bool | None
    attention: bool | None
    trace: Sequence[str] | None
    patch: Sequence[Patch] | None
    ablate: Sequence[Head] | None


class NextOptions(TaskPromptOptions, SampleOptions, total=False):
    """Options of `Generator.next`.

    count : int, optional
        The number of tokens to return, of those that may be sampled. 0: all. Default: 10.
    attention : bool, optional
        Return the attention weights of all heads.
    trace : Sequence[str], optional
        Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for
        any characters except dots: encoder.layers.*.output. The error for an unknown name lists
        those that the model has. Tracing does not change the answer.
    patch : Sequence[Patch], optional
        Changes of traced tensors, or of parts of them, before anything is computed from them:
        numbers that replace theirs, or a direction that is added to each row or removed from it.
        In order: a later patch sees what an earlier one has changed.
    ablate : Sequence[Head], optional
        Heads whose output becomes zero before the output projection. Layers and heads count from
        0.
    """

    count: int | None
    attention: bool | None
    trace: Sequence[str] | None
    patch: Sequence[Patch] | None
    ablate: Sequence[Head] | None


class TranslateOptions(TypedDict, total=False):
    """Options of Translator.

    from_ : str, optional
        The language of the text, such as en or eng_Latn, for a model of many languages. Default:
        as the model's files say.
    to : str, optional
        The language of the translation. Default: as the model's files say.
    beams : int, optional
        The number of hypotheses of the beam search. 1: greedy. Between 1 and 64. Default: as the
        model's files say, or 4.
    length_penalty : float, optional
        A hypothesis' score is its log-probability / tokens ^ this. Between -10 and 10. Default:
        as the model's files say, or 1.
    early_stopping : bool | Literal["never"], optional
        When a search ends, once as many hypotheses are finished as there are beams. true: at
        once. false: when no better one is likely. never: when none is possible. Default: as the
        model's files say.
    max_length : int, optional
        The maximum number of tokens of a sentence's translation. At least 1. Default: as the
        model's files say, or 3 times the sentence's + 16.
    prefixes : Sequence[Sequence[int]], optional
        For each sentence, in order, the ids of the tokens with which its translation begins. With
        the end token as the last one, they are the whole translation. Their log-probabilities are
        the model's own.
    mask_tokens : Sequence[Sequence[int]], optional
        For each sentence, in order, the positions of source tokens to treat as padding: no other
        token sees them.
    attention : bool, optional
        Return the attention weights of all heads, and the alignment.
    hypotheses : bool, optional
        Return the other finished translations, and the tree of all hypotheses.
    trace : Sequence[str], optional
        Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for
        any characters except dots: encoder.layers.*.output. The error for an unknown name lists
        those that the model has. Tracing does not change the answer.
    patch : Sequence[Patch], optional
        Changes of traced tensors, or of parts of them, before anything is computed from them:
        numbers that replace theirs, or a direction that is added to each row or removed from it.
        In order: a later patch sees what an earlier one has changed.
    ablate : Sequence[Head], optional
        Heads whose output becomes zero before the output projection. Layers and heads count from
        0.
    alignment : bool | AlignmentOptions, optional
        Return which words were translated from which, even without the attention.
    """

    from_: str | None
    to: str | None
    beams: int | None
    length_penalty: float | None
    early_stopping: bool | Literal["never"] | None
    max_length: int | None
    prefixes: Sequence[Sequence[int]] | None
    mask_tokens: Sequence[Sequence[int]] | None
    attention: bool | None
    hypotheses: bool | None
    trace: Sequence[str] | None
    patch: Sequence[Patch] | None
    ablate: Sequence[Head] | None
    alignment: bool | AlignmentOptions | None


class AlignmentOptions(TypedDict, total=False):
    """Options of the option `alignment`.

    layer : int, optional
        The decoder's layer. Default: the last.
    heads : Sequence[int], optional
        The heads to average. Default: all.
    """

    layer: int | None
    heads: Sequence[int] | None


class TrainingOptions(TypedDict, total=False):
    """Options of Trainer.

    rate : float, optional
        The highest learning rate. Between 1e-8 and 1. Default: 0.002 for a new model, 0.0002 for
        one from a folder.
    warm_up : float, optional
        The share of the training in which the learning rate rises from 0. Between 0 and 1.
        Default: 0.05.
    decay : Literal["linear", "cosine", "none"], optional
        How the learning rate falls after the warm-up. Default: "linear".
    optimizer : Literal["adamw", "muon"], optional
        AdamW, or Muon for the matrices of layers and AdamW for the other parameters. Default:
        adamw.
    weight_decay : float, optional
        The decay of weights, per step and times the learning rate. Between 0 and 1. Default:
        0.01.
    dropout : float, optional
        The share of activations that are set to zero at random. Between 0 and 0.9. Default: 0.1.
    smoothing : float, optional
        Label smoothing. Between 0 and 0.9. Default: 0.1.
    averaging : float, optional
        The decay of the moving average of the weights. The average answers, is evaluated and
        saved. 0 disables it. Between 0 and 1. Default: 0.998.
    drop_tokens : float, optional
        For labels of texts: the share of a text's tokens that are left out at random. Between 0
        and 0.9. Default: 0.
    distortion : float, optional
        For pictures: how strongly they are turned, slanted, scaled and moved at random. 0
        disables it. Between 0 and 4. Default: 1.
    batch_tokens : int, optional
        The number of tokens, or patches of pictures, per step. Between 1 and 16777216. Default:
        1024 to 8192, by the data.
    shard_tokens : int, optional
        The number of a step's tokens that a thread reads at once. More need more memory. Between
        1 and 16777216. Default: 256 to 1024, by `batch_tokens`.
    vocabulary : int, optional
        The number of pieces of a new tokenizer. Between 1 and 10000000. Default: 1000 to 8000, by
        the data.
    keep_case : bool, optional
        A new tokenizer distinguishes capital letters. Otherwise it converts texts to lower case.
    held_out : float, optional
        The share of the examples that are not learned from but measure progress. Between 0 and
        0.9. Default: 0.05, at most 2000 examples.
    seed : int, optional
        The seed of all random numbers. The same seed gives the same weights. Default: 1.
    """

    rate: float | None
    warm_up: float | None
    decay: Literal["linear", "cosine", "none"] | None
    optimizer: Literal["adamw", "muon"] | None
    weight_decay: float | None
    dropout: float | None
    smoothing: float | None
    averaging: float | None
    drop_tokens: float | None
    distortion: float | None
    batch_tokens: int | None
    shard_tokens: int | None
    vocabulary: int | None
    keep_case: bool | None
    held_out: float | None
    seed: int | None


class ExplainOptions(TypedDict, total=False):
    """Options of `explain`, each of some methods.

    label : str, optional
        The label to explain: its name, or its number. Default: the model's answer.
    effects : bool, optional
        Also measure how much the number falls without each column or, of a score, each part.
    loadings : bool, optional
        Also tell, for each head, which parts make it look where it looks, and which it carries
        on. Needs compute f32.
    attention : str, optional
        The name of an attention, such as encoder.layers.1.self_attn or
        decoder.layers.0.encoder_attn.
    query : int, optional
        The row that asks, counted from 0.
    key : int, optional
        The row that is looked at, counted from 0.
    contrast : bool, optional
        Also split how far the score is above the mean of the scores of all keys, by their
        weights: softmax sees only differences.
    rival : int, optional
        Compare with the score of this key instead. Implies `contrast`.
    cells : bool, optional
        Also the parts of query and key at once: a table of all their products.
    reads : bool, optional
        Also split the parts of heads by the tokens they read.
    everywhere : bool, optional
        With `effects`: take a part out of all rows, not only that of the query or key.
    site : Literal["residual", "attention", "feed_forward", "head", "query", "key", "value"], optional
        Which vectors are taken from the second text. The residual stream is that between layers.
        Default: "residual".
    head : int, optional
        Which head, counted from 0. For activation_patching: if `site` is head.
    of : str, optional
        The method whose scores are tested. Default: "rollout".
    scores : Sequence[float], optional
        Scores to test instead of a method's, one for each token.
    orders : int, optional
        How many random orders to compare with. Between 0 and 1000. Default: 20.
    seed : int, optional
        The seed of the random orders or circuits. Default: 1.
    edges : Sequence[Mapping[str, int]], optional
        The edges to cut: the weights of a key for a query.
    cut : Literal["scores", "weights"], optional
        Where edges are cut: scores before the softmax, so that the other edges get their share;
        or weights, after it. Default: "scores".
    least : float, optional
        How near to the full number the circuit stays: between this share of it and 2 minus this
        share. Default: 0.8.
    more_pairs : Sequence[Mapping[str, str | int]], optional
        Further pairs of texts, each with its own token and against. The circuit is one for all of
        them: scores and numbers are means. Default: none.
    metric : Literal["logit_difference", "log_probability", "divergence"], optional
        The number that the circuit should keep: the difference of the two tokens' logits, the
        log-probability of the token, or minus the divergence from the first text's probabilities.
        Default: "logit_difference".
    ablation : Literal["corrupt", "mean", "zero"], optional
        What is carried outside the circuit: what the second text has there, its mean over its
        tokens, or zeros. Default: "corrupt".
    steps : int, optional
        The points between both texts at which gradients are computed; 0: those of the first text.
        Between 0 and 1000. Default: 5.
    edge_count : int, optional
        How many edges the circuit has, those with the largest scores. At least 1. Default: the
        fewest of 1, 2, 5, 10, 20, 50 and 100 % that stay within `least`.
    cut_edges : Sequence[str], optional
        Edges of the whole graph to cut, each as "FROM>TO". Then nothing is searched, and the kept
        number is that without them. Default: none.
    random_circuits : int, optional
        How many random circuits of each size to compare with. Between 0 and 1000. Default: 5.
    feature_count : int, optional
        How many features are explained by others at most, those with the most influence on the
        answer. The rest counts as errors. Between 1 and 65536. Default: 256.
    node_share : float, optional
        The share of the influence that features and errors of the graph keep. Between 0 and 1.
        Default: 0.8.
    edge_share : float, optional
        The share of the influence that edges keep. Between 0 and 1. Default: 0.95.
    checked_edges : int, optional
        How many edges from features are tested: the feature is set to zero in the model. Between
        0 and 1000. Default: 10.
    words : int, optional
        How many next tokens of each layer, the most probable ones. Between 1 and 100. Default: 5.
    beams : int, optional
        The number of hypotheses of the beam search, for a model with an encoder. Between 1 and
        64. Default: 1.
    sentence : int, optional
        Which sentence of the translation, counted from 0. Default: 0.
    position : int, optional
        Which token of the translation or answer, counted from 0. Default: 0, or the token after
        `prefix`.
    prefix : Sequence[int], optional
        Ids of tokens that the translation or answer begins with. Default: none; with two texts,
        those that both translations begin with.
    token : int, optional
        The id of the token to explain. Default: the token that the translation or answer has
        there, or the most probable; with two texts, that of the second's.
    against : int, optional
        The id of the token to compare it with: the explained number is the difference of their
        logits. Default: the most probable other one; with two texts, that of the first's.
    baseline_token : int, optional
        The id of the token whose embedding all others begin with. A model with RMS norms needs
        it: they remove the length of an embedding, so on the way from zeros almost all changes
        near zero, and the gap is large. Default: zeros.
    names : Sequence[str], optional
        Names of tensors; "*" stands for any characters except dots.
    patch : Sequence[Patch], optional
        As in other calls, but not of scores and weights. The gradients are those of the patched
        run.
    from_ : str, optional
        The language of the text, such as en or eng_Latn, for a model of many languages. Default:
        as the model's files say.
    to : str, optional
        The language of the translation. Default: as the model's files say.
    interpolate : bool, optional
        Accept a picture that has, after its preparation, another size than the model's: learned
        positions are interpolated. Without this, such a picture is refused.
    size : tuple[int, int], optional
        Resize pictures to this height and width instead of what the model's folder says, without
        cropping. Other sizes than the model's need interpolation.
    hypothesis_template : str, optional
        The text for a label, with the label in place of {}. Default: "This is a photo of {}.".
    """

    label: str | None
    effects: bool | None
    loadings: bool | None
    attention: str | None
    query: int | None
    key: int | None
    contrast: bool | None
    rival: int | None
    cells: bool | None
    reads: bool | None
    everywhere: bool | None
    site: Literal["residual", "attention", "feed_forward", "head", "query", "key", "value"] | None
    head: int | None
    of: str | None
    scores: Sequence[float] | None
    orders: int | None
    seed: int | None
    edges: Sequence[Mapping[str, int]] | None
    cut: Literal["scores", "weights"] | None
    least: float | None
    more_pairs: Sequence[Mapping[str, str | int]] | None
    metric: Literal["logit_difference", "log_probability", "divergence"] | None
    ablation: Literal["corrupt", "mean", "zero"] | None
    steps: int | None
    edge_count: int | None
    cut_edges: Sequence[str] | None
    random_circuits: int | None
    feature_count: int | None
    node_share: float | None
    edge_share: float | None
    checked_edges: int | None
    words: int | None
    beams: int | None
    sentence: int | None
    position: int | None
    prefix: Sequence[int] | None
    token: int | None
    against: int | None
    baseline_token: int | None
    names: Sequence[str] | None
    patch: Sequence[Patch] | None
    from_: str | None
    to: str | None
    interpolate: bool | None
    size: tuple[int, int] | None
    hypothesis_template: str | None
