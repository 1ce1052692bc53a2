import type { Classifier } from 'glassformer';
import { measuredHeads } from '../../../../panels/heads/measured/measured-heads.ts';
import type { MeasuredHead } from '../../../../panels/heads/head-roles.ts';
import {
  indexOfLargest,
  labelsOf,
  length,
  row,
  verdictOf,
  type Verdict,
} from '../../pictures/vectors.ts';

/** The layer that is shown, from 0. */
export const layer = 0;
const at = `encoder.layers.${layer}.self_attn`;

export interface HeadsLive {
  labels: readonly string[];
  heads: number;
  dHead: number;
  dModel: number;
  /** Each head's attention weights, [tokens, tokens]. */
  weights: readonly Float32Array[];
  /** The vectors that the heads add to a token, [heads, d_model] per token. */
  parts: readonly Float32Array[];
  /** The sub-layer's output per token, which is the sum of the parts and the bias. */
  output: readonly Float32Array[];
  /** The largest difference between that sum and the model's own output. */
  difference: number;
  /** The token that is shown first. */
  asked: number;
  /** The measurements of the layer's heads over many texts, if they could be fetched. */
  measured: readonly MeasuredHead[];
  texts: number;
  /** All heads of the model. */
  all: readonly MeasuredHead[];
  /** The head that is off, from 1; 0 for none. */
  off: number;
  verdict: Verdict;
  usual: Verdict;
}

const outputs = new WeakMap<Classifier, Promise<readonly Float32Array[]>>();

/** Returns the rows of W_O, and the bias as the last one. They are read once per model. */
function outputRows(model: Classifier, dModel: number): Promise<readonly Float32Array[]> {
  let rows = outputs.get(model);
  if (!rows) {
    const each = Array.from({ length: dModel }, (_, i) =>
      model.weights.row(`${at}.out_proj.weight`, i),
    );
    const bias = Promise.all(
      Array.from({ length: dModel }, (_, i) => model.weights.row(`${at}.out_proj.bias`, i)),
    ).then((numbers) => Float32Array.from(numbers, ([number]) => number!));
    rows = Promise.all([...each, bias]);
    outputs.set(model, rows);
    rows.catch(() => outputs.delete(model));
  }
  return rows;
}

/** Returns W_O · z for each head's part of z by itself, [heads, d_model]. */
export function partsOf(
  z: Float32Array,
  rows: readonly Float32Array[],
  { heads, dHead }: { heads: number; dHead: number },
): Float32Array {
  const dModel = rows.length;
  const parts = new Float32Array(heads * dModel);
  for (let head = 0; head < heads; head++) {
    for (let i = 0; i < dModel; i++) {
      let sum = 0;
      for (let j = head * dHead; j < (head + 1) * dHead; j++) sum += rows[i]![j]! * z[j]!;
      parts[head * dModel + i] = sum;
    }
  }
  return parts;
}

export async function readHeads(
  model: Classifier,
  text: string,
  off: number,
  signal: AbortSignal,
): Promise<HeadsLive> {
  const { nHeads: heads, dHead } = model.architecture.encoder!.layers[0]!;
  const { dModel } = model.info;
  const names = [`${at}.weights`, `${at}.context`, `${at}.output`];
  const [result, rows, measured] = await Promise.all([
    model.classify(text, { trace: names, signal }),
    outputRows(model, dModel),
    measuredHeads('sentiment'),
  ]);
  const [weights, context, output] = names.map((name) => result.trace[name]!);
  const usual = verdictOf(result);
  const ablate = [{ attention: 'encoder', layer, head: off - 1 }] as const;
  const verdict =
    off === 0 ? usual : verdictOf(await model.classify(text, { ablate: [...ablate], signal }));

  const { tokens } = result;
  const count = tokens.length;
  const matrix = rows.slice(0, dModel);
  const bias = rows[dModel]!;
  const parts = tokens.map((_, token) => partsOf(row(context!, token), matrix, { heads, dHead }));
  let difference = 0;
  for (const [token, own] of parts.entries()) {
    for (let i = 0; i < dModel; i++) {
      let sum = bias[i]!;
      for (let head = 0; head < heads; head++) sum += own[head * dModel + i]!;
      difference = Math.max(difference, Math.abs(sum - row(output!, token)[i]!));
    }
  }
  const all = measured?.heads ?? [];
  const lengths = tokens.map(({ text: token }, i) =>
    /\p{L}{2}/u.test(token) ? length(row(output!, i)) : 0,
  );
  return {
    labels: labelsOf(text, tokens),
    heads,
    dHead,
    dModel,
    weights: Array.from({ length: heads }, (_, head) =>
      weights!.data.slice(head * count * count, (head + 1) * count * count),
    ),
    parts,
    output: tokens.map((_, token) => row(output!, token)),
    difference,
    asked: indexOfLargest(lengths),
    measured: all.filter((head) => head.layer === layer),
    texts: measured?.texts ?? 0,
    all,
    off,
    verdict,
    usual,
  };
}

/** The choices for the loss of accuracy, in points; the first above the true one is right. */
const bounds = [2, 10, 25, 50];
export const choices = bounds.map((bound) => `less than ${bound} points`);

/** Returns the head whose removal costs most accuracy, and which choice is right. */
export function costliest({ all }: HeadsLive): { right: number; points: number } {
  const points = Math.max(0, ...all.map(({ scoreLost }) => scoreLost?.points ?? 0));
  return { right: bounds.findIndex((bound) => points < bound), points };
}
