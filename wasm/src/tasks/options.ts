// Written by tools/schema.mjs from the options of the core. Do not edit.

import type { Head, Patch } from '../model/call_options.js';

export interface ReadOptions {
  /** Return the attention weights of all heads. */
  attention?: boolean | undefined;
  /**
   * Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for any
   * characters except dots: encoder.layers.*.output. The error for an unknown name lists those
   * that the model has. Tracing does not change the answer.
   */
  trace?: readonly string[] | undefined;
  /**
   * Changes of traced tensors, or of parts of them, before anything is computed from them:
   * numbers that replace theirs, or a direction that is added to each row or removed from it. In
   * order: a later patch sees what an earlier one has changed.
   */
  patch?: readonly Patch[] | undefined;
  /** Heads whose output becomes zero before the output projection. Layers and heads count from 0. */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /**
   * Positions of tokens to treat as padding: they are neither attended to nor pooled. A model
   * that answers from its first or last token refuses to mask that one.
   */
  maskTokens?: readonly number[] | undefined;
  /** Aborts the call: within one token, or between two steps. */
  signal?: AbortSignal | undefined;
}
export const readOptions = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'signal',
] as const;

export interface ClassifyOptions extends ReadOptions {
  /**
   * Names of tensors: return the gradient of the answer with respect to each of them, for a
   * model that computes with floats. The answer is a number computed from the logits. With two
   * labels, it is the log-odds of the predicted one; with more, its logit minus the mean of all;
   * with one, its logit. For labels of tokens, it is the same for one token. For a question, it
   * is the sum of the logits of the answer's first and last token.
   */
  gradients?: readonly string[] | undefined;
  /** Return what each token adds to each label's logit. */
  contributions?: boolean | undefined;
  /**
   * How to read a text with more tokens than the model takes at once. first: its beginning.
   * mean, max: all of it, in windows; a label's score is the mean or the maximum of its scores
   * in the windows. Attention, contributions, traces, gradients, patches and masked tokens need
   * a text that fits one window. Default: "first".
   */
  window?: 'first' | 'mean' | 'max' | undefined;
  /**
   * The number of tokens that two neighboring windows share. Default: 128, or half of a window
   * if that is less.
   */
  stride?: number | undefined;
}
export const classifyOptions = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'gradients',
  'contributions',
  'window',
  'stride',
  'signal',
] as const;

export interface TokenClassifyOptions extends ReadOptions {
  /**
   * Names of tensors: return the gradient of the answer with respect to each of them, for a
   * model that computes with floats. The answer is a number computed from the logits. With two
   * labels, it is the log-odds of the predicted one; with more, its logit minus the mean of all;
   * with one, its logit. For labels of tokens, it is the same for one token. For a question, it
   * is the sum of the logits of the answer's first and last token.
   */
  gradients?: readonly string[] | undefined;
  /**
   * The position of the token whose label gradients explain. Default: the first token that is
   * not special.
   */
  gradientToken?: number | undefined;
  /**
   * How tokens become entities. none: each token is one. simple: neighbors with the same label
   * are one. first, average, max: words are, with the label of their first token, of the mean of
   * their tokens' scores, or of the highest score. Default: "none".
   */
  aggregation?: 'none' | 'simple' | 'first' | 'average' | 'max' | undefined;
  /** Labels that are not entities. Default: ["O"]. */
  ignoreLabels?: readonly string[] | undefined;
  /**
   * How to read a text with more tokens than the model takes at once. all: all of it, in
   * windows; of overlapping entities, the longest is kept, of equally long ones the most
   * probable. first: its beginning. Attention, traces, gradients, patches and masked tokens need
   * a text that fits one window. Default: "all".
   */
  window?: 'all' | 'first' | undefined;
  /**
   * The number of tokens that two neighboring windows share. Default: 128, or half of a window
   * if that is less.
   */
  stride?: number | undefined;
}
export const tokenClassifyOptions = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'gradients',
  'gradientToken',
  'aggregation',
  'ignoreLabels',
  'window',
  'stride',
  'signal',
] as const;

