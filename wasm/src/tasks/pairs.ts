// What classifiers of pairs are used for: labels that they were not trained with, and search.

import { checkOption, checkOptions } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import type { Classification, Classifier } from './classifier.js';

export interface ZeroShotOptions {
  /** The hypothesis, with the label in place of `{}`. Default: "This example is {}." */
  template?: string | undefined;
  /**
   * Whether several labels may be right: each has a probability of its own. Otherwise the
   * probabilities sum to 1. Default: false.
   */
  multiple?: boolean | undefined;
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
}

/** The labels of a text, most probable first. */
export interface ZeroShot {
  /** The most probable label. */
  label: string;
  score: number;
  /** The probability of each label, highest first. */
  labels: { label: string; score: number }[];
}

export interface RankOptions {
  /** How many texts to return. Default: all. */
  topK?: number | undefined;
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
}

/** A text that was ranked. */
export interface RankedText {
  /** Its place in the array of texts. */
  index: number;
  text: string;
  /** As Classification.scores: higher for a better match. */
  score: number;
}

/**
 * Finds the best of labels that a model was not trained with (Yin et al. 2019, "Benchmarking Zero-shot
 * Text Classification"). The model must tell whether a text implies a hypothesis, as those trained
 * with MNLI do; else the error is `wrong_task`.
 */
export async function zeroShot(
  classifier: Classifier,
  text: string,
  labels: readonly string[],
  options: ZeroShotOptions = {},
): Promise<ZeroShot> {
  checkOptions(options, ['template', 'multiple', 'signal'], 'zeroShot');
  const { template = 'This example is {}.', multiple = false, signal } = options;
  checkOption(typeof text === 'string', 'text', 'a string');
  checkOption(areTexts(labels) && labels.length > 0, 'labels', 'an array of strings, at least one');
  const holds = typeof template === 'string' && template.includes('{}');
  checkOption(holds, 'template', 'a string with {} in place of the label');
  checkOption(typeof multiple === 'boolean', 'multiple', 'true or false');
  const { labels: modelLabels } = classifier.info;
  const entailment = modelLabels.findIndex((label) => /^entail/i.test(label));
  const contradiction = modelLabels.findIndex((label) =>
    /^(contradict|not[_ ]entail)/i.test(label),
  );
  if (entailment < 0 || contradiction < 0) {
    throw new GlassformerError(
      'wrong_task',
      'zeroShot: expected labels "entailment" and "contradiction" or ' +
        `"not_entailment", got ${modelLabels.join(', ')}`,
    );
  }
  const pairs = labels.map((label) => ({ text, pair: template.replace('{}', () => label) }));
  const answers = await classifier.classifyBatch(pairs, { signal });
  const logitOf = (answer: Classification, label: number) => answer.scores[label]!.logit;
  const logits = answers.map((answer) => logitOf(answer, entailment));
  const scores =
    multiple || labels.length === 1
      ? answers.map((answer, i) => softmax([logits[i]!, logitOf(answer, contradiction)])[0]!)
      : softmax(logits);
  const sorted = labels
    .map((label, i) => ({ label, score: scores[i]! }))
    .sort((a, b) => b.score - a.score);
  return { ...sorted[0]!, labels: sorted };
}

/**
 * Sorts texts by how well they match a query, best first. The model must score pairs of texts (a
 * cross-encoder), as those trained with MS MARCO do: it has one label; else the error is `wrong_task`.
 */
export async function rank(
  classifier: Classifier,
  query: string,
  texts: readonly string[],
  options: RankOptions = {},
): Promise<RankedText[]> {
  checkOptions(options, ['topK', 'signal'], 'rank');
  const { topK, signal } = options;
  checkOption(typeof query === 'string', 'query', 'a string');
  checkOption(areTexts(texts), 'texts', 'an array of strings');
  const valid = topK === undefined || (Number.isInteger(topK) && topK >= 1);
  checkOption(valid, 'topK', 'a whole number of at least 1');
  const { labels } = classifier.info;
  if (labels.length !== 1) {
    throw new GlassformerError('wrong_task', `rank: expected one label, got ${labels.join(', ')}`);
  }
  const pairs = texts.map((text) => ({ text: query, pair: text }));
  const answers = await classifier.classifyBatch(pairs, { signal });
  return answers
    .map(({ score }, index) => ({ index, text: texts[index]!, score }))
    .sort((a, b) => b.score - a.score)
    .slice(0, topK);
}

function areTexts(given: unknown): boolean {
  return Array.isArray(given) && given.every((each) => typeof each === 'string');
}

function softmax(logits: readonly number[]): number[] {
  const largest = Math.max(...logits);
  const exponentials = logits.map((logit) => Math.exp(logit - largest));
  const sum = exponentials.reduce((total, each) => total + each, 0);
  return exponentials.map((each) => each / sum);
}
