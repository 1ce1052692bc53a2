import type { Architecture, AttentionMap, Classifier, ImageClassification } from 'glassformer';
import { examples } from '../../../../panels/pictures/digits.ts';
import { pictureOf, side, strokesIn } from '../../../../panels/pictures/drawing.ts';
import type { Picture } from '../../../../panels/pictures/patches.ts';
import { percent } from '../../../../ui/text/format.ts';
import type { Reading } from '../../lesson.ts';
import { fullAttention, linearAttention, randomRows, type Sizes } from './costs.ts';

/** The lengths that are measured: 2 to these powers. */
export const powers = [4, 5, 6, 7, 8, 9] as const;
export const lengthOf = (power: number): number => 2 ** power;

/** Attention weights of one layer, the mean of its heads. */
export interface Weights {
  name: string;
  weights: Float32Array;
  queries: number;
  keys: number;
}

/** A model that is made of the same blocks. */
export interface Member {
  family: string;
  /** Our model of this kind. */
  model: string;
  /** What differs. */
  mask: string;
  positions: string;
  objective: string;
  /** For example "4 layers, 8 heads, d_model 128". */
  size: string;
  /** Its stacks: how many blocks, and the parts of each. */
  stacks: readonly { count: number; parts: readonly string[] }[];
  parameters: number;
  answer: string;
  attention: readonly Weights[];
}

/** The measured times, in milliseconds. */
export interface Timing {
  n: number;
  model: number;
  full: number;
  linear: number;
}

export interface FamiliesLive {
  members: readonly Member[];
  picture: Picture;
  digit: ImageClassification;
  drawn: number;
  sizes: Sizes;
  timings: readonly Timing[];
  /** The length that the control chose. */
  n: number;
}

/** Returns the mean of the heads of a layer. */
function meanOf(name: string, map: AttentionMap, layer = 0): Weights {
  const weights = new Float32Array(map.queries * map.keys);
  for (let head = 0; head < map.heads; head++)
    map.at(layer, head).forEach((weight, i) => (weights[i]! += weight / map.heads));
  return { name, weights, queries: map.queries, keys: map.keys };
}

const positionNames: Partial<Record<string, string>> = {
  sinusoidal: 'sines and cosines',
  learned: 'learned vectors',
};

/** Describes a model's size and positions. */
function describe({
  encoder,
  decoder,
}: Architecture): Pick<Member, 'size' | 'positions' | 'stacks'> {
  const stack = (encoder ?? decoder)!;
  const counts = [encoder, decoder].flatMap((each) => (each ? [each.layers.length] : []));
  return {
    stacks: [
      ...(encoder ? [{ count: encoder.layers.length, parts: ['attention', 'feed-forward'] }] : []),
      ...(decoder
        ? [
            {
              count: decoder.layers.length,
              parts: ['masked attention', ...(encoder ? ['cross-attention'] : []), 'feed-forward'],
            },
          ]
        : []),
    ],
    size: `${counts.join(' + ')} layers, ${stack.layers[0]!.nHeads} heads, d_model ${stack.dModel}`,
    // A model of pictures has learned ones.
    positions: positionNames[stack.positions ?? 'learned'] ?? stack.positions,
  };
}

/** At least this many runs are timed, and more until they take this many milliseconds together. */
export const leastRuns = 5;
const leastTime = 25;

/** Returns the time of the fastest of many runs; the first one only warms up. */
async function timed(run: () => unknown): Promise<number> {
  await run();
  let best = Infinity;
  for (let runs = 0, total = 0; runs < leastRuns || total < leastTime; runs++) {
    const start = performance.now();
    await run();
    const time = performance.now() - start;
    total += time;
    best = Math.min(best, time);
  }
  return best;
}

const timings = new WeakMap<Classifier, readonly Timing[]>();

