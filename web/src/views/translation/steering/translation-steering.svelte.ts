/** Steering the translator to German: how it addresses “you”, and what else changes. */
import type { Translator } from 'glassformer';
import { sentences } from '../../../panels/alignment/sentences.ts';
import { SteeringState, type SteeringRun } from '../../../panels/steering/steering-run.svelte.ts';
import { steeredBy, strengths } from '../../../panels/steering/steering.ts';

/** Sentences whose translation says “du” or “Sie”. */
export const addressing: readonly string[] = [
  'Can you help me?',
  'Where do you live?',
  'I saw you in the park.',
  'Do you like the book?',
  'You are too late.',
  'What is your name?',
  'Please give me your coat.',
  'Have you seen my dog?',
];

/** Sentences without “you”. */
export const others = sentences.filter((sentence) => !/\byou\b/i.test(sentence));

/** Whether German addresses a stranger: in these sentences nothing else is spelled so. */
export const isFormal = (german: string): boolean =>
  /\b(?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)\b/.test(german);

export interface SteeredTranslation {
  strength: number;
  plain: string;
  steered: string;
}

/** A point of the curves: shares of sentences. */
export interface AddressStrength {
  strength: number;
  formal: number;
  /** Others whose translation stays the same. */
  same: number;
}

export class TranslationSteering extends SteeringState<
  Translator,
  SteeredTranslation,
  AddressStrength
> {
  protected readonly stack = 'encoder';

  protected curveOf(): string {
    return '';
  }

  protected async answer(run: SteeringRun<Translator>): Promise<SteeredTranslation> {
    const { strength } = this;
    return { strength, plain: await steered(run, 0), steered: await steered(run, strength) };
  }

  protected async measure(run: SteeringRun<Translator>): Promise<readonly AddressStrength[]> {
    const plain: string[] = [];
    for (const text of others) plain.push(await steered({ ...run, text }, 0));
    const points: AddressStrength[] = [];
    for (const strength of strengths) {
      let [formal, same] = [0, 0];
      for (const text of addressing) {
        if (isFormal(await steered({ ...run, text }, strength))) formal++;
      }
      for (const [i, text] of others.entries()) {
        if ((await steered({ ...run, text }, strength)) === plain[i]) same++;
      }
      points.push({ strength, formal: formal / addressing.length, same: same / others.length });
    }
    return points;
  }
}

async function steered(run: SteeringRun<Translator>, strength: number): Promise<string> {
  const { model, text, direction, signal } = run;
  const patch = steeredBy(direction, strength);
  return (await model.translate(text, { patch, beams: 1, signal })).text;
}
