/** The result of an experiment, in sentences. */
import { counted, decimals, percent, powerOfTen } from '../../../ui/text/format.ts';
import type { Experiment } from './experiments.ts';
import type { TrialOutcome, Trial } from './trial.svelte.ts';

const loss = decimals(3);

/** Returns what one run measured. */
export function measured({ variants }: Experiment, { seed, outcomes }: Trial): string {
  const parts = outcomes.map((outcome, i) => `${variants[i]!.name}: ${told(outcome)}`);
  return `Seed ${seed}, on messages that were held out: ${parts.join('; ')}.`;
}

function told(outcome: TrialOutcome | undefined): string {
  if (!outcome) return 'the training failed';
  const { accuracy, sureness } = outcome;
  return `loss ${loss(outcome.loss)}, ${percent(accuracy)} right, sure to ${percent(sureness)}`;
}

/** Returns how large the first layer's gradients were at the end of the last run. */
export function firstGradients({ variants }: Experiment, trials: readonly Trial[]): string {
  const { outcomes } = trials.at(-1)!;
  const norms = outcomes.map(
    (outcome) => outcome?.norms.find(({ name }) => name.endsWith('.layers.0'))?.norm,
  );
  if (norms.some((norm) => norm === undefined)) return '';
  const parts = norms.map((norm, i) => `${powerOfTen(norm!)} (${variants[i]!.name})`);
  return `In the last ten steps of the last run, the gradients of the first layer have a mean norm of ${parts.join(' and ')}.`;
}

/** Returns whether the claim holds in a run: 1, or −1 if the opposite does, or 0 if neither. */
export function verdictOn({ about, factor }: Experiment, { outcomes }: Trial): number {
  // A training that failed has learned nothing.
  const [a = Infinity, b = Infinity] = outcomes.map((outcome) => outcome?.[about]);
  if (b > a * factor) return 1;
  return a > b * factor ? -1 : 0;
}

/** Returns in how many runs the claim holds. */
export function conclusion(experiment: Experiment, trials: readonly Trial[]): string {
  const verdicts = trials.map((trial) => verdictOn(experiment, trial));
  const times = (wanted: number) => verdicts.filter((each) => each === wanted).length;
  const holds = times(1);
  if (trials.length === 1) {
    const [only] = verdicts;
    if (only === 1) return 'In this run the claim holds.';
    return `In this run the claim does not hold: ${only === 0 ? 'there is no clear difference' : 'the opposite does'}.`;
  }
  const parts = [`The claim holds in ${holds} of ${counted(trials.length, 'seed')}`];
  if (times(-1) > 0) parts.push(`the opposite in ${times(-1)}`);
  if (times(0) > 0) parts.push(`there is no clear difference in ${times(0)}`);
  return `${parts.join('; ')}.`;
}

/** Returns which difference counts. */
export function rule({ about, factor, variants: [first] }: Experiment): string {
  const names = { loss: 'loss', accuracy: 'accuracy', sureness: 'sureness' };
  return `The claim holds in a run if the ${names[about]} of “${first.name}” is lower by more than ${Math.round(100 * (factor - 1))}%.`;
}

/** Returns a duration in seconds or minutes. */
export function lasting(seconds: number): string {
  if (seconds < 90) return `about ${5 * Math.max(1, Math.round(seconds / 5))} s`;
  return `about ${counted(Math.round(seconds / 60), 'minute')}`;
}