/** Measures the model and both kinds of attention at each length, once. */
async function measured(
  model: Classifier,
  { dHead }: Sizes,
  signal: AbortSignal,
): Promise<readonly Timing[]> {
  const known = timings.get(model);
  if (known) return known;
  const all: Timing[] = [];
  for (const n of powers.map(lengthOf)) {
    // "good" is one token.
    const text = Array.from({ length: n }, () => 'good').join(' ');
    const [q, k, v] = [1, 2, 3].map((seed) => randomRows(n, dHead, seed)) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    all.push({
      n,
      model: await timed(() => model.classify(text, { signal })),
      full: await timed(() => fullAttention(q, k, v, dHead)),
      linear: await timed(() => linearAttention(q, k, v, dHead)),
    });
  }
  timings.set(model, all);
  return all;
}

export async function readFamilies({
  model,
  text,
  setting,
  signal,
  open,
}: Reading<'sentiment'>): Promise<FamiliesLive> {
  // One after the other, so that the progress of each is shown.
  const digits = await open('digits');
  const writer = await open('writer');
  const translator = await open('en-de');
  const words = text.match(/[\p{L}\p{N}’'-]+/gu)?.length ?? 0;
  const drawn = words % 10;
  const data = pictureOf(strokesIn(examples[drawn]!.strokes));
  const picture = { width: side, height: side, data };
  const [verdict, written, translated, digit] = await Promise.all([
    model.classify(text, { attention: true, signal }),
    writer.generate(text, { maxNewTokens: 12, sample: false, attention: true, signal }),
    translator.translate(text, { beams: 1, maxLength: 48, attention: true, signal }),
    digits.classify(picture, { attention: true, signal }),
  ]);
  const sentence = translated.sentences[0]!;
  const { dModel: d, layers } = model.architecture.encoder!;
  const sizes = { d, dHead: layers[0]!.dHead, dFf: layers[0]!.dFf };
  return {
    members: [
      {
        family: 'BERT: encoder only',
        model: 'sentiment',
        mask: 'none: all tokens see all',
        objective: 'BERT: guess hidden words, then learn a task. Ours: only the labels',
        answer: `${verdict.label}, ${percent(verdict.score)}`,
        attention: [meanOf('self', verdict.attention.encoder)],
        parameters: model.info.parameters,
        ...describe(model.architecture),
      },
      {
        family: 'GPT: decoder only',
        model: 'writer',
        mask: 'causal: only tokens before',
        objective: 'predict the next token of any text',
        answer: `…${written.text}…`,
        attention: [meanOf('self', written.attention.decoder)],
        parameters: writer.info.parameters,
        ...describe(writer.architecture),
      },
      {
        family: 'T5: encoder and decoder',
        model: 'en-de',
        mask: 'none, causal, and cross',
        objective: 'T5: fill in missing spans. Ours: translations',
        answer: sentence.text,
        attention: [
          meanOf('encoder', sentence.attention.encoder),
          ...(sentence.attention.decoder ? [meanOf('decoder', sentence.attention.decoder)] : []),
          meanOf('cross', sentence.attention.cross),
        ],
        parameters: translator.info.parameters,
        ...describe(translator.architecture),
      },
      {
        family: 'ViT: encoder of patches',
        model: 'digits',
        mask: 'none: all patches see all',
        objective: 'the label of a picture, read from a class token',
        answer: `${digit.label}, ${percent(digit.score)}`,
        attention: [meanOf('self', digit.attention.encoder)],
        parameters: digits.info.parameters,
        ...describe(digits.architecture),
      },
    ],
    picture,
    digit,
    drawn,
    sizes,
    timings: await measured(model, sizes, signal),
    n: lengthOf(Math.round(setting)),
  };
}

/** The choices for the length at which full attention costs as much as the rest; one is right. */
export function choicesFor(even: number): { choices: readonly string[]; right: number } {
  const numbers = [Math.round(even / 48), Math.round(even / 6), even, 10 * even];
  return {
    choices: numbers.map((number) => `about ${number.toLocaleString('en')}`),
    right: 2,
  };
}
