import type { Hypothesis, SentenceTranslation, Translator } from 'glassformer';
import { labelOf } from '../../../../panels/search/search-tree.ts';
import { labelsOf } from '../../pictures/vectors.ts';

/** The number of beams that the model's translations have by default. */
export const usualBeams = 4;
export const mostBeams = 8;
/** The most tokens of a translation: pictures of longer ones would not fit. */
const maxLength = 48;

export interface TranslationLive {
  source: readonly string[];
  target: readonly string[];
  layers: number;
  heads: number;
  dHead: number;
  /** The weights of each layer and head, [target, source]. */
  weights: readonly (readonly Float32Array[])[];
  sentence: SentenceTranslation<{ attention: true; hypotheses: true }>;
  beams: number;
  /** The number of sentences in the text, of which the first is shown. */
  sentences: number;
  /** The best translations with the usual number of beams, and with one. */
  usual: Found;
  greedy: Found;
  /** The words of the sentence, and that of the translation that the lesson asks about. */
  words: readonly string[];
  asked: { word: string; source: string; weight: number } | undefined;
}

/** A translation as a search found it. */
export interface Found {
  text: string;
  score: number;
}

/** Returns the sum of a translation's log-probabilities. */
export const totalOf = ({ tokens }: Hypothesis): number =>
  tokens.reduce((sum, { logprob }) => sum + logprob, 0);

/** Returns the mean of the heads of one layer. */
export function meanOf(heads: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(heads[0]?.length ?? 0);
  for (const weights of heads)
    for (let i = 0; i < mean.length; i++) mean[i]! += weights[i]! / heads.length;
  return mean;
}

export async function readTranslation(
  model: Translator,
  text: string,
  beams: number,
  signal: AbortSignal,
): Promise<TranslationLive> {
  const search = (beams: number) =>
    model.translate(text, { beams, attention: true, hypotheses: true, maxLength, signal });
  const [now, usual, greedy] = await Promise.all([
    search(beams),
    model.translate(text, { beams: usualBeams, maxLength, signal }),
    model.translate(text, { beams: 1, maxLength, signal }),
  ]);
  const sentence = now.sentences[0]!;
  const { cross } = sentence.attention;
  const { alignment, start, end } = sentence;
  const wordsOf = (part: string) => part.match(/[\p{L}\p{N}'’-]{2,}/gu) ?? [];

  // The translated word whose attention is the most certain, of those that look different.
  const links = alignment
    .map(({ target, source, weight }) => ({
      word: now.text.slice(target.start, target.end),
      source: text.slice(source.start, source.end),
      weight,
    }))
    .filter(({ word, source }) => wordsOf(source).length === 1 && wordsOf(word).length === 1)
    .sort((a, b) => b.weight - a.weight);
  const asked =
    links.find(({ word, source }) => word.length > 3 && word[0] !== source[0]) ?? links[0];

  const foundIn = ({ sentences }: { sentences: readonly Hypothesis[] }): Found => sentences[0]!;
  return {
    source: labelsOf(text, sentence.sourceTokens),
    target: sentence.tokens.map((token) => labelOf(token.text)),
    layers: cross.layers,
    heads: cross.heads,
    dHead: model.architecture.decoder!.layers[0]!.dHead,
    weights: Array.from({ length: cross.layers }, (_, layer) =>
      Array.from({ length: cross.heads }, (_, head) => cross.at(layer, head)),
    ),
    sentence,
    sentences: now.sentences.length,
    beams,
    usual: foundIn(usual),
    greedy: foundIn(greedy),
    words: wordsOf(text.slice(start, end)),
    asked,
  };
}

/** Returns up to four words of the sentence in their order, of which one is the asked one's. */
export function choicesFor({ words, asked }: TranslationLive): {
  choices: readonly string[];
  right: number;
} {
  const all = [...new Set(words)];
  const source = asked?.source ?? all[0] ?? '–';
  const others = all.filter((word) => word !== source);
  const step = Math.max(1, Math.floor(others.length / 3));
  const offered = new Set([source, ...others.filter((_, i) => i % step === 0).slice(0, 3)]);
  const choices = all.filter((word) => offered.has(word));
  if (!choices.includes(source)) choices.push(source);
  // A sentence of one word still has a choice.
  if (choices.length < 2) choices.push('the end of the sentence');
  return { choices, right: choices.indexOf(source) };
}