export interface AnswerOptions {
  /** Return the attention weights of all heads. */
  attention?: boolean | undefined;
  /**
   * Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for any
   * characters except dots: encoder.layers.*.output. The error for an unknown name lists those
   * that the model has. Tracing does not change the answer.
   */
  trace?: readonly string[] | undefined;
  /**
   * Names of tensors: return the gradient of the answer with respect to each of them, for a
   * model that computes with floats. The answer is a number computed from the logits. With two
   * labels, it is the log-odds of the predicted one; with more, its logit minus the mean of all;
   * with one, its logit. For labels of tokens, it is the same for one token. For a question, it
   * is the sum of the logits of the answer's first and last token.
   */
  gradients?: readonly string[] | undefined;
  /**
   * Changes of traced tensors, or of parts of them, before anything is computed from them:
   * numbers that replace theirs, or a direction that is added to each row or removed from it. In
   * order: a later patch sees what an earlier one has changed.
   */
  patch?: readonly Patch[] | undefined;
  /** Heads whose output becomes zero before the output projection. Layers and heads count from 0. */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /**
   * The maximum number of tokens of a window; the model's own limit applies, too. At least 1.
   * Default: 384.
   */
  maxSeqLen?: number | undefined;
  /**
   * A longer context is read in windows, each with the whole question: the number of tokens of
   * the context that two neighboring windows share. Default: 128, or half of a window if that is
   * less.
   */
  docStride?: number | undefined;
  /** The maximum number of tokens of an answer. At least 1. Default: 15. */
  maxAnswerLen?: number | undefined;
  /** Allow the result that the context has no answer. */
  handleImpossibleAnswer?: boolean | undefined;
  /** Aborts the call: within one token, or between two steps. */
  signal?: AbortSignal | undefined;
}
export const answerOptions = [
  'attention',
  'trace',
  'gradients',
  'patch',
  'ablate',
  'maxSeqLen',
  'docStride',
  'maxAnswerLen',
  'handleImpossibleAnswer',
  'signal',
] as const;

export interface FillOptions extends ReadOptions {
  /**
   * Names of tensors: return the gradient of the answer with respect to each of them, for a
   * model that computes with floats. The answer is a number computed from the logits. With two
   * labels, it is the log-odds of the predicted one; with more, its logit minus the mean of all;
   * with one, its logit. For labels of tokens, it is the same for one token. For a question, it
   * is the sum of the logits of the answer's first and last token.
   */
  gradients?: readonly string[] | undefined;
  /** The position of the mask that gradients explain. Default: the first mask. */
  gradientToken?: number | undefined;
  /** The number of tokens for each mask. At least 1. Default: 5. */
  topK?: number | undefined;
  /** Compare only these tokens; their scores sum to 1. Each must be one token. */
  targets?: readonly string[] | undefined;
}
export const fillOptions = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'gradients',
  'gradientToken',
  'topK',
  'targets',
  'signal',
] as const;

export interface EmbedOptions extends ReadOptions {
  /**
   * How the vectors of the tokens become one. The vectors of several are concatenated. Default:
   * as the model's files say.
   */
  pooling?:
    | 'cls'
    | 'max'
    | 'mean'
    | 'mean_sqrt_len'
    | 'weightedmean'
    | 'lasttoken'
    | readonly ('cls' | 'max' | 'mean' | 'mean_sqrt_len' | 'weightedmean' | 'lasttoken')[]
    | undefined;
  /** Scale the vector to length 1. Default: as the model's files say. */
  normalize?: boolean | undefined;
  /** A text to put before each text. Offsets of tokens refer to the text without it. */
  prompt?: string | undefined;
  /**
   * The name of one of the folder's prompts, such as query. Default: the folder's default
   * prompt, if it has one.
   */
  promptName?: string | undefined;
}
export const embedOptions = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'pooling',
  'normalize',
  'prompt',
  'promptName',
  'signal',
] as const;

