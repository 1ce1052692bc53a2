/** The models that a study can be about: what a line of the list means, and which number is measured. */
import type { Classifier, Generator, Head, Patch, Token, Translator } from 'glassformer';
import { evidence, evidenceName } from '../../panels/ledger/evidence.ts';
import { largest, rowOf } from '../../panels/words/next-logits.ts';
import { entriesOf } from '../../panels/verdict/entries.ts';
import type { Model } from '../../models/model-loader.svelte.ts';
import { shippedBeginnings, shippedReviews, shippedSentences } from './texts.ts';
import { classifierScore, translatorScore, writerScore, type ScoreOf } from './asked.ts';
import type { Attention, Told, Trace } from './study.ts';

export const subjectNames = ['sentiment', 'writer', 'en-de'] as const;
export type SubjectName = (typeof subjectNames)[number];

/** A line of the list. */
export interface Item {
  text: string;
  /** The right answer, if the line has one. */
  label?: string;
  /** An answer that the right one is compared with. */
  against?: string;
}

/** What is done to a run. */
export interface Intervention {
  ablate?: readonly Head<Attention>[];
  patch?: readonly Patch[];
}

/** Runs the model on one item, with the same tokens each time. */
export interface Runs {
  /** The right answer, as the model names it. */
  label: string | undefined;
  run(
    options: Intervention & { trace?: readonly string[]; signal: AbortSignal },
  ): Promise<
    Told & { trace: Trace; tokens: Readonly<Record<'encoder' | 'decoder', readonly Token[]>> }
  >;
}

export interface Subject<M extends Model = Model> {
  /** The kinds of attention whose heads can be taken away. */
  attentions: readonly Attention[];
  /** The stack whose hidden units can be taken away. */
  stack: 'encoder' | 'decoder';
  texts: string;
  /** What a line of the list may hold. */
  lines: string;
  /** The name of the button that restores the list. */
  restore: string;
  measure: (labels: readonly string[]) => string;
  /** Says of a number of texts that they have another answer. */
  flipped: string;
  itemsOf: (list: string, labels: readonly string[]) => Item[];
  begin: (model: M, item: Item, signal: AbortSignal) => Promise<Runs>;
  /** Explains the score of a head where it looks most. */
  score: ScoreOf<M>;
}

const columnsOf = (list: string): string[][] =>
  list
    .split(/\r?\n/)
    .map((line) => line.split('\t').map((part) => part.trim()))
    .filter(([text]) => text);

const sentiment: Subject<Classifier> = {
  attentions: ['encoder'],
  stack: 'encoder',
  texts: shippedReviews,
  lines: 'Texts, one per line; a label and a tab may stand before',
  restore: 'Use the 30 probes',
  measure: evidenceName,
  flipped: 'get another verdict',
  score: classifierScore,
  itemsOf: entriesOf,
  begin: (model, { text, label }) =>
    Promise.resolve({
      label,
      run: async ({ trace = [], ...options }) => {
        const result = await model.classify(text, { ...(options as object), trace });
        return {
          label: result.label,
          measure: evidence(result),
          right: label === undefined ? undefined : result.label === label,
          trace: result.trace,
          tokens: { encoder: result.tokens, decoder: [] },
        };
      },
    }),
};

/** Returns the first token that an answer adds to a text. */
async function firstTokenOf(model: Generator, text: string, answer: string, signal: AbortSignal) {
  const tokensOf = async (of: string) => (await model.next(of, { count: 1, signal })).promptTokens;
  const before = (await tokensOf(text)).length;
  return (await tokensOf(`${text} ${answer}`))[before]!;
}

const writer: Subject<Generator> = {
  attentions: ['decoder'],
  stack: 'decoder',
  texts: shippedBeginnings,
  lines:
    'Beginnings, one per line. After a tab, the next word; after another tab, a word to compare it with',
  restore: 'Use the shipped beginnings',
  measure: () => 'the next token’s log-probability or lead',
  flipped: 'get another likeliest next token',
  score: writerScore,
  itemsOf: (list) =>
    columnsOf(list).map(([text, label, against]) => ({
      text: text!,
      ...(label && { label }),
      ...(label && against && { against }),
    })),
  async begin(model, { text, label, against }, signal) {
    const pieces = await model.vocabulary();
    const wanted = label && (await firstTokenOf(model, text, label, signal));
    const other = against && (await firstTokenOf(model, text, against, signal));
    /** Without a wanted token, it is the one that is the likeliest in the first run. */
    let first = wanted ? wanted.id : undefined;
    return {
      label: wanted ? wanted.text : undefined,
      async run({ trace = [], ...options }) {
        const result = await model.next(text, {
          ...(options as object),
          count: 1,
          trace: [...trace, 'logits'],
        });
        const { logits, ...rest } = result.trace as Trace;
        const last = rowOf(logits!, -1);
        const [best] = largest(last, 1);
        first ??= best!.index;
        const logprob = last[first]! - best!.logit + Math.log(best!.probability);
        return {
          label: pieces[best!.index]!,
          measure: other ? last[first]! - last[other.id]! : logprob,
          right: !wanted
            ? undefined
            : other
              ? last[first]! > last[other.id]!
              : best!.index === first,
          trace: rest,
          tokens: { encoder: [], decoder: result.promptTokens },
        };
      },
    };
  },
};

const translator: Subject<Translator> = {
  attentions: ['encoder', 'decoder', 'cross'],
  stack: 'decoder',
  texts: shippedSentences,
  lines: 'Sentences, one per line. After a tab, a translation; otherwise it is the model’s own',
  restore: 'Use the shipped sentences',
  measure: () => 'the translation’s log-probability',
  flipped: 'would get another token somewhere',
  score: translatorScore,
  itemsOf: (list) =>
    columnsOf(list).map(([text, label]) => ({ text: text!, ...(label && { label }) })),
  async begin(model, { text, label }, signal) {
    // Both languages share their tokens: a translation is read as if it were a source.
    const read = label && (await model.translate(label, { beams: 1, maxLength: 1, signal }));
    const own = read || (await model.translate(text, { beams: 4, signal }));
    const tokens = read
      ? read.sentences.flatMap(({ sourceTokens }, i) =>
          i === read.sentences.length - 1 ? sourceTokens : sourceTokens.slice(0, -1),
        )
      : own.sentences[0]!.tokens;
    const ids = tokens.map(({ id }) => id);
    return {
      label: undefined,
      async run({ trace = [], ...options }) {
        const forced = { beams: 1, prefixes: [ids], maxLength: ids.length };
        const { sentences } = await model.translate(text, {
          ...(options as object),
          ...forced,
          trace: [...trace, 'logits'],
        });
        const { tokens: written, sourceTokens, trace: traced } = sentences[0]!;
        const { logits, ...rest } = traced as Trace;
        const steps = written.map((_, step) => largest(rowOf(logits!, step), 1)[0]!.index);
        return {
          label: steps.join(' '),
          measure: written.reduce((sum, { logprob }) => sum + logprob, 0),
          right: undefined,
          trace: rest,
          tokens: { encoder: sourceTokens, decoder: written },
        };
      },
    };
  },
};

export const subjects: Readonly<Record<SubjectName, Subject>> = {
  sentiment: sentiment as unknown as Subject,
  writer: writer as unknown as Subject,
  'en-de': translator as unknown as Subject,
};
