/** The result of an experiment, in sentences. */
import { decimals, percent, powerOfTen } from '../../../ui/text/format.ts';
import type { Experiment } from './experiments.ts';
import type { TrialOutcome, Trial } from './trial.svelte.ts';

const loss = decimals(3);
/** Losses that differ by less than this factor count as equal: another seed changes as much. */
const clear = 1.1;

/** Returns what one run measured. */
export function measured({ variants }: Experiment, { seed, outcomes }: Trial): string {
  const parts = outcomes.map((outcome, i) => `${variants[i]!.name}: ${told(outcome)}`);
  return `Seed ${seed}, on messages that were held out: ${parts.join('; ')}.`;
}

function told(outcome: TrialOutcome | undefined): string {
  if (!outcome) return 'the training failed';
  return `loss ${loss(outcome.loss)}, ${percent(outcome.accuracy)} right`;
}

/** Returns how large the first layer's gradients were at the end of the last run. */
export function firstGradients({ variants }: Experiment, trials: readonly Trial[]): string {
  const { outcomes } = trials.at(-1)!;
  const norms = outcomes.map(
    (outcome) => outcome?.norms.find(({ name }) => name.endsWith('.layers.0'))?.norm,
  );
  if (norms.some((norm) => norm === undefined)) return '';
  const parts = norms.map((norm, i) => `${powerOfTen(norm!)} (${variants[i]!.name})`);
  return `In the last ten steps, the gradients of the first layer have a mean norm of ${parts.join(' and ')}.`;
}

/** Returns what all runs say about the claim. */
export function conclusion({ variants }: Experiment, trials: readonly Trial[]): string {
  const [first, second] = variants;
  let better = 0;
  let worse = 0;
  for (const { outcomes } of trials) {
    const [a = Infinity, b = Infinity] = outcomes.map((outcome) => outcome?.loss);
    if (b > a * clear) better++;
    else if (a > b * clear) worse++;
  }
  const runs = trials.length === 1 ? 'In this run' : `In ${trials.length} runs`;
  const words = ['', ' once', ' twice'];
  const times = (count: number) => (trials.length === 1 ? '' : (words[count] ?? ` ${count} times`));
  if (better === 0 && worse === 0) return `${runs} the losses differ by less than a tenth.`;
  const parts = [];
  if (better > 0) parts.push(`“${first.name}”${times(better)}`);
  if (worse > 0) parts.push(`“${second.name}”${times(worse)}`);
  return `${runs} the loss is clearly lower ${parts.join(' and ')}.`;
}
