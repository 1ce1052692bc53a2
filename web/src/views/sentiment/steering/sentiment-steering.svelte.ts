/** Steering the sentiment model: the verdict with a push, and how many known verdicts survive it. */
import type { Classifier } from 'glassformer';
import { SteeringState, type SteeringRun } from '../../../panels/steering/steering-run.svelte.ts';
import { positiveShare, steeredBy, strengths } from '../../../panels/steering/steering.ts';
import { probes } from '../../../panels/verdict/probes.ts';

/** A text's probability of “positive”. */
export interface SteeredVerdict {
  strength: number;
  plain: number;
  steered: number;
}

/** A point of the curves. */
export interface VerdictStrength {
  strength: number;
  positive: number;
  /** The share of the probes that are still judged right. */
  right: number;
}

export class SentimentSteering extends SteeringState<Classifier, SteeredVerdict, VerdictStrength> {
  protected readonly stack = 'encoder';

  protected curveOf(text: string): string {
    return text;
  }

  protected async answer(run: SteeringRun<Classifier>): Promise<SteeredVerdict> {
    const { strength } = this;
    return { strength, plain: await positive(run, 0), steered: await positive(run, strength) };
  }

  protected async measure(run: SteeringRun<Classifier>): Promise<readonly VerdictStrength[]> {
    const points: VerdictStrength[] = [];
    for (const strength of strengths) {
      let right = 0;
      for (const [i, text] of probes.entries()) {
        const isPositive = (await positive({ ...run, text }, strength)) > 0.5;
        if (isPositive === (i % 2 === 0)) right++; // in turn a positive and a negative one
      }
      const share = right / probes.length;
      points.push({ strength, positive: await positive(run, strength), right: share });
    }
    return points;
  }
}

function positive(run: SteeringRun<Classifier>, strength: number): Promise<number> {
  const { model, text, direction, signal } = run;
  return positiveShare(model, text, steeredBy(direction, strength), signal);
}
