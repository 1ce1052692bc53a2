/** Methods that score what a classifier read, tokens or patches, and its verdict after each layer. */
import type { ExplainOptions, Explanations } from 'glassformer';
import { signed as withSign, weight } from '../../ui/text/format.ts';
import { largestOf } from '../numbers/strip.ts';
import { range } from '../../ui/text/range.ts';

/** A number for each row that the model read, without special tokens of a picture. */
export interface RowScores {
  name: string;
  note: string;
  /** Whether numbers have a sign, against or for the answer. */
  signed: boolean;
  scores: Float32Array;
}

/** A model's method `explain`, for one input. */
export interface Explaining {
  /** The number of rows before a picture's patches, which are left out. */
  special: number;
  scores: (
    options: ExplainOptions['rollout' | 'relevance' | 'gradient_times_input'],
  ) => Promise<{ scores: number[] }>;
  lens: (
    options: ExplainOptions['lens'],
  ) => Promise<Pick<Explanations['lens'], 'layers' | 'tokenLogits'>>;
}

interface Scoring extends Omit<RowScores, 'scores'> {
  method: 'rollout' | 'relevance' | 'gradient_times_input';
}

export const scorings: readonly Scoring[] = [
  {
    method: 'rollout',
    name: 'Attention rollout',
    note: 'the weights of all layers multiplied; it does not know the answer',
    signed: false,
  },
  {
    method: 'relevance',
    name: 'Relevance',
    note: 'weights times how much the answer depends on them (Chefer et al. 2021)',
    signed: false,
  },
  {
    method: 'gradient_times_input',
    name: 'Gradient × input',
    note: 'each number of a vector, times how much the answer changes with it',
    signed: true,
  },
];

/** Computes the scores of a method for a label. */
export async function scoresBy(
  { method, ...told }: Scoring,
  { scores, special }: Explaining,
  label: string,
  signal: AbortSignal,
): Promise<RowScores> {
  const options = method === 'rollout' ? { method, signal } : { method, label, signal };
  return { ...told, scores: Float32Array.from((await scores(options)).scores).subarray(special) };
}

/** The verdict of the model's head after some layers. */
export interface LayerVerdict {
  label: string;
  score: number;
  /** The logits that it computes from each row by itself. */
  rows: Float32Array[];
}

export async function layersBy(
  { lens, special }: Explaining,
  signal: AbortSignal,
): Promise<LayerVerdict[]> {
  const { layers, tokenLogits } = await lens({ method: 'lens', signal });
  const [, rows, classes] = tokenLogits.shape as [number, number, number];
  return layers.map(({ label, scores }, layer) => ({
    label,
    score: Math.max(...scores.map(({ score }) => score)),
    rows: range(rows - special).map((row) => {
      const start = (layer * rows + special + row) * classes;
      return tokenLogits.data.subarray(start, start + classes);
    }),
  }));
}

/** The evidence for a label: its logit minus the mean of all; with one label, its logit. */
export function evidenceFor(logit: number, all: ArrayLike<number>): number {
  if (all.length === 1) return logit;
  return logit - Array.from(all).reduce((sum, each) => sum + each, 0) / all.length;
}

/** Returns the largest absolute value, or a tiny one, by which all can be divided. */
export const mostOf = (scores: Float32Array): number => Math.max(largestOf(scores), 1e-9);

/** Says which row has the largest number. */
export function toldLargest(
  { scores, signed }: RowScores,
  nameOf: (row: number) => string,
): string {
  const row = scores.reduce((best, score, i) => (score > scores[best]! ? i : best), 0);
  return `largest: ${(signed ? withSign : weight)(scores[row]!)} in ${nameOf(row)}`;
}
