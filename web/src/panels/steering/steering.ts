/** Steering a model on the page: presets of texts, the strength, and what it does to answers. */
import type { Classifier, Generator, Patch, SteeringVector } from 'glassformer';

export interface Preset {
  name: string;
  /** The two ends of the slider. */
  more: string;
  less: string;
  toward: readonly string[];
  away: readonly string[];
  /** What it does badly. */
  note: string;
}

export const presets: readonly Preset[] = [
  {
    name: 'praise – blame',
    more: 'praise',
    less: 'blame',
    toward: [
      'This film is a wonderful, moving and beautiful story.',
      'I loved every minute of it, the best film of the year.',
      'A great cast and a brilliant script.',
      'An excellent film, funny and warm.',
      'It is a masterpiece, and I will see it again.',
    ],
    away: [
      'This film is a terrible, boring and ugly story.',
      'I hated every minute of it, the worst film of the year.',
      'A bad cast and an awful script.',
      'A dreadful film, dull and cold.',
      'It is a waste of time, and I will never see it again.',
    ],
    note: 'Strong praise repeats itself: the direction raises a few words, not a plan.',
  },
  {
    name: 'question – statement',
    more: 'question',
    less: 'statement',
    toward: [
      'Why is this film so long?',
      'Who wrote this script?',
      'Is it worth the money?',
      'What happened to the story?',
      'Did you like the end?',
    ],
    away: [
      'This film is so long.',
      'He wrote this script.',
      'It is worth the money.',
      'Nothing happened to the story.',
      'I liked the end.',
    ],
    note: 'The last token of the two lists differs: a good part of the direction is only “?” or “.”.',
  },
];

/** For a translator to a language that tells a stranger from a friend. */
export const formality: Preset = {
  name: 'formal – informal',
  more: 'Sie',
  less: 'du',
  toward: [
    'Good morning, Mr. Smith. How are you?',
    'Madam, may I ask for your name?',
    'Sir, would you please sign here?',
    'Ladies and gentlemen, you are welcome.',
    'Would you be so kind as to help me, sir?',
  ],
  away: [
    'Hey Tom, how are you?',
    'Hey, what is your name?',
    'Mom, will you sign it?',
    'Hi Anna, you are welcome.',
    'Come on, buddy, help me!',
  ],
  note: 'Both lists are English: no German word was given.',
};

/** How far the slider goes, in multiples of the mean length of the stream's vectors. */
export const strongest = 0.6;
export const strengths = [-0.6, -0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45, 0.6] as const;

/** Returns the patch that adds a direction, `strength` times as long as the stream's vectors. */
export function steeredBy(
  { name, vector, norm, streamNorm }: SteeringVector,
  strength: number,
  from = 0,
): Patch[] {
  if (strength === 0 || norm === 0) return [];
  return [{ name, add: vector, scale: (strength * streamNorm) / norm, from }];
}

/** A text whose perplexity says whether the model still writes sensibly. */
export const heldOut =
  'We saw this one on a rainy Sunday, and nobody looked at the clock. The story takes its time, but the two leads are so good together that it hardly matters.';

/** Returns e to the mean of −log p of a text's tokens, each given those before it. */
export async function perplexity(
  model: Generator,
  text: string,
  patch: readonly Patch[],
  signal: AbortSignal,
): Promise<number> {
  const { trace, promptTokens } = await model.next(text, {
    count: 1,
    trace: ['logits'],
    patch,
    signal,
  });
  const { shape, data } = (trace as Record<string, { shape: number[]; data: Float32Array }>)
    .logits!;
  const [rows = 0, vocabulary = 0] = shape;
  let sum = 0;
  for (let row = 0; row + 1 < rows; row++) {
    const logits = data.subarray(row * vocabulary, (row + 1) * vocabulary);
    const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
    const total = logits.reduce((all, logit) => all + Math.exp(logit - most), 0);
    sum += most + Math.log(total) - logits[promptTokens[row + 1]!.id]!;
  }
  return Math.exp(sum / Math.max(1, rows - 1));
}

/** Returns the probability that a text is positive. */
export async function positiveShare(
  judge: Classifier,
  text: string,
  patch: readonly Patch[],
  signal: AbortSignal,
): Promise<number> {
  const { scores } = await judge.classify(text, { patch, signal });
  return scores.at(-1)!.score;
}
