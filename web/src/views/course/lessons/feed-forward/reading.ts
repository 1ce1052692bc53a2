import type { Classifier, Patch, TracedTensor } from 'glassformer';
import { labelsOf, row, verdictOf, type Verdict } from '../../pictures/vectors.ts';

/** A layer's feed-forward network on the text. */
export interface Network {
  /** The normalized input, [tokens, d_model]. */
  input: TracedTensor;
  /** The hidden units after ReLU, [tokens, d_ff]. */
  hidden: TracedTensor;
  /** The output, which is added to the tokens, [tokens, d_model]. */
  output: TracedTensor;
}

export interface FeedForwardLive {
  labels: readonly string[];
  dModel: number;
  dFf: number;
  /** How many units each token keeps. */
  kept: number;
  networks: readonly Network[];
  /** The token and layer that the lesson asks about. */
  asked: number;
  /** Each layer's number of active units per token, as trained. */
  active: readonly (readonly number[])[];
  verdict: Verdict;
  usual: Verdict;
}

/** The number of units that a setting of the slider keeps. */
export const keptAt = (setting: number): number => 2 ** setting;

export const activeIn = (values: ArrayLike<number>): number => {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i]! > 0) count += 1;
  return count;
};

/** Returns the indices of the `count` largest numbers, the largest first. */
export const largestOf = (values: ArrayLike<number>, count: number): number[] =>
  Array.from(values, (_, i) => i)
    .sort((a, b) => values[b]! - values[a]!)
    .slice(0, count);

/** Returns a tensor in which each row keeps only its `kept` largest numbers. */
export function thinned({ shape, data }: TracedTensor, kept: number): TracedTensor {
  const [rows = 0, width = 0] = shape;
  const own = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) {
    const values = row({ shape, data }, i);
    for (const unit of largestOf(values, kept)) own[i * width + unit] = values[unit]!;
  }
  return { shape, data: own };
}

export async function readFeedForward(
  model: Classifier,
  text: string,
  setting: number,
  signal: AbortSignal,
): Promise<FeedForwardLive> {
  const { layers, dModel } = model.info;
  const { dFf } = model.architecture.encoder!.layers[0]!;
  const kept = keptAt(setting);
  const names = Array.from({ length: layers }, (_, layer) => {
    const at = `encoder.layers.${layer}`;
    return { input: `${at}.final_layer_norm`, hidden: `${at}.fc1`, output: `${at}.fc2` };
  });
  const trace = names.flatMap(Object.values<string>);
  const usual = await model.classify(text, { trace, signal });
  let now = usual;
  if (kept < dFf) {
    // A layer's units depend on the layers before.
    const patch: Patch[] = [];
    for (const { hidden } of names) {
      const before = await model.classify(text, { trace: [hidden], patch, signal });
      patch.push({ name: hidden, value: thinned(before.trace[hidden]!, kept) });
    }
    now = await model.classify(text, { trace, patch, signal });
  }
  const { tokens } = usual;
  const asked = tokens.findIndex(
    ({ text: token }, i) => /\p{L}{2}/u.test(token) && i >= Math.floor(tokens.length / 3),
  );
  return {
    labels: labelsOf(text, tokens),
    dModel,
    dFf,
    kept,
    networks: names.map(({ input, hidden, output }) => ({
      input: now.trace[input]!,
      hidden: now.trace[hidden]!,
      output: now.trace[output]!,
    })),
    asked: Math.max(0, asked),
    active: names.map(({ hidden }) =>
      tokens.map((_, token) => activeIn(row(usual.trace[hidden]!, token))),
    ),
    verdict: verdictOf(now),
    usual: verdictOf(usual),
  };
}

/** Returns four numbers of units in order, of which one is right for layer 1. */
export function choicesFor({ active, asked, dFf }: FeedForwardLive): {
  choices: readonly string[];
  right: number;
} {
  const right = active[0]![asked]!;
  const numbers = [...new Set([right, dFf - right, dFf / 2, dFf])].sort((a, b) => a - b);
  return { choices: numbers.map(String), right: numbers.indexOf(right) };
}