export interface ClassifyImageOptions extends ReadOptions {
  /**
   * Names of tensors: return the gradient of the answer with respect to each of them, for a
   * model that computes with floats. The answer is a number computed from the logits. With two
   * labels, it is the log-odds of the predicted one; with more, its logit minus the mean of all;
   * with one, its logit. For labels of tokens, it is the same for one token. For a question, it
   * is the sum of the logits of the answer's first and last token.
   */
  gradients?: readonly string[] | undefined;
  /** Return what each row of patches adds to each label's logit. */
  contributions?: boolean | undefined;
  /** How many labels to return, those with the highest scores. At least 1. Default: all. */
  topK?: number | undefined;
  /**
   * Accept a picture that has, after its preparation, another size than the model's: learned
   * positions are interpolated. Without this, such a picture is refused.
   */
  interpolate?: boolean | undefined;
  /**
   * Resize pictures to this height and width instead of what the model's folder says, without
   * cropping. Other sizes than the model's need interpolation.
   */
  size?: readonly [height: number, width: number] | undefined;
}
export const classifyImageOptions = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'gradients',
  'contributions',
  'topK',
  'interpolate',
  'size',
  'signal',
] as const;

export interface MatchOptions extends ReadOptions {
  /**
   * Names of tensors: return the gradient of the answer with respect to each of them, for a
   * model that computes with floats. The answer is a number computed from the logits. With two
   * labels, it is the log-odds of the predicted one; with more, its logit minus the mean of all;
   * with one, its logit. For labels of tokens, it is the same for one token. For a question, it
   * is the sum of the logits of the answer's first and last token.
   */
  gradients?: readonly string[] | undefined;
  /** The text for a label, with the label in place of {}. Default: "This is a photo of {}.". */
  hypothesisTemplate?: string | undefined;
  /**
   * Accept a picture that has, after its preparation, another size than the model's: learned
   * positions are interpolated. Without this, such a picture is refused.
   */
  interpolate?: boolean | undefined;
  /**
   * Resize pictures to this height and width instead of what the model's folder says, without
   * cropping. Other sizes than the model's need interpolation.
   */
  size?: readonly [height: number, width: number] | undefined;
}
export const matchOptions = [
  'attention',
  'trace',
  'patch',
  'ablate',
  'maskTokens',
  'gradients',
  'hypothesisTemplate',
  'interpolate',
  'size',
  'signal',
] as const;

export interface TaskPromptOptions {
  /**
   * A task for which the folder's config.json has settings (task_specific_params), such as
   * translation_en_to_de. They override its other settings, options override both, and the
   * task's prefix is put before the text.
   */
  task?: string | undefined;
  /** Put the prefix of the task, or of the folder, before the text. Default: true. */
  prefix?: boolean | undefined;
  /**
   * Put the tokenizer's special tokens around the text. A text that has its own, such as one
   * from a chat template, needs no others. A model with an encoder always has them. Default:
   * true.
   */
  specialTokens?: boolean | undefined;
}
export const taskPromptOptions = ['task', 'prefix', 'specialTokens'] as const;

