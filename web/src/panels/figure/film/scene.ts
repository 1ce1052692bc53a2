/** The shots of a film with their times, from the stations of the figure and the trace of a run. */
import type { PictureRegion, Pixels, TracedTensor } from 'glassformer';
import type { StackName, Words } from '../../../ui/figured.ts';
import { percent } from '../../../ui/text/format.ts';
import { named, type Stack, type Station } from '../figure.ts';
import { stationsOf } from '../stations.ts';
import { captionOf } from './captions.ts';
import { clearestHead } from './links.ts';
import type { Answer, Inside, Lane, ReadVector, Scene, Shot } from './shot.ts';

export type Trace = Readonly<Record<string, TracedTensor>>;

/** The most tokens on the screen. */
export const mostLanes = 12;

const inBox = (tensor: string): string =>
  tensor
    .replace(/embed_positions$/, 'embeddings')
    .replace(/_attn\.weights$/, '_attn.output')
    .replace(/fc1$/, 'fc2');

/** Returns the name of the vectors after a station's box. */
export const afterName = ({ box, layer }: Station): string | undefined =>
  box.tensor === undefined || box.part === 'answer' ? undefined : inBox(named(box.tensor, layer));

/** Returns the names of the tensors that a film needs. */
export function namesFor(stacks: readonly Stack[], translates: boolean): string[] {
  const names = stationsOf(stacks).flatMap((station) => {
    const { box, layer } = station;
    if (box.tensor === undefined || box.part === 'answer') return [];
    return [named(box.tensor, layer), afterName(station)!];
  });
  return [...new Set(names), ...(translates ? ['logits'] : [])];
}

/** Returns the rows that the screen has room for: of a text that is continued, the last ones. */
export function lanesOf(stack: StackName, { read, picture }: Words, alone: boolean): Lane[] {
  const labels = read[stack] ?? [];
  const all = labels.map((label, row) => ({ row, label, place: picture?.places[row] }));
  if (all.length <= mostLanes) return all;
  if (picture) {
    const ink = all.map(({ place }) => (place ? contrastIn(picture.pixels, place) : Infinity));
    const kept = [...all].sort((a, b) => ink[b.row]! - ink[a.row]!).slice(0, mostLanes);
    return kept.sort((a, b) => a.row - b.row);
  }
  if (stack === 'decoder' && alone) return [all[0]!, ...all.slice(1 - mostLanes)];
  const half = mostLanes / 2;
  return [...all.slice(0, half), ...all.slice(-half)];
}

