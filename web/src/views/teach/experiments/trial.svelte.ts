/** An experiment that runs: two trainings, one after the other, and what was measured. */
import type { GradientNorm, Trainer } from 'glassformer';
import { Learning } from '../learning/learning.svelte.ts';
import { heldOut, meanNorms, type Series } from '../learning/series.ts';
import { messages } from '../messages.ts';
import type { Experiment, Measures } from './experiments.ts';

/** The last measurement of one training, on the examples that are held out. */
export interface TrialOutcome extends Measures {
  norms: readonly GradientNorm[];
  /** The accuracy at each measurement. */
  accuracies: Series['values'];
}

/** The number of kept messages on which the model's sureness is measured. */
const asked = 200;

/** Returns the mean probability of the model's own answers to messages that it was not trained on. */
async function surenessOf(trainer: Trainer): Promise<number> {
  const lines = (await messages('test')).trim().split('\n').slice(0, asked);
  let sum = 0;
  for (const line of lines)
    sum += (await trainer.classify(line.slice(line.indexOf('\t') + 1))).score;
  return sum / lines.length;
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
  /** The seed that is running, and the number of runs of which it is one. */
  progress = $state.raw<{ run: number; of: number }>();
  /** How long the last run took, in seconds. */
  seconds = $state<number>();
  #seed = 0;
  #stopped = false;

  constructor(experiment: Experiment) {
    this.experiment = experiment;
  }

  get running(): boolean {
    return this.progress !== undefined;
  }

  /** Runs both trainings with each of the next seeds. */
  async run(seeds: number): Promise<void> {
    this.#stopped = false;
    for (let i = 0; i < seeds && !this.#stopped; i++) {
      this.progress = { run: i + 1, of: seeds };
      const start = performance.now();
      await this.#runSeed();
      if (!this.#stopped) this.seconds = (performance.now() - start) / 1000;
      if (this.learnings.some(({ failure }) => failure)) break;
    }
    this.progress = undefined;
  }

  async #runSeed(): Promise<void> {
    const seed = ++this.#seed;
    for (const learning of this.learnings) learning.clear();
    const outcomes: (TrialOutcome | undefined)[] = [];
    for (const [i, learning] of this.learnings.entries()) {
      const sureness = await this.#learn(i, learning, seed);
      if (this.#stopped) return;
      outcomes.push(outcomeOf(learning, sureness));
    }
    const [first, second] = outcomes;
    this.trials = [...this.trials, { seed, outcomes: [first, second] }];
  }

  async #learn(i: number, learning: Learning, seed: number): Promise<number> {
    let sureness = NaN;
    const { config, options, epochs, variants } = this.experiment;
    const variant = variants[i]!;
    await learning.run({
      start: { ...config, ...variant.config },
      examples: messages('train'),
      options: { ...options, ...variant.options, seed },
      train: { epochs },
      atEnd: async (trainer) => {
        sureness = await surenessOf(trainer);
      },
    });
    learning.trainer?.dispose();
    return sureness;
  }

  stop(): void {
    this.#stopped = true;
    for (const learning of this.learnings) learning.close();
  }
}

function outcomeOf(learning: Learning, sureness: number): TrialOutcome | undefined {
  const { phase, heldOut: last, points } = learning;
  if (phase !== 'done' || !last) return undefined;
  const accuracies = heldOut(points, ({ accuracy }) => accuracy);
  return { ...last, sureness, norms: meanNorms(points), accuracies };
}