export interface SampleOptions {
  /**
   * Divide the logits by this: above 1 for more surprising texts, below 1 for safer ones. 0: do
   * not sample. Between 0 and 1000. Default: as the model's files say, or 1.
   */
  temperature?: number | undefined;
  /** Sample from the K most probable tokens. 0: from all. Default: as the model's files say. */
  topK?: number | undefined;
  /**
   * Sample from the smallest set of tokens whose probabilities sum to P. Between 0 and 1.
   * Default: as the model's files say, or 1.
   */
  topP?: number | undefined;
  /**
   * Sample from the tokens that are at least P times as probable as the most probable one
   * (Nguyen et al. 2024). Between 0 and 1. Default: as the model's files say, or 0.
   */
  minP?: number | undefined;
  /**
   * Sample from the tokens whose log-probability is nearest to the negative entropy, until their
   * probabilities sum to P (Meister et al. 2022). Between 0 and 1. Default: as the model's files
   * say, or 1.
   */
  typicalP?: number | undefined;
  /**
   * Above 1: tokens that the text already contains become less probable (Keskar et al. 2019).
   * Between 0.001 and 1000. Default: as the model's files say, or 1.
   */
  repetitionPenalty?: number | undefined;
  /**
   * Above 1: tokens of the given text become more probable. Between 0.001 and 1000. Default: as
   * the model's files say, or 1.
   */
  encoderRepetitionPenalty?: number | undefined;
  /**
   * No n-gram of this size occurs twice in the text, prompt included. 0: any may. Default: as
   * the model's files say, or 0.
   */
  noRepeatNgramSize?: number | undefined;
  /**
   * Sample the next token; false: take the most probable one, whatever the model's files say.
   * Default: true if an option of sampling is given (`temperature`, `topK`, `topP`, `minP`,
   * `typicalP`, `seed`), else as the model's files say.
   */
  sample?: boolean | undefined;
  /** The same seed gives the same text on every machine, up to rounding. Default: 0. */
  seed?: number | undefined;
  /**
   * Texts that are never generated, neither at the start of a text nor after a space. They are
   * still possible within a word, or spelled with other tokens. Default: as the model's files
   * say.
   */
  badWords?: readonly string[] | undefined;
  /** Ids of tokens that are never generated. Default: as the model's files say. */
  suppressTokens?: readonly number[] | undefined;
  /** Ids of tokens that are not generated first. Default: as the model's files say. */
  beginSuppressTokens?: readonly number[] | undefined;
}
export const sampleOptions = [
  'temperature',
  'topK',
  'topP',
  'minP',
  'typicalP',
  'repetitionPenalty',
  'encoderRepetitionPenalty',
  'noRepeatNgramSize',
  'sample',
  'seed',
  'badWords',
  'suppressTokens',
  'beginSuppressTokens',
] as const;

export interface GenerateOptions extends TaskPromptOptions, SampleOptions {
  /**
   * The maximum number of tokens to write. The model's number of positions is a limit, too. At
   * least 1. Default: as the model's files say, or 64.
   */
  maxNewTokens?: number | undefined;
  /** The minimum number of tokens to write. Default: as the model's files say, or 0. */
  minNewTokens?: number | undefined;
  /**
   * The number of hypotheses of a beam search, which does not sample. 1: greedy. Between 1 and
   * 64. Default: as the model's files say, or 1.
   */
  beams?: number | undefined;
  /**
   * With beams: a hypothesis' score is its log-probability / tokens ^ this. Above 0, longer
   * texts win. Between -10 and 10. Default: as the model's files say, or 1.
   */
  lengthPenalty?: number | undefined;
  /**
   * When a search ends, once as many hypotheses are finished as there are beams. true: at once.
   * false: when no better one is likely. never: when none is possible. Default: as the model's
   * files say.
   */
  earlyStopping?: false | true | 'never' | undefined;
  /**
   * The text ends with the token that completes one of these strings, and includes that token. A
   * string may begin in the prompt. Default: as the model's files say.
   */
  stopStrings?: readonly string[] | undefined;
  /** Return the other finished hypotheses of the beam search. */
  hypotheses?: boolean | undefined;
  /**
   * Keep what was computed for this text and its continuation, and go on from what an earlier
   * call with this option kept, as far as both texts begin with the same tokens. The answer is
   * the same. The memory is freed with the model. No effect with an encoder, beams, traces,
   * patches or ablated heads.
   */
  keep?: boolean | undefined;
  /** Return the attention weights of all heads. */
  attention?: boolean | undefined;
  /**
   * Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for any
   * characters except dots: encoder.layers.*.output. The error for an unknown name lists those
   * that the model has. Tracing does not change the answer.
   */
  trace?: readonly string[] | undefined;
  /**
   * Changes of traced tensors, or of parts of them, before anything is computed from them:
   * numbers that replace theirs, or a direction that is added to each row or removed from it. In
   * order: a later patch sees what an earlier one has changed.
   */
  patch?: readonly Patch[] | undefined;
  /** Heads whose output becomes zero before the output projection. Layers and heads count from 0. */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /** Aborts the call: within one token, or between two steps. */
  signal?: AbortSignal | undefined;
}
export const generateOptions = [
  'maxNewTokens',
  'minNewTokens',
  'beams',
  'lengthPenalty',
  'earlyStopping',
  'stopStrings',
  'hypotheses',
  'keep',
  'task',
  'prefix',
  'specialTokens',
  'temperature',
  'topK',
  'topP',
  'minP',
  'typicalP',
  'repetitionPenalty',
  'encoderRepetitionPenalty',
  'noRepeatNgramSize',
  'sample',
  'seed',
  'badWords',
  'suppressTokens',
  'beginSuppressTokens',
  'attention',
  'trace',
  'patch',
  'ablate',
  'signal',
] as const;

