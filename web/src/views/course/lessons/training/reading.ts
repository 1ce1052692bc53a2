import { Trainer, type Classifier, type Score, type TrainerOptions } from 'glassformer';
import { growth, type Point } from './growth.svelte.ts';
import { heldOut, training, type Labeled } from './sentences.ts';

/** The small Transformer that learns here, and how long. */
export const small = { encoder_layers: 2, d_model: 32, d_ff: 64, n_heads: 4 } as const;
export const epochs = 60;
/** The number of steps from one measurement of the losses to the next. */
const every = 4;

/** How it learns as a rule. */
export const usual = {
  rate: 0.005,
  warmUp: 0.2,
  smoothing: 0.1,
  dropout: 0.1,
  decay: 'linear',
  averaging: 0,
  heldOut: 0,
  vocabulary: 300,
  batchTokens: 128,
  seed: 1,
} as const;

/** The settings of the control: what differs. */
export const variants: readonly { text: string; options: TrainerOptions }[] = [
  { text: 'as usual', options: {} },
  { text: 'no label smoothing', options: { smoothing: 0 } },
  { text: 'no dropout', options: { dropout: 0 } },
  { text: 'rate × 10', options: { rate: 0.05 } },
  { text: 'rate × 10, no warm-up', options: { rate: 0.05, warmUp: 0 } },
];

/** The result of a training. */
export interface Learned {
  points: readonly Point[];
  training: Score;
  heldOut: Score;
  /** The probability of the right label for each sentence that is held out. */
  right: readonly number[];
  /** The same for the visitor's sentence, before the training and after. */
  own: { before: number; after: number };
  parameters: number;
  milliseconds: number;
}

export interface TrainingLive {
  /** The visitor's sentence, with the label that the sentiment model gives it. */
  own: Labeled;
  examples: number;
  setting: number;
  now: Learned;
  usual: Learned;
}

/** Trains a new model. Its curves are in `growth` meanwhile. */
async function learn(own: Labeled, setting: number, signal: AbortSignal): Promise<Learned> {
  const started = performance.now();
  const options = { ...usual, ...variants[setting]!.options };
  const examples = [...training, own];
  const trainer = await Trainer.from(small, examples, { ...options, signal });
  try {
    const probability = async ({ text, label }: Labeled) => {
      const { scores } = await trainer.classify(text, { signal });
      return scores.find((each) => each.label === label)!.score;
    };
    const before = await probability(own);
    const points: Point[] = [];
    const measure = async (step: number, rate: number) => {
      const [seen, unseen] = [
        await trainer.evaluate(examples, { signal }),
        await trainer.evaluate(heldOut, { signal }),
      ];
      points.push({ step, rate, training: seen.loss, heldOut: unseen.loss });
      growth.points = [...points];
      return [seen, unseen] as const;
    };
    let [seen, unseen] = await measure(0, 0);
    for await (const { step, rate, progress } of trainer.train({ epochs, signal }))
      if (step % every === 0 || progress === 1) [seen, unseen] = await measure(step, rate);
    const right: number[] = [];
    for (const each of heldOut) right.push(await probability(each));
    return {
      points,
      training: seen,
      heldOut: unseen,
      right,
      own: { before, after: await probability(own) },
      parameters: trainer.info.parameters,
      milliseconds: performance.now() - started,
    };
  } finally {
    trainer.dispose();
    growth.points = undefined;
  }
}

/** The usual training for the last sentence. */
let kept: { own: Labeled; learned: Learned } | undefined;

export async function readTraining(
  model: Classifier,
  text: string,
  setting: number,
  signal: AbortSignal,
): Promise<TrainingLive> {
  const { label } = await model.classify(text, { signal });
  const own = { text, label: label as Labeled['label'] };
  if (kept?.own.text !== text) kept = { own, learned: await learn(own, 0, signal) };
  const { learned } = kept;
  return {
    own,
    examples: training.length + 1,
    setting,
    now: setting === 0 ? learned : await learn(own, setting, signal),
    usual: learned,
  };
}

/** The number of held-out sentences with the right label. */
export const rightOf = ({ right }: Learned): number => right.filter((each) => each > 0.5).length;

/** The choices for that number; the first bound that it does not exceed is right. */
const bounds = [
  { most: 6, text: '6 or fewer: no better than a coin' },
  { most: 9, text: '7 to 9' },
  { most: 11, text: '10 or 11' },
  { most: 12, text: 'all 12' },
];
export const choices = bounds.map(({ text }) => text);
export const rightChoice = (learned: Learned): number =>
  bounds.findIndex(({ most }) => rightOf(learned) <= most);
