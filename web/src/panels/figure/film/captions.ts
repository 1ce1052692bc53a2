/** The captions of a film: one or two short sentences on each part, with numbers of the run. */
import type { TracedTensor } from 'glassformer';
import type { Words } from '../../../ui/figured.ts';
import { counted, percent } from '../../../ui/text/format.ts';
import type { Stack, Station } from '../figure.ts';
import { sentenceOf } from '../sentences.ts';
import type { HeadLinks } from './links.ts';
import type { Caption, Inside, Lane } from './shot.ts';

interface Told {
  station: Station;
  lanes: readonly Lane[];
  after?: TracedTensor | undefined;
  inside?: Inside | undefined;
  /** Whether the film has not shown such a part yet. */
  first: boolean;
  stacks: readonly Stack[];
  words: Words;
}

export function captionOf(told: Told): Caption {
  const { station, stacks } = told;
  const { stack, layer, box } = station;
  const stackName = stacks.length > 1 ? (stack === 'encoder' ? 'Encoder' : 'Decoder') : undefined;
  const count = stacks.find(({ name }) => name === stack)?.count;
  const layerName = layer === undefined ? undefined : `layer ${layer + 1} of ${count ?? '?'}`;
  const places = [stackName, layerName].filter((each) => each !== undefined).join(', ');
  const place = places.replace(/^./, (letter) => letter.toUpperCase());
  return { title: [place, box.title].filter(Boolean).join(' · '), text: textOf(told) };
}

const quoted = (label: string): string => `“${label}”`;
/** Within a sentence: a word in quotes, or a patch by its place. */
const within = (label: string, { picture }: Words): string => picture ? `the ${label}` : quoted(label); // prettier-ignore

function textOf(told: Told): string {
  const { station, stacks, inside, words } = told;
  const { stack, box, layer } = station;
  switch (box.part) {
    case 'tokens':
      return tokensText(told);
    case 'embedding': {
      const width = told.after?.shape.at(-1);
      const picture = words.picture !== undefined;
      return `Each ${picture ? 'patch' : 'token'} becomes a vector${width ? ` of ${width} numbers` : ''}. Green is positive, orange is negative, pale is near zero.`;
    }
    case 'positions':
      return 'Each position has a pattern of its own. Added to the vector, it says where the token stands.';
    case 'norm':
      return layer === undefined && !told.first
        ? 'A last time, all vectors are scaled to a similar size.'
        : 'Each vector is shifted and scaled, so that the next part gets numbers of a similar size.';
    case 'add':
      return 'The result is added to what came in. So each part only adds its change.';
    case 'feed':
      return feedText(told);
    case 'attention':
    case 'cross':
      return inside?.kind === 'links' ? linksText(told, inside.links, inside.keys) : sentenceOf(station, stacks); // prettier-ignore
    case 'answer':
      return answerText(told, stack);
  }
}

function tokensText({ station, stacks, lanes, words }: Told): string {
  const { stack } = station;
  const { picture } = words;
  const patches = picture?.places.filter((place) => place).length;
  const all = patches ?? words.read[stack]?.length ?? lanes.length;
  const shown = picture ? lanes.filter(({ place }) => place).length : lanes.length;
  const some = shown < all ? ` The film shows ${shown} of them.` : '';
  if (picture)
    return `The picture is cut into ${all} patches. A patch is to this model what a word is in a text.${some}`;
  if (stacks.length > 1 && stack === 'decoder')
    return `The decoder reads what is written so far. The first token only says: begin here.${some}`;
  return `The text is cut into ${counted(all, 'token')}: words, or pieces of words.${some}`;
}

function feedText({ station, stacks, inside, lanes, words, first }: Told): string {
  if (inside?.kind !== 'hidden') return sentenceOf(station, stacks);
  const { shape, data } = inside.tensor;
  const width = shape.at(-1)!;
  const active = lanes.map(({ row }) => {
    const own = data.subarray(row * width, (row + 1) * width);
    return own.reduce((sum, value) => sum + (value > 0 ? 1 : 0), 0);
  });
  const most = active.indexOf(Math.max(...active));
  const lane = lanes[most];
  if (!lane) return '';
  const number = `${active[most]} of ${width} hidden units are active for ${within(lane.label, words)}`;
  return first
    ? `Each ${words.picture ? 'patch' : 'token'} by itself: hidden units respond to patterns. ${number}.`
    : `${number}.`;
}

function linksText(told: Told, links: HeadLinks, keys: readonly Lane[]): string {
  const { station, lanes, words, first } = told;
  const { query, key, weight } = links.strongest;
  const share = `${percent(weight)} of its attention to ${within(keys[key]!.label, words)}`;
  const head = `head ${links.head + 1}`;
  if (station.box.part === 'cross') {
    const next = words.translation?.tokens[lanes[query]!.row]?.text.trim();
    const after = `After ${quoted(lanes[query]!.label)}`;
    const whole = next ? `${after}, to write ${quoted(next)}, ${head} gives ${share}.` : `${after}, ${head} gives ${share}.`; // prettier-ignore
    return first ? `Here the decoder reads the source. ${whole}` : whole;
  }
  const from = within(lanes[query]!.label, words);
  const link = `In ${head}, ${from} gives ${share}.`;
  if (!first) return link;
  return station.stack === 'decoder'
    ? `Each token reads itself and the tokens before it. ${link}`
    : `Each ${words.picture ? 'patch' : 'token'} reads the others. ${link}`;
}

function answerText({ station, inside }: Told, stack: string): string {
  if (inside?.kind === 'written')
    return 'Each vector gives every token of the vocabulary a score. Softmax turns the scores into probabilities.';
  const [best] = inside?.kind === 'answers' ? inside.answers : [];
  const answer = best && `${best.text}, ${percent(best.probability)}`;
  if (stack === 'decoder')
    return `The last vector gives every token of the vocabulary a score.${best ? ` The most probable next one is ${quoted(best.text)}, ${percent(best.probability)}.` : ''}`;
  const one = station.box.title.startsWith('Mean') ? 'The mean of all vectors' : 'The first vector';
  return `${one} gives each label a score. Softmax turns the scores into probabilities${answer ? `: ${answer}` : ''}.`;
}
