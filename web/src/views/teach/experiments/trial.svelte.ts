/** An experiment that runs: two trainings, one after the other, and what was measured. */
import type { GradientNorm } from 'glassformer';
import { Learning } from '../learning/learning.svelte.ts';
import { meanNorms } from '../learning/series.ts';
import { messages } from '../messages.ts';
import type { Experiment } from './experiments.ts';

/** The last measurement of one training, on the examples that are held out. */
export interface TrialOutcome {
  loss: number;
  accuracy: number;
  norms: readonly GradientNorm[];
}

/** The outcomes of both trainings with one seed. An undefined one failed. */
export interface Trial {
  seed: number;
  outcomes: readonly [TrialOutcome | undefined, TrialOutcome | undefined];
}

export class Running {
  readonly experiment: Experiment;
  readonly learnings = [new Learning(), new Learning()] as const;
  trials = $state.raw<readonly Trial[]>([]);
  #seed = 0;
  #stopped = false;

  constructor(experiment: Experiment) {
    this.experiment = experiment;
  }

  get running(): boolean {
    return this.learnings.some(({ running }) => running);
  }

  /** Runs both trainings with the next seed. */
  async run(): Promise<void> {
    const seed = ++this.#seed;
    this.#stopped = false;
    for (const learning of this.learnings) learning.clear();
    const outcomes: (TrialOutcome | undefined)[] = [];
    for (const [i, learning] of this.learnings.entries()) {
      await this.#learn(i, learning, seed);
      if (this.#stopped) return;
      outcomes.push(outcomeOf(learning));
    }
    const [first, second] = outcomes;
    this.trials = [...this.trials, { seed, outcomes: [first, second] }];
  }

  async #learn(i: number, learning: Learning, seed: number): Promise<void> {
    const { config, options, epochs, variants } = this.experiment;
    const variant = variants[i]!;
    await learning.run({
      start: { ...config, ...variant.config },
      examples: messages('train'),
      options: { ...options, ...variant.options, seed },
      train: { epochs },
    });
    learning.trainer?.dispose();
  }

  stop(): void {
    this.#stopped = true;
    for (const learning of this.learnings) learning.close();
  }
}

function outcomeOf({ phase, heldOut, points }: Learning): TrialOutcome | undefined {
  if (phase !== 'done' || !heldOut) return undefined;
  return { ...heldOut, norms: meanNorms(points) };
}