export interface NextOptions extends TaskPromptOptions, SampleOptions {
  /** The number of tokens to return, of those that may be sampled. 0: all. Default: 10. */
  count?: number | undefined;
  /** Return the attention weights of all heads. */
  attention?: boolean | undefined;
  /**
   * Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for any
   * characters except dots: encoder.layers.*.output. The error for an unknown name lists those
   * that the model has. Tracing does not change the answer.
   */
  trace?: readonly string[] | undefined;
  /**
   * Changes of traced tensors, or of parts of them, before anything is computed from them:
   * numbers that replace theirs, or a direction that is added to each row or removed from it. In
   * order: a later patch sees what an earlier one has changed.
   */
  patch?: readonly Patch[] | undefined;
  /** Heads whose output becomes zero before the output projection. Layers and heads count from 0. */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /** Aborts the call: within one token, or between two steps. */
  signal?: AbortSignal | undefined;
}
export const nextOptions = [
  'count',
  'task',
  'prefix',
  'specialTokens',
  'temperature',
  'topK',
  'topP',
  'minP',
  'typicalP',
  'repetitionPenalty',
  'encoderRepetitionPenalty',
  'noRepeatNgramSize',
  'sample',
  'seed',
  'badWords',
  'suppressTokens',
  'beginSuppressTokens',
  'attention',
  'trace',
  'patch',
  'ablate',
  'signal',
] as const;

export interface TranslateOptions {
  /**
   * The language of the text, such as en or eng_Latn, for a model of many languages. Default: as
   * the model's files say.
   */
  from?: string | undefined;
  /** The language of the translation. Default: as the model's files say. */
  to?: string | undefined;
  /**
   * The number of hypotheses of the beam search. 1: greedy. Between 1 and 64. Default: as the
   * model's files say, or 4.
   */
  beams?: number | undefined;
  /**
   * A hypothesis' score is its log-probability / tokens ^ this. Between -10 and 10. Default: as
   * the model's files say, or 1.
   */
  lengthPenalty?: number | undefined;
  /**
   * When a search ends, once as many hypotheses are finished as there are beams. true: at once.
   * false: when no better one is likely. never: when none is possible. Default: as the model's
   * files say.
   */
  earlyStopping?: false | true | 'never' | undefined;
  /**
   * The maximum number of tokens of a sentence's translation. At least 1. Default: as the
   * model's files say, or 3 times the sentence's + 16.
   */
  maxLength?: number | undefined;
  /**
   * For each sentence, in order, the ids of the tokens with which its translation begins. With
   * the end token as the last one, they are the whole translation. Their log-probabilities are
   * the model's own.
   */
  prefixes?: readonly (readonly number[])[] | undefined;
  /**
   * For each sentence, in order, the positions of source tokens to treat as padding: no other
   * token sees them.
   */
  maskTokens?: readonly (readonly number[])[] | undefined;
  /** Return the attention weights of all heads, and the alignment. */
  attention?: boolean | undefined;
  /** Return the other finished translations, and the tree of all hypotheses. */
  hypotheses?: boolean | undefined;
  /**
   * Names of tensors to return, such as encoder.layers.0.self_attn.q or logits. * stands for any
   * characters except dots: encoder.layers.*.output. The error for an unknown name lists those
   * that the model has. Tracing does not change the answer.
   */
  trace?: readonly string[] | undefined;
  /**
   * Changes of traced tensors, or of parts of them, before anything is computed from them:
   * numbers that replace theirs, or a direction that is added to each row or removed from it. In
   * order: a later patch sees what an earlier one has changed.
   */
  patch?: readonly Patch[] | undefined;
  /** Heads whose output becomes zero before the output projection. Layers and heads count from 0. */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /** Return which words were translated from which, even without the attention. */
  alignment?: boolean | AlignmentOptions | undefined;
  /** Aborts the call: within one token, or between two steps. */
  signal?: AbortSignal | undefined;
}
export const translateOptions = [
  'from',
  'to',
  'beams',
  'lengthPenalty',
  'earlyStopping',
  'maxLength',
  'prefixes',
  'maskTokens',
  'attention',
  'hypotheses',
  'trace',
  'patch',
  'ablate',
  'alignment',
  'signal',
] as const;

