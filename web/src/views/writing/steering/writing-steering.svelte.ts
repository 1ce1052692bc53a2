/** Steering the writer: two continuations, and how positive and how sensible it writes. */
import { Classifier, type Generator } from 'glassformer';
import { ModelLoader } from '../../../models/model-loader.svelte.ts';
import { SteeringState, type SteeringRun } from '../../../panels/steering/steering-run.svelte.ts';
import {
  heldOut,
  perplexity,
  positiveShare,
  steeredBy,
  strengths,
} from '../../../panels/steering/steering.ts';

/** Long enough for a sentence. */
const mostWritten = 24;

export interface Steered {
  text: string;
  strength: number;
  plain: string;
  steered: string;
}

/** A point of the curves. */
export interface Strength {
  strength: number;
  /** The probability that the steered text is positive. */
  positive: number;
  perplexity: number;
}

export class WritingSteering extends SteeringState<Generator, Steered, Strength> {
  /** Whether only the vectors of new tokens are changed. */
  onlyNew = $state(false);

  /** Says how positive a text is. */
  readonly judge = new ModelLoader<Classifier>(() => Classifier);
  protected readonly stack = 'decoder';

  protected curveOf(text: string): string {
    return JSON.stringify([text, this.onlyNew]);
  }

  protected async answer(run: SteeringRun<Generator>): Promise<Steered> {
    const { text } = run;
    const { strength } = this;
    const write = this.#writer(run);
    return { text, strength, plain: await write(0), steered: await write(strength) };
  }

  protected async measure(run: SteeringRun<Generator>): Promise<readonly Strength[]> {
    const { model, direction, signal } = run;
    if (!(await this.judge.load('sentiment')) || !this.judge.model) return [];
    const write = this.#writer(run);
    const points: Strength[] = [];
    for (const strength of strengths) {
      const text = await write(strength);
      points.push({
        strength,
        positive: await positiveShare(this.judge.model, text.trim() || heldOut, [], signal),
        perplexity: await perplexity(model, heldOut, steeredBy(direction, strength), signal),
      });
    }
    return points;
  }

  #writer({ model, text, direction, signal }: SteeringRun<Generator>) {
    const { onlyNew } = this;
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

  override close(): void {
    super.close();
    this.judge.close();
  }
}
