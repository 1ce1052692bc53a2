/** One training: its curves, and what the model made of one text along the way. */
import {
  Trainer,
  type Classification,
  type Examples,
  type ModelConfig,
  type Score,
  type TrainerOptions,
  type TrainingStep,
  type TrainOptions,
} from 'glassformer';
import type { Failure } from '../../../ui/failure.ts';
import { teachFailure } from './teach-failure.ts';

/** The answer for the watched text after a step; step 0 is before the training. */
export interface Snapshot {
  text: string;
  step: number;
  answer: Classification<{ attention: true }>;
}

export type Phase = 'idle' | 'making' | 'learning' | 'paused' | 'done' | 'stopped' | 'failed';

/** How a training starts and goes on. */
export interface Plan {
  /** A model's folder, or fields of config.json. */
  start: URL | ModelConfig;
  examples: Examples | Promise<Examples>;
  options: TrainerOptions;
  train: Pick<TrainOptions, 'epochs' | 'minutes'>;
  /** Ends the training after a step for which it returns true. */
  until?: (step: TrainingStep) => boolean;
  /** Called after the last step. */
  atEnd?: (trainer: Trainer) => Promise<void>;
}

/** The number of snapshots, which are denser at the beginning. */
const snapshots = 40;
/** The time between two drawings of the curves, in milliseconds. */
const drawing = 150;

export class Learning {
  phase = $state<Phase>('idle');
  /** The text whose attention is kept as it changes; may be empty. */
  watched = $state('');
  failure = $state.raw<Failure>();
  points = $state.raw<readonly TrainingStep[]>([]);
  snapshots = $state.raw<readonly Snapshot[]>([]);
  /** The chosen snapshot; undefined: the newest. */
  chosen = $state<number>();
  trainer = $state.raw<Trainer>();

  #stopping = new AbortController();
  #resume: (() => void) | undefined;

  get running(): boolean {
    return this.phase === 'making' || this.phase === 'learning' || this.phase === 'paused';
  }

  get paused(): boolean {
    return this.phase === 'paused';
  }

  get last(): TrainingStep | undefined {
    return this.points.at(-1);
  }

  /** The last score on examples that are held out. */
  get heldOut(): Score | undefined {
    return this.points.filter((point) => point.heldOut).at(-1)?.heldOut;
  }

  /** The time spent learning, in milliseconds. */
  get milliseconds(): number {
    return this.points.reduce((sum, step) => sum + step.milliseconds, 0);
  }

  /** The tokens that were read in that time. */
  get tokens(): number {
    return this.points.reduce((sum, step) => sum + step.tokens, 0);
  }

  get snapshot(): Snapshot | undefined {
    const { chosen, snapshots: all } = this;
    return (chosen === undefined ? undefined : all[chosen]) ?? all.at(-1);
  }

  /**
   * Trains as planned, in place of an earlier training. Resolves when the training ended, for any
   * reason.
   */
  async run(plan: Plan): Promise<void> {
    this.clear();
    const stopping = (this.#stopping = new AbortController());
    const { signal } = stopping;
    this.phase = 'making';
    try {
      const examples = await plan.examples;
      const trainer = await Trainer.from(plan.start, examples, { ...plan.options, signal });
      if (signal.aborted) trainer.dispose();
      signal.throwIfAborted();
      this.trainer = trainer;
      await this.#learn(trainer, plan, signal);
      if (this.#stopping !== stopping) return;
      await plan.atEnd?.(trainer);
      if (this.#stopping === stopping) this.phase = signal.aborted ? 'stopped' : 'done';
    } catch (error) {
      if (this.#stopping !== stopping) return;
      this.phase = signal.aborted ? 'stopped' : 'failed';
      if (!signal.aborted) this.failure = teachFailure(error);
    }
  }

  async #learn(trainer: Trainer, { train, until }: Plan, signal: AbortSignal): Promise<void> {
    const take = async (step: number) => {
      const { watched: text } = this;
      if (!text.trim()) return;
      const answer = await trainer.classify(text, { attention: true });
      this.snapshots = [...this.snapshots, { text, step, answer }];
    };
    await take(0);
    if (signal.aborted) return;
    this.phase = 'learning';
    const points: TrainingStep[] = [];
    let drawn = performance.now();
    let next = 0;
    for await (const step of trainer.train(train)) {
      points.push(step);
      const { progress } = step;
      if (progress >= next) {
        await take(step.step);
        const taken = Math.floor(Math.sqrt(progress) * snapshots) + 1;
        next = Math.min((taken / snapshots) ** 2, 1);
      }
      if (performance.now() - drawn > drawing || progress === 1) {
        this.points = [...points];
        drawn = performance.now();
      }
      if (this.paused) {
        this.points = [...points];
        await new Promise<void>((resolve) => (this.#resume = resolve));
      }
      if (signal.aborted || until?.(step)) break;
    }
    this.points = points;
  }

  pause(): void {
    if (this.phase === 'learning') this.phase = 'paused';
  }

  resume(): void {
    if (this.phase !== 'paused') return;
    this.phase = 'learning';
    this.#resume?.();
  }

  /** Ends the training. What was learned is kept. */
  stop(): void {
    this.#stopping.abort();
    this.#resume?.();
  }

  /** Ends the training and forgets everything about it. */
  clear(): void {
    this.close();
    this.points = this.snapshots = [];
    this.chosen = this.failure = undefined;
  }

  /** Ends the training and frees the model. */
  close(): void {
    this.stop();
    this.trainer?.dispose();
    this.trainer = undefined;
    this.phase = 'idle';
  }
}
