import type { Patch, TracedTensor } from 'glassformer';
import type { Reading } from '../../lesson.ts';
import { labelsOf, row, verdictOf, type Verdict } from '../../pictures/vectors.ts';
import { shuffled } from './waves.ts';

const tokensTensor = 'encoder.embed_tokens';
const positionsTensor = 'encoder.embed_positions';

/** The four runs: with or without positions, in order or shuffled. */
export const runs = [
  { positions: true, shuffle: false },
  { positions: true, shuffle: true },
  { positions: false, shuffle: false },
  { positions: false, shuffle: true },
] as const;

export interface PositionsLive {
  /** The tokens in the order that the model gets. */
  labels: readonly string[];
  dModel: number;
  /** The positional encoding that is added, [tokens, d]. */
  positions: TracedTensor;
  verdicts: readonly Verdict[];
  /** The index of the run that is shown. */
  shown: number;
  /** Fetches another model's learned positions, one row per token of this text. */
  learned: () => Promise<readonly Float32Array[]>;
}

/** Returns a tensor with its rows in another order. */
export function reordered(tensor: TracedTensor, order: readonly number[]): TracedTensor {
  const width = tensor.shape[1]!;
  const data = new Float32Array(order.length * width);
  for (const [to, from] of order.entries()) data.set(row(tensor, from), to * width);
  return { shape: [order.length, width], data };
}

export async function readPositions({
  model,
  text,
  setting,
  signal,
  open,
}: Reading<'sentiment'>): Promise<PositionsLive> {
  const trace = [tokensTensor, positionsTensor];
  const usual = await model.classify(text, { trace, signal });
  const tokens = usual.trace[tokensTensor]!;
  const encodings = usual.trace[positionsTensor]!;
  const order = shuffled(usual.tokens.length);
  const ask = async ({ positions, shuffle }: (typeof runs)[number]) => {
    const patch: Patch[] = [];
    if (shuffle) patch.push({ name: tokensTensor, value: reordered(tokens, order) });
    if (!positions) patch.push({ name: positionsTensor, value: 0 });
    return verdictOf(await model.classify(text, { patch, signal }));
  };
  const verdicts = await Promise.all(runs.map(ask));
  const { positions, shuffle } = runs[setting]!;
  const labels = labelsOf(text, usual.tokens);
  return {
    labels: shuffle ? order.map((i) => labels[i]!) : labels,
    dModel: encodings.shape[1]!,
    positions: positions
      ? encodings
      : { shape: encodings.shape, data: new Float32Array(encodings.data.length) },
    verdicts,
    shown: setting,
    async learned() {
      const writer = await open('writer');
      return Promise.all(
        labels.map((_, i) => writer.weights.row('decoder.embed_positions.weight', i)),
      );
    },
  };
}

/** Whether two verdicts are equal, apart from the order in which sums were rounded. */
export const isSame = (a: Verdict, b: Verdict): boolean => Math.abs(a.positive - b.positive) < 1e-4;

/** Returns what shuffling does without positions: 0 nothing, 1 something, 2 another verdict. */
export function outcomeOf({ verdicts }: PositionsLive): number {
  const [before, after] = [verdicts[2]!, verdicts[3]!];
  return isSame(before, after) ? 0 : before.label === after.label ? 1 : 2;
}
