import type { Head, TensorNames, TraceOptions } from '../model/call_options.js';
import type { AttentionMap } from '../model/attention.js';
import type { Asked, Token, WithTrace } from '../model/results.js';

// The options and results of translations.

/** The attention weights of a translator. A recurrent decoder has no `decoder` attention. */
export interface TranslationAttention {
  encoder: AttentionMap;
  decoder?: AttentionMap;
  cross: AttentionMap;
}

/** The languages of a call, for a model of many languages. A model of one pair accepts only its own. */
export interface LanguagePair {
  /** The language of the text: one of `info.languages`. Default: as the model's files say. */
  from?: string | undefined;
  /** The language of the translation. Default: as the model's files say. */
  to?: string | undefined;
}

/**
 * Options of a stream. Traces of the decoder have one row per token of the translation; patches of it
 * apply to every hypothesis.
 */
export interface StreamOptions<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Trace extends TensorNames = TensorNames,
>
  extends TraceOptions<Trace>, LanguagePair {
  /** Returns the attention weights of all heads, and the alignment. */
  attention?: Attention | undefined;
  /** Returns which words were translated from which, even without `attention`. */
  alignment?: Alignment | undefined;
  /** Maximum number of tokens in a sentence's translation. Default: 3 × those of the source + 16. */
  maxLength?: number | undefined;
  /** Heads whose output is set to zero before the output projection. */
  ablate?: readonly Head<'encoder' | 'decoder' | 'cross'>[] | undefined;
  /** Aborts the call within one token. */
  signal?: AbortSignal | undefined;
}

export interface TranslateOptions<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> extends StreamOptions<Attention, Alignment, Trace> {
  /** Number of hypotheses in the beam search, 1 (greedy) to 64. Default: as the model's files say, or 4. */
  beams?: number | undefined;
  /**
   * A hypothesis' score is its log-probability / tokens ^ lengthPenalty. Default: as the model's
   * files say, or 1.
   */
  lengthPenalty?: number | undefined;
  /**
   * Searches as the library transformers does, and ends the search as its `early_stopping` says.
   * Default: as the model's files say; if they say nothing, a search ends when the best hypothesis
   * is ahead of all unfinished ones.
   */
  earlyStopping?: EarlyStopping | undefined;
  /**
   * For each sentence, in order, the ids of the tokens that its translation must begin with. With the
   * end token as the last one, they are the whole translation. `logprob` is the model's own
   * probability, even of tokens that it would not have chosen.
   */
  prefixes?: readonly (readonly number[])[] | undefined;
  /**
   * For each sentence, in order, the positions in its `sourceTokens` of tokens to treat as padding:
   * no other token sees them.
   */
  maskTokens?: readonly (readonly number[])[] | undefined;
  /** Returns the other finished translations, and the tree of all hypotheses. */
  hypotheses?: Hypotheses | undefined;
}

/**
 * When a search ends after as many hypotheses have finished as it has beams. `true`: at once.
 * `false`: when no unfinished hypothesis has a better score at its current length; 'never': at the
 * maximum length.
 */
export type EarlyStopping = boolean | 'never';

/** The cross-attention heads that the alignment is computed from. */
export interface AlignmentOptions {
  /** The decoder's layer. Default: the last one. */
  layer?: number | undefined;
  /** The heads to average. Default: all. */
  heads?: readonly number[] | undefined;
}

/** A token of a translation, with offsets in the `text` of the whole translation. */
export interface OutputToken extends Token {
  /** Natural logarithm of its probability after the tokens before it. */
  logprob: number;
}

/** A finished translation of a sentence. */
export interface Hypothesis {
  text: string;
  /** The log-probability, normalized by length. */
  score: number;
  /**
   * The tokens, including the end token. Offsets refer to the whole translation, in which this
   * sentence begins at `targetStart`, whichever hypothesis it contains.
   */
  tokens: OutputToken[];
}

/** A word of the translation and the word of the input that it was translated from. */
export interface AlignmentLink {
  /** In the `text` of the whole translation. */
  target: { start: number; end: number };
  /** In the input. */
  source: { start: number; end: number };
  /** The share of the target word's attention on the source word. */
  weight: number;
}

/** A token that the search considered, after the one at index `parent` of the tree. */
export interface Candidate {
  parent: number;
  id: number;
  /** As a token's `text`. */
  text: string;
  logprob: number;
  /** Sum of `logprob` from the start. */
  total: number;
  /** Whether the search continued from it, or it finished a hypothesis. */
  kept: boolean;
}

/**
 * The translation of a sentence. Offsets of the source are in the input, offsets of the target in the
 * whole translation.
 */
export type SentenceTranslation<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> = Hypothesis & {
  /** Where the sentence is in the input. */
  start: number;
  end: number;
  /** Where its translation is in the whole translation. */
  targetStart: number;
  targetEnd: number;
  /** Whether the end of the sentence was left out because of the model's limit. */
  clipped: boolean;
  /** The encoder's input, with offsets in the input. */
  sourceTokens: Token[];
} & WithTrace<Trace> &
  Asked<
    Attention,
    {
      /**
       * With option `attention`. Row i of `decoder` and `cross` is the step that wrote `tokens[i]`.
       * Column j of `decoder` is token j - 1; column 0 is the start token. Tokens that a step had not
       * seen are 0.
       */
      attention: TranslationAttention;
    }
  > &
  Asked<
    Attention extends true ? true : Alignment,
    {
      /** With option `attention` or `alignment`. */
      alignment: AlignmentLink[];
    }
  > &
  Asked<
    Hypotheses,
    {
      /** With option `hypotheses`: best first. */
      hypotheses: Hypothesis[];
      /** With option `hypotheses`: parents before children; the first entry is the start token. */
      tree: Candidate[];
    }
  >;

/** The translation of a text. The type arguments tell which options were set. */
export interface Translation<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Hypotheses extends boolean = boolean,
  Trace extends TensorNames = TensorNames,
> {
  text: string;
  /** Mean of the sentences' scores, weighted by their numbers of tokens. */
  score: number;
  sentences: SentenceTranslation<Attention, Alignment, Hypotheses, Trace>[];
}

/** The sentence that a stream is translating. */
export interface StreamedSentence {
  index: number;
  /** Where it is in the input. */
  start: number;
  end: number;
  /** Where its translation begins in the whole translation. */
  targetStart: number;
  /** The encoder's input, with offsets in the input. */
  sourceTokens: Token[];
}

/** A token of a stream. A sentence's end token has no step, because it adds nothing to the text. */
export type TokenStep<Attention extends boolean = boolean> = {
  done: false;
  token: OutputToken;
  /** The translation so far, in whole characters. The text of each step is a prefix of the next. */
  text: string;
  /** The same object in all steps of the sentence. */
  sentence: StreamedSentence;
} & Asked<
  Attention,
  {
    /**
     * With option `attention`: the encoder's attention, the same in all steps of the sentence, and
     * one row of the others, that of `token`.
     */
    attention: TranslationAttention;
  }
>;

/** The last step of a stream. */
export interface LastStep<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Trace extends TensorNames = TensorNames,
> {
  done: true;
  /** The whole translation. */
  text: string;
  /** The result of `translate` with `beams: 1`. */
  result: Translation<Attention, Alignment, false, Trace>;
}

/** A step of a stream: one per token, and a last one with the whole result. */
export type TranslationStep<
  Attention extends boolean = boolean,
  Alignment extends boolean | AlignmentOptions = boolean | AlignmentOptions,
  Trace extends TensorNames = TensorNames,
> = TokenStep<Attention> | LastStep<Attention, Alignment, Trace>;
