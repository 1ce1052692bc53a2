import type { AttentionMap } from '../model/attention.js';
import type {
  AlignmentLink,
  Asked,
  Candidate,
  Hypothesis,
  OutputToken,
  SentenceTranslationFields,
  Token,
  TranslationFields,
  WithTrace,
} from '../model/results.js';
import type { TranslateOptions } from './options.js';

// The options and results of translations.

/** The attention weights of a translator. A recurrent decoder has no `decoder` attention. */
export interface TranslationAttention {
  encoder: AttentionMap;
  decoder?: AttentionMap;
  cross: AttentionMap;
}

/** The languages of a call, for a model of many languages. A model of one pair accepts only its own. */
export type LanguagePair = Pick<TranslateOptions, 'from' | 'to'>;

/** Options of a translation at once, which a stream does not have. */
export const ofSearch = [
  'beams',
  'lengthPenalty',
  'earlyStopping',
  'prefixes',
  'maskTokens',
  'hypotheses',
] as const;

/**
 * Options of a stream. Traces of the decoder have one row per token of the translation; patches of it
 * apply to every hypothesis.
 */
export type StreamOptions = Omit<TranslateOptions, (typeof ofSearch)[number]>;

/**
 * When a search ends after as many hypotheses have finished as it has beams. `true`: at once.
 * `false`: when no unfinished hypothesis has a better score at its current length; 'never': at the
 * maximum length.
 */
export type EarlyStopping = boolean | 'never';

/**
 * The translation of a sentence. Offsets of the source are in the input, offsets of the target in the
 * whole translation.
 */
export type SentenceTranslation<Options extends TranslateOptions = TranslateOptions> =
  SentenceTranslationFields &
    WithTrace<Options> &
    Asked<
      Options,
      'attention',
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
      Options,
      'attention' | 'alignment',
      {
        /** With option `attention` or `alignment`. */
        alignment: AlignmentLink[];
      }
    > &
    Asked<
      Options,
      'hypotheses',
      {
        /** With option `hypotheses`: best first. */
        hypotheses: Hypothesis[];
        /** With option `hypotheses`: parents before children; the first entry is the start token. */
        tree: Candidate[];
      }
    >;

/** The translation of a text. `Options` tells which options were set. */
export interface Translation<
  Options extends TranslateOptions = TranslateOptions,
> extends TranslationFields {
  /** The sentences of the text, in order. */
  sentences: SentenceTranslation<Options>[];
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
export type TokenStep<Options extends StreamOptions = StreamOptions> = {
  done: false;
  token: OutputToken;
  /** The translation so far, in whole characters. The text of each step is a prefix of the next. */
  text: string;
  /** The same object in all steps of the sentence. */
  sentence: StreamedSentence;
} & Asked<
  Options,
  'attention',
  {
    /**
     * With option `attention`: the encoder's attention, the same in all steps of the sentence, and
     * one row of the others, that of `token`.
     */
    attention: TranslationAttention;
  }
>;

/** The last step of a stream. */
export interface LastStep<Options extends StreamOptions = StreamOptions> {
  done: true;
  /** The whole translation. */
  text: string;
  /** The result of `translate` with `beams: 1`. */
  result: Translation<Options>;
}

/** A step of a stream: one per token, and a last one with the whole result. */
export type TranslationStep<Options extends StreamOptions = StreamOptions> =
  TokenStep<Options> | LastStep<Options>;
