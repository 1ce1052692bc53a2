/** The lines of a chart, from the steps of a training. */
import type { GradientNorm, TrainingStep } from 'glassformer';

export interface Series {
  name: string;
  /** How the line is drawn. */
  look: 'first' | 'second' | 'faint';
  values: readonly (readonly [step: number, value: number])[];
  /** The lowest and the highest value of several trainings, drawn behind the line. */
  band?: readonly (readonly [step: number, low: number, high: number])[];
}

/** Returns the lowest and the highest value at each step. */
export function bandOf(values: Series['values']): NonNullable<Series['band']> {
  const ends = new Map<number, [low: number, high: number]>();
  for (const [step, value] of values) {
    const [low, high] = ends.get(step) ?? [value, value];
    ends.set(step, [Math.min(low, value), Math.max(high, value)]);
  }
  return [...ends].sort(([a], [b]) => a - b).map(([step, [low, high]]) => [step, low, high]);
}

/** The most points of a drawn line. */
const most = 400;

/** Returns the mean of each step and the steps before it that weigh most: an exponential average. */
export function smoothed(
  points: readonly TrainingStep[],
  of: (point: TrainingStep) => number,
  kept = 0.9,
): Series['values'] {
  let sum = 0;
  let weight = 0;
  const values = points.map((point): [number, number] => {
    sum = kept * sum + of(point);
    weight = kept * weight + 1;
    return [point.step, sum / weight];
  });
  const every = Math.ceil(values.length / most);
  return values.filter((_, i) => i % every === 0 || i === values.length - 1);
}

/** Returns the values of the steps at which the examples that are held out were measured. */
export const heldOut = (
  points: readonly TrainingStep[],
  of: (score: { loss: number; accuracy: number }) => number,
): Series['values'] =>
  points.flatMap((point) => (point.heldOut ? [[point.step, of(point.heldOut)] as const] : []));

/** Returns the mean of each part's gradient norms over the last steps up to `step`. */
export function meanNorms(
  points: readonly TrainingStep[],
  step = Infinity,
  over = 10,
): GradientNorm[] {
  const upTo = points.filter((point) => point.step <= step).slice(-over);
  return (upTo[0]?.gradientNorms ?? []).map(({ name }, i) => ({
    name,
    norm: upTo.reduce((sum, point) => sum + point.gradientNorms[i]!.norm, 0) / upTo.length,
  }));
}

/** Returns the name of a part of the model for readers. */
export function partName(name: string): string {
  const layer = /\.layers\.(\d+)$/.exec(name);
  if (layer) return `Layer ${Number(layer[1]) + 1}`;
  if (name.endsWith('embed_tokens')) return 'Embeddings';
  if (name.endsWith('embed_patches')) return 'Patches';
  if (name === 'encoder') return 'Class token'; // its only parameter without a part of its own
  if (name.endsWith('embed_positions')) return 'Positions';
  if (name.endsWith('layer_norm')) return 'Last norm';
  return name === 'classifier' ? 'Classifier' : name;
}
