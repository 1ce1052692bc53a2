/** Steering a model: a direction, a strength, the steered answer and the curves over all strengths. */
import { steeringVector, type SteerableModel, type SteeringVector } from 'glassformer';
import { readFailure, type Failure } from '../../ui/failure.ts';
import type { Preset } from './steering.ts';

/** What one run works with. */
export interface SteeringRun<Model> {
  model: Model;
  text: string;
  direction: SteeringVector;
  signal: AbortSignal;
}

export abstract class SteeringState<Model extends SteerableModel, Shown, Point> {
  preset: Preset;
  /** The layer whose output is steered, from 0. */
  layer: number;
  strength = $state(0.3);

  shown = $state.raw<Shown>();
  curve = $state.raw<readonly Point[]>([]);
  direction = $state.raw<SteeringVector>();
  busy = $state(false);
  failure = $state.raw<Failure>();

  #work = new AbortController();
  /** What the direction and the curves were computed from. */
  #directionOf = '';
  #curveOf = '';

  constructor(
    readonly presets: readonly Preset[],
    layer = 2,
  ) {
    this.preset = $state.raw(presets[0]!);
    this.layer = $state(layer);
  }

  /** The stack whose stream is steered. */
  protected abstract readonly stack: 'encoder' | 'decoder';
  /** Returns what the curves depend on beside the direction. */
  protected abstract curveOf(text: string): string;
  /** Answers with the chosen strength and without a push. */
  protected abstract answer(run: SteeringRun<Model>): Promise<Shown>;
  protected abstract measure(run: SteeringRun<Model>): Promise<readonly Point[]>;

  /** Answers with the chosen strength; measures the curves if they depend on what changed. */
  async run(model: Model, text: string): Promise<void> {
    this.#work.abort();
    const { signal } = (this.#work = new AbortController());
    this.failure = undefined;
    this.busy = true;
    try {
      const direction = await this.#directionFrom(model, signal);
      const run = { model, text, direction, signal };
      const curveOf = JSON.stringify([this.#directionOf, this.curveOf(text)]);
      if (this.#curveOf !== curveOf) this.curve = [];
      const shown = await this.answer(run);
      if (signal.aborted) return;
      this.shown = shown;
      if (this.#curveOf !== curveOf || this.curve.length === 0) {
        const curve = await this.measure(run);
        if (signal.aborted) return;
        [this.curve, this.#curveOf] = [curve, curveOf];
      }
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
    if (!signal.aborted) this.busy = false;
  }

  async #directionFrom(model: Model, signal: AbortSignal): Promise<SteeringVector> {
    const name = `${this.stack}.layers.${this.layer}.output`;
    const of = JSON.stringify([this.preset.name, name]);
    if (this.direction && this.#directionOf === of) return this.direction;
    const { toward, away } = this.preset;
    const direction = await steeringVector(model, { name, toward, away, signal });
    signal.throwIfAborted();
    [this.direction, this.#directionOf] = [direction, of];
    return direction;
  }

  close(): void {
    this.#work.abort();
  }
}
