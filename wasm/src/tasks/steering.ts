// The direction between two lists of texts, to steer a model with.

import { checkOption, checkOptions } from '../base/checks.js';
import type { TracedTensor } from '../model/results.js';
import type { Classifier } from './classifier.js';
import type { Embedder } from './embedder.js';
import type { Generator } from './generator.js';
import type { MaskFiller } from './mask_filler.js';
import type { TokenClassifier } from './token_classifier.js';
import type { Translator } from './translator.js';

/** A model that reads texts. */
export type SteerableModel =
  Classifier | Embedder | Generator | MaskFiller | TokenClassifier | Translator;

export interface SteeringOptions {
  /** The tensor whose vectors are compared, such as "decoder.layers.2.output". */
  name: string;
  /** Texts to steer toward, and away from. */
  toward: readonly string[];
  away: readonly string[];
  /** Which vectors stand for a text: of its last token, or the mean of all. Default: "last". */
  rows?: 'last' | 'mean' | undefined;
  /** Aborts the call between two texts. */
  signal?: AbortSignal | undefined;
}

/** A direction. As a patch: `{ name, add: vector, scale }`, or `{ name, remove: vector }`. */
export interface SteeringVector {
  name: string;
  /** The mean vector of the texts to steer toward, minus that of the others. */
  vector: Float32Array;
  /** Its length. */
  norm: number;
  /** The mean length of the vectors that it was computed from. */
  streamNorm: number;
}

/** Returns the tensors of this name in the run of a text: one, or one per sentence. */
async function traced(
  model: SteerableModel,
  text: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<TracedTensor[]> {
  const options = { trace: [name], signal };
  if (model.task === 'translation') {
    const { sentences } = await model.translate(text, options);
    return sentences.map(({ trace }) => trace[name]!);
  }
  if (model.task === 'feature-extraction') return [(await model.embed(text, options)).trace[name]!];
  if (model.task === 'fill-mask') return [(await model.fill(text, options)).trace[name]!];
  if (model.task === 'text-classification')
    return [(await model.classify(text, options)).trace[name]!];
  if (model.task === 'token-classification')
    return [(await model.classify(text, options)).trace[name]!];
  return [(await model.next(text, { ...options, count: 1 })).trace[name]!];
}

const lengthOf = (row: Float32Array) => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));

/**
 * Returns the mean vector of one list of texts minus that of another: contrastive activation addition
 * (Rimsky et al. 2024).
 */
export async function steeringVector(
  model: SteerableModel,
  options: SteeringOptions,
): Promise<SteeringVector> {
  checkOptions(options, ['name', 'toward', 'away', 'rows', 'signal'], 'steeringVector');
  const { name, toward, away, rows = 'last', signal } = options;
  checkOption(typeof name === 'string' && name !== '', 'name', 'the name of a tensor');
  checkOption(rows === 'last' || rows === 'mean', 'rows', '"last" or "mean"');
  let vector = new Float64Array(0);
  let [lengths, count] = [0, 0];
  for (const [texts, sign, field] of [
    [toward, 1, 'toward'],
    [away, -1, 'away'],
  ] as const) {
    const valid = Array.isArray(texts) && texts.length > 0;
    checkOption(valid, field, 'an array of one or more texts');
    for (const text of texts) {
      signal?.throwIfAborted();
      const tensors = await traced(model, text, name, signal);
      const chosen: Float32Array[] = [];
      for (const { shape, data } of tensors) {
        const map = /\.(scores|weights)$/.test(name);
        checkOption(shape.length > 1 && !map, 'name', 'a tensor with a vector for each token');
        const size = data.length / shape[0]!;
        for (let row = 0; row < shape[0]!; row++)
          chosen.push(data.subarray(row * size, (row + 1) * size));
      }
      const used = rows === 'last' ? chosen.slice(-1) : chosen;
      if (vector.length === 0) vector = new Float64Array(used[0]!.length);
      for (const row of used) {
        lengths += lengthOf(row);
        count++;
        row.forEach((x, i) => (vector[i]! += (sign * x) / used.length / texts.length));
      }
    }
  }
  const found = Float32Array.from(vector);
  return { name, vector: found, norm: lengthOf(found), streamNorm: lengths / count };
}
