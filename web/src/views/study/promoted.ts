/**
 * The tokens that a hidden unit promotes through the output matrix (Geva et al. 2022). The final
 * layer normalization's mean subtraction and gain are part of it. Its division by the standard
 * deviation depends on the text and changes no order: it is left out.
 */
import type { Generator } from 'glassformer';
import { endToken } from '../../panels/words/sampling.ts';
import { range } from '../../ui/text/range.ts';
import { rowOf } from '../../panels/words/next-logits.ts';

export interface Promoted {
  token: string;
  /** The change of the token's logit per unit of activation, times the left-out deviation. */
  value: number;
}

export interface PromotedTokens {
  most: readonly Promoted[];
  least: readonly Promoted[];
}

/** Returns the vector that a hidden unit adds to the residual stream if its activation is 1. */
async function outputOf({ weights }: Generator, layer: number, unit: number, width: number) {
  const name = `decoder.layers.${layer}.fc2.weight`;
  const rows = await Promise.all(range(width).map((row) => weights.row(name, row)));
  return Float32Array.from(rows, (row) => row[unit]!);
}

/** Applies a final layer normalization without its division. */
async function normalized({ weights, architecture }: Generator, vector: Float32Array) {
  const { finalNorm, layerNorm } = architecture.decoder!;
  if (!finalNorm) return vector;
  const gains = await Promise.all(
    range(vector.length).map((row) => weights.row('decoder.layer_norm.weight', row)),
  );
  const mean =
    layerNorm === 'rms' ? 0 : vector.reduce((sum, each) => sum + each, 0) / vector.length;
  return vector.map((each, i) => (each - mean) * gains[i]![0]!);
}

export async function promotedBy(
  model: Generator,
  { layer, unit, count }: { layer: number; unit: number; count: number },
  signal: AbortSignal,
): Promise<PromotedTokens> {
  const width = model.architecture.decoder!.dModel;
  const data = await normalized(model, await outputOf(model, layer, unit, width));
  // In place of the decoder's output, the model itself multiplies it by the output matrix.
  const patch = [{ name: 'decoder.output', value: { shape: [1, width], data } }];
  const [pieces, { trace }] = await Promise.all([
    model.vocabulary(),
    model.next(endToken, { count: 1, patch, trace: ['logits'] as const, signal }),
  ]);
  const logits = rowOf(trace.logits!, -1);
  const order = range(logits.length).sort((a, b) => logits[b]! - logits[a]!);
  const shown = (ids: readonly number[]) =>
    ids.map((id) => ({ token: pieces[id]!, value: logits[id]! }));
  return { most: shown(order.slice(0, count)), least: shown(order.slice(-count).reverse()) };
}