export interface AlignmentOptions {
  /** The decoder's layer. Default: the last. */
  layer?: number | undefined;
  /** The heads to average. Default: all. */
  heads?: readonly number[] | undefined;
}

export interface TrainingOptions {
  /**
   * The highest learning rate. Between 1e-8 and 1. Default: 0.002 for a new model, 0.0002 for
   * one from a folder.
   */
  rate?: number | undefined;
  /**
   * The share of the training in which the learning rate rises from 0. Between 0 and 1. Default:
   * 0.05.
   */
  warmUp?: number | undefined;
  /** How the learning rate falls after the warm-up. Default: "linear". */
  decay?: 'linear' | 'cosine' | 'none' | undefined;
  /**
   * AdamW, or Muon for the matrices of layers and AdamW for the other parameters. Default:
   * adamw.
   */
  optimizer?: 'adamw' | 'muon' | undefined;
  /** The decay of weights, per step and times the learning rate. Between 0 and 1. Default: 0.01. */
  weightDecay?: number | undefined;
  /** The share of activations that are set to zero at random. Between 0 and 0.9. Default: 0.1. */
  dropout?: number | undefined;
  /** Label smoothing. Between 0 and 0.9. Default: 0.1. */
  smoothing?: number | undefined;
  /**
   * The decay of the moving average of the weights. The average answers, is evaluated and saved.
   * 0 disables it. Between 0 and 1. Default: 0.998.
   */
  averaging?: number | undefined;
  /**
   * For labels of texts: the share of a text's tokens that are left out at random. Between 0 and
   * 0.9. Default: 0.
   */
  dropTokens?: number | undefined;
  /**
   * For pictures: how strongly they are turned, slanted, scaled and moved at random. 0 disables
   * it. Between 0 and 4. Default: 1.
   */
  distortion?: number | undefined;
  /**
   * The number of tokens, or patches of pictures, per step. Between 1 and 16777216. Default:
   * 1024 to 8192, by the data.
   */
  batchTokens?: number | undefined;
  /**
   * The number of a step's tokens that a thread reads at once. More need more memory. Between 1
   * and 16777216. Default: 256 to 1024, by `batchTokens`.
   */
  shardTokens?: number | undefined;
  /**
   * The number of pieces of a new tokenizer. Between 1 and 10000000. Default: 1000 to 8000, by
   * the data.
   */
  vocabulary?: number | undefined;
  /** A new tokenizer distinguishes capital letters. Otherwise it converts texts to lower case. */
  keepCase?: boolean | undefined;
  /**
   * The share of the examples that are not learned from but measure progress. Between 0 and 0.9.
   * Default: 0.05, at most 2000 examples.
   */
  heldOut?: number | undefined;
  /** The seed of all random numbers. The same seed gives the same weights. Default: 1. */
  seed?: number | undefined;
}
export const trainingOptions = [
  'rate',
  'warmUp',
  'decay',
  'optimizer',
  'weightDecay',
  'dropout',
  'smoothing',
  'averaging',
  'dropTokens',
  'distortion',
  'batchTokens',
  'shardTokens',
  'vocabulary',
  'keepCase',
  'heldOut',
  'seed',
] as const;
