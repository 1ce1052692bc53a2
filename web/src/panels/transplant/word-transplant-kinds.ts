/** The kinds of models for word transplants: a translator, and a writer that continues texts. */
import { Generator, Translator, type Patch, type Token, type TracedTensor } from 'glassformer';
import type { Model } from '../../models/model-loader.svelte.ts';
import type { Loadable } from '../../models/shared-models.ts';
import { percent } from '../../ui/text/format.ts';
import { largest } from '../words/next-logits.ts';
import { nextStep, parting, rowOf } from '../words/next-logits.ts';
import { shownCandidate } from '../words/sampling.ts';
import { pairBeginnings, pairTokens } from './token-pairs.ts';
import { endOf } from '../words/tokens.ts';
import { endToken } from '../words/sampling.ts';

/** The tensors that a run returns, and those that are replaced in it. */
export interface Asking {
  trace?: readonly string[];
  patch?: readonly Patch[];
  signal: AbortSignal;
}

/** The tokens of a text, and its traced tensors. */
export interface Run {
  tokens: readonly Token[];
  trace: Readonly<Record<string, TracedTensor>>;
}

/** The output; for a continued text also the end of the text, and the most probable next tokens. */
export interface Answer {
  before: string;
  text: string;
  likeliest: string;
}

/** The first two words that differ between the outputs, their ids, and the ids before them. */
export interface Parted {
  ids: [is: number, would: number];
  words: { base: string; donor: string };
  /** Whether the most probable word is the same in both; then the words are others that differ. */
  alike: boolean;
  prefix: readonly number[];
}

/** The properties of a kind of model that a transplant needs. */
export interface Kind<M extends Model, R extends Run> {
  /** The class of the model. */
  of: Loadable<M>;
  /** The stack whose vectors are replaced. */
  stack: 'encoder' | 'decoder';
  pair: typeof pairTokens;
  /** The maximum number of rows that an answer adds to that stack. */
  grows: number;
  /** Reads a text and writes one token after those of `prefix`. */
  step: (model: M, text: string, prefix: readonly number[], asking: Asking) => Promise<Run>;
  /**
   * Returns the gradients of the lead of one token over another, after the text and the tokens of
   * `prefix`.
   */
  gradients: (
    model: M,
    text: string,
    lead: { token: number; against: number; prefix: readonly number[] },
    asking: Omit<Asking, 'trace'> & { names: readonly string[] },
  ) => Promise<Run['trace']>;
  /** Reads a text and writes an answer. */
  run: (model: M, text: string, asking: Asking) => Promise<R & { answer: Answer }>;
  part: (own: R, other: R) => Parted | undefined;
}

type Translated = Run & { written: readonly Token[] };

export const translating = (beams: number): Kind<Translator, Translated> => ({
  of: Translator,
  stack: 'encoder',
  pair: pairTokens,
  grows: 0,
  async step(model, text, prefix, asking) {
    const { sourceTokens: tokens, trace = {} } = await nextStep(model, text, prefix, asking);
    return { tokens, trace };
  },
  async gradients(model, text, lead, asking) {
    return (await model.explain(text, { method: 'gradients', ...lead, ...asking })).gradients;
  },
  async run(model, text, asking) {
    const { sentences } = await model.translate(text, { ...asking, beams });
    const { sourceTokens, tokens, trace = {}, text: said } = sentences[0]!;
    return {
      tokens: sourceTokens,
      trace,
      written: tokens,
      answer: { before: '', text: said, likeliest: '' },
    };
  },
  part({ written }, other) {
    const at = written.findIndex(({ id }, i) => id !== other.written[i]?.id);
    const [is, would] = [written[at], other.written[at]];
    if (!is || !would) return undefined;
    return {
      ids: [is.id, would.id],
      words: { base: is.text.trim(), donor: would.text.trim() },
      alike: false,
      prefix: written.slice(0, at).map(({ id }) => id),
    };
  },
});

type Begun = Run & { logits: Float32Array; pieces: readonly string[] };

/** The number of tokens to write. */
const writtenOn = 10;

export const writing: Kind<Generator, Begun> = {
  of: Generator,
  stack: 'decoder',
  pair: pairBeginnings,
  grows: writtenOn - 1,
  async step(model, text, _, asking) {
    const { promptTokens: tokens, trace = {} } = await model.next(text, { ...asking, count: 1 });
    return { tokens, trace };
  },
  async gradients(model, text, { token, against }, asking) {
    const options = { method: 'gradients', token, against, ...asking } as const;
    return (await model.explain(text, options)).gradients;
  },
  async run(model, text, { trace: names = [], ...asking }) {
    const [pieces, { promptTokens: tokens, trace, text: said }] = await Promise.all([
      model.vocabulary(),
      model.generate(text, {
        ...asking,
        trace: [...names, 'logits'],
        sample: false,
        maxNewTokens: writtenOn,
      }),
    ]);
    const logits = rowOf(trace.logits!, tokens.length - 1);
    const likeliest = largest(logits, 5)
      .map(({ index, probability }) => `“${nameOf(pieces[index]!)}” ${percent(probability)}`)
      .join(' ');
    return {
      tokens,
      trace,
      logits,
      pieces,
      answer: { before: endOf(text), text: said, likeliest },
    };
  },
  part({ logits, pieces }, other) {
    const ids = parting(logits, other.logits);
    if (!ids) return undefined;
    const [base, donor] = ids.map((id) => nameOf(pieces[id]!)) as [string, string];
    const alike = likeliestOf(logits) === likeliestOf(other.logits);
    return { ids, words: { base, donor }, alike, prefix: [] };
  },
};

const likeliestOf = (logits: Float32Array) => logits.indexOf(Math.max(...logits));
const nameOf = (text: string) => (text === endToken ? 'end' : shownCandidate(text, '').own);
