/** Steering the writer: a direction, a strength, two continuations and the curves over all strengths. */
import { Classifier, steeringVector, type Generator, type SteeringVector } from 'glassformer';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import { readFailure, type Failure } from '../../ui/failure.ts';
import {
  heldOut,
  perplexity,
  positiveShare,
  presets,
  steeredBy,
  strengths,
  type Preset,
  type Strength,
} from '../../panels/steering/steering.ts';

/** Long enough for a sentence. */
const mostWritten = 24;

export interface Steered {
  text: string;
  strength: number;
  plain: string;
  steered: string;
}

export class WritingSteering {
  preset = $state.raw<Preset>(presets[0]!);
  /** The layer whose output is steered, from 0. */
  layer = $state(2);
  strength = $state(0.3);
  /** Whether only the vectors of new tokens are changed. */
  onlyNew = $state(false);

  shown = $state.raw<Steered>();
  curve = $state.raw<readonly Strength[]>([]);
  direction = $state.raw<SteeringVector>();
  busy = $state(false);
  failure = $state.raw<Failure>();

  /** Says how positive a text is. */
  readonly judge = new ModelLoader<Classifier>(() => Classifier);
  #work = new AbortController();
  #of: unknown;

  /** Writes with the chosen strength, and measures the curves if the direction is new. */
  async run(model: Generator, text: string): Promise<void> {
    this.#work.abort();
    const { signal } = (this.#work = new AbortController());
    const { preset, layer, strength, onlyNew } = this;
    this.failure = undefined;
    this.busy = true;
    try {
      const name = `decoder.layers.${layer}.output`;
      const key = `${preset.name} ${name}`;
      const known = this.#of === key ? this.direction : undefined;
      const { toward, away } = preset;
      const direction = known ?? (await steeringVector(model, { name, toward, away, signal }));
      if (!known) [this.direction, this.#of, this.curve] = [direction, key, []];
      const write = this.#writer(model, text, direction, onlyNew, signal);
      const plain = await write(0);
      const steered = await write(strength);
      if (signal.aborted) return;
      this.shown = { text, strength, plain, steered };
      await this.#measure(model, direction, write, signal);
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
    if (!signal.aborted) this.busy = false;
  }

  #writer(
    model: Generator,
    text: string,
    direction: SteeringVector,
    onlyNew: boolean,
    signal: AbortSignal,
  ) {
    let length: number | undefined;
    return async (strength: number): Promise<string> => {
      if (onlyNew && length === undefined) {
        const { promptTokens } = await model.next(text, { count: 1, signal });
        length = promptTokens.length;
      }
      const patch = steeredBy(direction, strength, onlyNew ? length : 0);
      const options = { patch, sample: false, maxNewTokens: mostWritten, signal };
      return (await model.generate(text, options)).text;
    };
  }

  async #measure(
    model: Generator,
    direction: SteeringVector,
    write: (strength: number) => Promise<string>,
    signal: AbortSignal,
  ): Promise<void> {
    if (!(await this.judge.load('sentiment')) || !this.judge.model) return;
    const points: Strength[] = [];
    for (const strength of strengths) {
      const patch = steeredBy(direction, strength);
      const text = await write(strength);
      points.push({
        strength,
        positive: await positiveShare(this.judge.model, text.trim() || heldOut, signal),
        perplexity: await perplexity(model, heldOut, patch, signal),
      });
      if (signal.aborted) return;
    }
    this.curve = points;
  }

  close(): void {
    this.#work.abort();
    this.judge.close();
  }
}
