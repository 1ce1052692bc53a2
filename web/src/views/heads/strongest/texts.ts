/** The short texts that the page ships for each model, and the attention of its heads in them. */
import type { Classifier, Generator, Translator } from 'glassformer';
import type { Model } from '../../../models/model-loader.svelte.ts';
import { examples as translations } from '../../../panels/alignment/examples.ts';
import { sentences } from '../../../panels/alignment/sentences.ts';
import { labelsIn, type TextAttention } from '../../../panels/attention/text-attention.ts';
import { probes } from '../../../panels/verdict/probes.ts';
import { examples as reviews } from '../../../panels/verdict/reviews.ts';
import { beginnings } from '../../../panels/words/beginnings.ts';
import { examples as writing } from '../../../panels/words/examples.ts';
import { labelsFromStart } from '../../../panels/words/sampling.ts';
import type { Link } from '../../../ui/link.ts';
import type { ZooModel } from '../zoo.ts';
import type { Attended } from './ranking.ts';
import type { Piece } from './words.ts';

/** A text, and how the model reads it: as in the model's own view. */
export interface ReadText extends Attended {
  text: string;
  /** The translation, if the model translates. */
  written?: string;
  /** The tokens of the translation. */
  output?: readonly Piece[];
  /** The labels of the tokens. */
  labels: TextAttention;
  /** Opens the text in the model's view. */
  link: Link;
}

/** Longer texts would hide the pair that is marked. */
const longest = 120;
const shortOf = (...lists: (readonly string[])[]) =>
  [...new Set(lists.flat())].filter((text) => text.length <= longest);
const textsIn = (examples: readonly { text: string }[]) => examples.map(({ text }) => text);

const ofTranslator = (target: 'de' | 'fr') => shortOf(sentences, textsIn(translations[target]));

export const textsOf: Readonly<Record<ZooModel, readonly string[]>> = {
  sentiment: shortOf(probes, textsIn(reviews)),
  'en-de': ofTranslator('de'),
  'en-fr': ofTranslator('fr'),
  writer: shortOf(
    beginnings.map(([text]) => text),
    textsIn(writing),
  ),
};

/** Reads a text. Resolves to nothing for a text of several sentences, each of which is translated alone. */
export type Read = (
  model: Model,
  text: string,
  signal: AbortSignal,
) => Promise<ReadText | undefined>;

async function readReview(model: Classifier, text: string, signal: AbortSignal): Promise<ReadText> {
  const { tokens, attention: maps } = await model.classify(text, { attention: true, signal });
  return {
    ...{ text, maps, link: { text } },
    tokens: { encoder: { queries: tokens, keys: tokens } },
    labels: { maps, source: labelsIn(text, tokens) },
  };
}

async function readBeginning(
  model: Generator,
  text: string,
  signal: AbortSignal,
): Promise<ReadText> {
  const options = { attention: true, count: 1, signal } as const;
  const { promptTokens: tokens, attention: maps } = await model.next(text, options);
  return {
    ...{ text, maps, link: { text } },
    tokens: { decoder: { queries: tokens, keys: tokens } },
    labels: { maps, source: labelsFromStart(text, tokens) },
  };
}

const start: Piece = { text: '<s>', start: 0, end: 0 };

async function readSentence(
  model: Translator,
  text: string,
  signal: AbortSignal,
): Promise<ReadText | undefined> {
  const beams = 4; // as in the view of translations
  const { text: written, sentences: parts } = await model.translate(text, {
    ...{ beams, attention: true, signal },
  });
  const [sentence] = parts;
  if (!sentence || parts.length > 1) return undefined;
  const { attention: maps = {}, sourceTokens: source, tokens: output } = sentence;
  // The decoder reads the start token, and what it has written without the last token.
  const fed = [start, ...output.slice(0, -1)];
  return {
    ...{ text, written, output, maps, link: { text, beams: `${beams}` } },
    tokens: {
      encoder: { queries: source, keys: source },
      decoder: { queries: fed, keys: fed },
      cross: { queries: output, keys: source },
    },
    labels: {
      ...{ maps, source: labelsIn(text, source) },
      ...{ target: labelsIn(written, output), start: start.text },
    },
  };
}

export const readers: Readonly<Record<ZooModel, Read>> = {
  sentiment: readReview as Read,
  'en-de': readSentence as Read,
  'en-fr': readSentence as Read,
  writer: readBeginning as Read,
};
