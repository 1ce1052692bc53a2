/** What a head asks with and looks for over many texts: shares of its scores' leads, with intervals. */
import type { Classifier, Generator, ScorePart, Translator } from 'glassformer';
import { lastCell, matrixIn, strongestCell, type Cell } from '../../panels/attention/attention.ts';
import { attentionName, type ScoreAnswer } from '../../panels/score/score-reading.svelte.ts';
import { nameOf } from '../../panels/score/why.ts';
import { random } from '../../ui/random.ts';
import type { Attention, Interval } from './study.ts';

export interface AskedHead {
  attention: Attention;
  layer: number;
  head: number;
}

/** The score of a head in one text, of the query and key where it looks most. */
export type ScoreOf<M> = (
  model: M,
  text: string,
  head: AskedHead,
  signal: AbortSignal,
) => Promise<ScoreAnswer>;

/** A part of the query or of the key, and its share of the lead. */
export interface Share extends Interval {
  column: string;
  name: string;
}

export interface Asked {
  head: AskedHead;
  texts: number;
  /** Texts in which there is only one token to look at. */
  alone: number;
  weight: number;
  asks: Share[];
  answers: Share[];
}

function cellIn(map: Parameters<typeof matrixIn>[0], { attention, layer, head }: AskedHead): Cell {
  const matrix = matrixIn(map, { layer, head }, attention === 'decoder');
  if (!matrix) return { query: 0, key: 0 };
  // The first tokens that are written see few others.
  return attention === 'decoder' ? lastCell(matrix) : strongestCell(matrix);
}

const optionsFor = (
  { attention, layer, head }: AskedHead,
  { query, key }: Cell,
  signal: AbortSignal,
) => ({
  method: 'score' as const,
  attention: attentionName(attention, layer),
  head,
  query,
  key,
  contrast: true,
  signal,
});

export const classifierScore: ScoreOf<Classifier> = async (model, text, head, signal) => {
  const { attention } = await model.classify(text, { attention: true, signal });
  return model.explain<'score'>(text, optionsFor(head, cellIn(attention.encoder, head), signal));
};

export const writerScore: ScoreOf<Generator> = async (model, text, head, signal) => {
  const { attention } = await model.next(text, { count: 1, attention: true, signal });
  return model.explain<'score'>(text, optionsFor(head, cellIn(attention.decoder, head), signal));
};

export const translatorScore: ScoreOf<Translator> = async (model, text, head, signal) => {
  const { sentences } = await model.translate(text, { attention: true, signal });
  const { attention, tokens } = sentences[0]!;
  const cell = cellIn(attention[head.attention], head);
  const rows = head.attention === 'encoder' ? 0 : cell.query;
  const prefix = tokens.slice(0, rows).map(({ id }) => id);
  return model.explain<'score'>(text, { ...optionsFor(head, cell, signal), prefix });
};

/**
 * Returns Σ parts / Σ leads over texts, and its 95% interval by the bootstrap: texts are drawn with
 * replacement, and each drawn set has one ratio.
 */
export function ratioOf(
  parts: readonly number[],
  leads: readonly number[],
  samples = 2000,
  seed = 1,
): Interval {
  const draw = random(seed);
  const ratio = (texts: readonly number[]) => {
    let [part, lead] = [0, 0];
    for (const text of texts) [part, lead] = [part + parts[text]!, lead + leads[text]!];
    return part / lead;
  };
  const all = parts.map((_, i) => i);
  const drawn = Array.from({ length: samples }, () =>
    ratio(all.map(() => Math.floor(draw() * all.length))),
  )
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  const at = (share: number) => drawn[Math.round(share * (drawn.length - 1))] ?? NaN;
  return { mean: ratio(all), low: at(0.025), high: at(0.975) };
}

/** Scores of one head in several texts, as shares. Texts without other keys have no lead. */
export function sharesOf(head: AskedHead, scores: readonly ScoreAnswer[]): Asked {
  const led = scores.filter(({ weight }) => weight < 1 - 1e-6);
  const leads = led.map(({ lead = 0, weight }) => lead / (1 - weight));
  const shares = (side: 'queries' | 'keys'): Share[] => {
    const columns = new Set(led.flatMap((score) => score[side].map(({ name }) => name)));
    return [...columns]
      .map((column) => {
        const amounts = led.map((score) => {
          const part = score[side].find(({ name }: ScorePart) => name === column);
          return (part?.contrast ?? 0) / (1 - score.weight);
        });
        return { column, name: nameOf(column), ...ratioOf(amounts, leads) };
      })
      .sort((a, b) => Math.abs(b.mean) - Math.abs(a.mean));
  };
  return {
    head,
    texts: scores.length,
    alone: scores.length - led.length,
    weight: scores.reduce((sum, { weight }) => sum + weight, 0) / scores.length,
    asks: led.length > 0 ? shares('queries') : [],
    answers: led.length > 0 ? shares('keys') : [],
  };
}
