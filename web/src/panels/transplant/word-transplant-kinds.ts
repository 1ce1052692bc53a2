/** The kinds of models for word transplants: a translator, and a writer that continues texts. */
import {
  Generator,
  Translator,
  type GenerationExplanations,
  type Guess,
  type Patch,
  type TextPair,
  type TracedTensor,
} from 'glassformer';
import type { Model } from '../../models/model-loader.svelte.ts';
import type { Loadable } from '../../models/shared-models.ts';
import { percent } from '../../ui/text/format.ts';
import { largest, nextStep, rowOf } from '../words/next-logits.ts';
import { endToken, shownCandidate } from '../words/sampling.ts';
import { endOf } from '../words/tokens.ts';

export type WordTable = GenerationExplanations['activation_patching'];

/** Tensors to replace in a run. */
interface Asking {
  patch?: readonly Patch[];
  signal: AbortSignal;
}

/** The output; for a continued text also the end of the text, and the most probable next tokens. */
export interface Answer {
  before: string;
  text: string;
  likeliest: string;
  /** The id of the most probable next token of a continued text. */
  first?: number;
}

/** The properties of a kind of model that a transplant needs. */
export interface Kind<M extends Model> {
  /** The class of the model. */
  of: Loadable<M>;
  /** The stack whose vectors are replaced. */
  stack: 'encoder' | 'decoder';
  /** The maximum number of rows that an answer adds to that stack. */
  grows: number;
  /** Measures the effect of each cell. */
  measure: (
    model: M,
    pair: TextPair,
    asking: { signal: AbortSignal; onProgress: (table: WordTable) => void },
  ) => Promise<WordTable>;
  /** Reads a text and returns some of the stack's tensors. */
  trace: (
    model: M,
    text: string,
    asking: Asking & { names: readonly string[] },
  ) => Promise<Readonly<Record<string, TracedTensor>>>;
  /** Reads a text and writes an answer. */
  answer: (model: M, text: string, asking: Asking) => Promise<Answer>;
}

export const translating = (beams: number): Kind<Translator> => ({
  of: Translator,
  stack: 'encoder',
  grows: 0,
  measure: (model, pair, asking) =>
    model.explain(pair, { method: 'activation_patching', beams, ...asking }),
  async trace(model, text, { names: trace, ...asking }) {
    return (await nextStep(model, text, [], { ...asking, trace })).trace!;
  },
  async answer(model, text, asking) {
    const { sentences } = await model.translate(text, { ...asking, beams });
    return { before: '', text: sentences[0]!.text, likeliest: '' };
  },
});

/** The number of tokens to write. */
const writtenOn = 10;

export const writing: Kind<Generator> = {
  of: Generator,
  stack: 'decoder',
  grows: writtenOn - 1,
  measure: (model, pair, asking) =>
    model.explain(pair, { method: 'activation_patching', ...asking }),
  async trace(model, text, { names: trace, ...asking }) {
    return (await model.next(text, { ...asking, trace, count: 1 })).trace;
  },
  async answer(model, text, asking) {
    const [pieces, { promptTokens, trace, text: said }] = await Promise.all([
      model.vocabulary(),
      model.generate(text, {
        ...asking,
        trace: ['logits'],
        sample: false,
        maxNewTokens: writtenOn,
      }),
    ]);
    const candidates = largest(rowOf(trace.logits!, promptTokens.length - 1), 5);
    const likeliest = candidates
      .map(({ index, probability }) => `“${nameOf(pieces[index]!)}” ${percent(probability)}`)
      .join(' ');
    return { before: endOf(text), text: said, likeliest, first: candidates[0]!.index };
  },
};

/** Returns a token as a word of its own. */
export const shownWord = ({ text }: Guess): string => nameOf(text);

const nameOf = (text: string) => (text === endToken ? 'end' : shownCandidate(text, '').own);