/** Returns the difference between the brightest and the darkest value in a part of a picture. */
function contrastIn({ width, height, data }: Pixels, place: PictureRegion): number {
  const channels = data.length / (width * height);
  let [least, most] = [255, 0];
  for (let y = Math.round(place.top); y < place.top + place.height - 0.5; y++)
    for (let x = Math.round(place.left); x < place.left + place.width - 0.5; x++) {
      const value = data[(y * width + x) * channels] ?? 0;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  return most - least;
}

/** Returns the probabilities of all tokens after a row, by softmax. */
function softmaxOf({ shape, data }: TracedTensor, row: number): Float32Array {
  const width = shape.at(-1)!;
  const own = data.subarray(row * width, (row + 1) * width);
  const most = own.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = own.map((value) => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Returns a row's largest probabilities, the largest first. */
const bestOf = (logits: TracedTensor | undefined, row: number): Float32Array =>
  logits ? softmaxOf(logits, row).sort().reverse().slice(0, 12) : new Float32Array();

/** Returns the vector that an answer is read from. */
function readFrom(
  states: TracedTensor | undefined,
  { stack, box }: Station,
): ReadVector | undefined {
  if (!states) return undefined;
  const width = states.shape.at(-1)!;
  const rows = states.data.length / width;
  const mean = box.title.startsWith('Mean');
  const row = stack === 'decoder' ? rows - 1 : 0;
  const own = states.data.slice(row * width, (row + 1) * width);
  if (mean) for (let i = 0; i < width; i++) own[i] = meanOf(states.data, i, width);
  return { vector: { shape: [1, width], data: own }, row: mean ? undefined : row };
}

/** Returns the mean of a column. */
function meanOf(data: Float32Array, column: number, width: number): number {
  let sum = 0;
  for (let at = column; at < data.length; at += width) sum += data[at]!;
  return (sum * width) / data.length;
}

/** Milliseconds for each part: the first time, when it is explained, and in later layers. */
const durations: Readonly<Record<string, readonly [number, number]>> = {
  tokens: [4200, 3200],
  embedding: [4400, 1600],
  positions: [4400, 1600],
  norm: [3800, 750],
  attention: [6400, 2400],
  cross: [6400, 2600],
  add: [3800, 750],
  feed: [4600, 1100],
  answer: [6000, 6000],
};

/** Returns the film of a run. Tensors that the trace lacks are not shown. */
export function sceneOf(stacks: readonly Stack[], words: Words, trace: Trace): Scene {
  const alone = stacks.length === 1;
  const lanes = Object.fromEntries(
    stacks.map(({ name }) => [name, lanesOf(name, words, alone)]),
  ) as Record<StackName, Lane[]>;
  const { translation } = words;
  const { logits } = trace;
  const answers = [...(words.scores ?? [])]
    .sort((a, b) => b.score - a.score)
    .map(({ label, score }): Answer => ({ text: label, probability: score }));
  const written = translation?.tokens.map(({ text, id }, row) => ({
    text,
    probability: logits ? softmaxOf(logits, row)[id]! : NaN,
  }));
  const shots: Shot[] = [];
  let start = 0;
  const add = (shot: Omit<Shot, 'start'>) => {
    shots.push({ ...shot, start });
    start += shot.duration;
  };
  const isPicture = words.picture !== undefined;
  add({
    kind: 'title',
    duration: 3600,
    lanes: [],
    caption: { title: 'The film', text: isPicture ? 'A picture.' : words.text },
  });
  const seen = new Set<string>();
  let before: TracedTensor | undefined;
  /** The vectors that the next sum adds to. */
  let stream: TracedTensor | undefined;
  for (const station of stationsOf(stacks)) {
    const { box, layer, stack } = station;
    if (box.part === 'tokens') before = stream = undefined;
    const tensor = box.tensor === undefined ? undefined : trace[named(box.tensor, layer)];
    const after = trace[afterName(station) ?? ''];
    const shown = lanes[stack];
    const insideOf = (): Inside | undefined => {
      switch (box.part) {
        case 'embedding':
          return { kind: 'table' };
        case 'positions':
          return tensor && { kind: 'added', tensor };
        case 'norm':
          return { kind: 'spread' };
        case 'add':
          return stream && { kind: 'added', tensor: stream };
        case 'feed':
          return tensor && { kind: 'hidden', tensor };
        case 'attention':
        case 'cross': {
          const keys = box.part === 'cross' ? lanes.encoder : shown;
          const of = { queries: shown, keys };
          const links = tensor && clearestHead(tensor, of, box.part === 'cross');
          return links && { kind: 'links', links, keys, ownKeys: box.part === 'attention' };
        }
        case 'answer':
          if (written) {
            const best = shown.map(({ row }) => bestOf(logits, row));
            return { kind: 'written', answers: shown.map(({ row }) => written[row]!), best };
          }
          return { kind: 'answers', answers: answers.slice(0, 5), read: readFrom(before, station) };
        default:
          return undefined;
      }
    };
    const inside = insideOf();
    const first = !seen.has(`${box.part} ${box.title}`);
    seen.add(`${box.part} ${box.title}`);
    const content = { station, lanes: shown, before, after, inside };
    const caption = captionOf({ ...content, first, stacks, words });
    add({ kind: 'station', duration: durations[box.part]![first ? 0 : 1], caption, ...content });
    before = after ?? before;
    if (['embedding', 'positions', 'add'].includes(box.part) || !stream) stream = before;
  }
  const answer = translation ? undefined : answers[0];
  const doubtful = written?.reduce((a, b) => (b.probability < a.probability ? b : a), written[0]!);
  add({
    kind: 'end',
    duration: 4600,
    lanes: [],
    caption: {
      title: 'The answer',
      text: translation?.text ?? captionEnd(answer),
    },
  });
  return {
    ...{ shots, duration: start, stacks, text: words.text, answer, doubtful },
    picture: words.picture?.pixels,
    translation: translation?.text,
  };
}

const captionEnd = (answer: Answer | undefined): string =>
  answer ? `${answer.text}, ${percent(answer.probability)}` : '';

/** Returns the index of the shot at a time. */
export function shotAt({ shots }: Scene, time: number): number {
  const next = shots.findIndex(({ start }) => start > time);
  return (next < 0 ? shots.length : Math.max(1, next)) - 1;
}

/** Returns the time at which a shot shows all that it has to show. */
export const stillOf = ({ start, duration }: Shot): number => start + duration - 1;

/** A part of a film, in milliseconds. */
export interface Span {
  from: number;
  to: number;
}

/** Returns the times of the frames of a part of a film, in milliseconds. */
export function frameTimes({ from, to }: Span, perSecond: number): number[] {
  const count = Math.max(1, Math.round(((to - from) * perSecond) / 1000));
  return Array.from({ length: count }, (_, i) => from + (i * 1000) / perSecond);
}
