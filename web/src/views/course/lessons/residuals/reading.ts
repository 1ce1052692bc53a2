import type { Classifier, Patch, TracedTensor } from 'glassformer';
import { labelsOf, length, row, verdictOf, type Verdict } from '../../pictures/vectors.ts';

/** The value of the control that moves the norms behind the additions. */
export const postNorm = 5;

/** A sub-layer's tensors: its input, the normalized input, what it adds, and the result. */
export interface SubLayer {
  name: string;
  input: TracedTensor;
  norm: TracedTensor;
  adds: TracedTensor;
  result: TracedTensor;
}

export interface ResidualsLive {
  labels: readonly string[];
  dModel: number;
  layers: number;
  subLayers: readonly SubLayer[];
  /** The length of each token's vector before the first and after each sub-layer. */
  lengths: readonly (readonly number[])[];
  /** The same as trained. */
  usualLengths: readonly (readonly number[])[];
  asked: number;
  setting: number;
  verdict: Verdict;
  usual: Verdict;
}

const tensorsOf = (layer: number) => {
  const at = `encoder.layers.${layer}`;
  return [
    {
      name: `attention ${layer + 1}`,
      input: `${at}.input`,
      norm: `${at}.self_attn_layer_norm`,
      adds: `${at}.self_attn.output`,
      result: `${at}.self_attn.residual`,
    },
    {
      name: `feed-forward ${layer + 1}`,
      input: `${at}.self_attn.residual`,
      norm: `${at}.final_layer_norm`,
      adds: `${at}.fc2`,
      result: `${at}.output`,
    },
  ];
};

/** Normalizes each row: mean 0, standard deviation 1. */
export function normalized({ shape, data }: TracedTensor): TracedTensor {
  const [rows = 0, width = 0] = shape;
  const own = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) {
    const { mean, deviation } = spread(row({ shape, data }, i));
    for (let j = i * width; j < (i + 1) * width; j++) own[j] = (data[j]! - mean) / deviation;
  }
  return { shape, data: own };
}

export function spread(values: ArrayLike<number>): { mean: number; deviation: number } {
  let mean = 0;
  for (let i = 0; i < values.length; i++) mean += values[i]! / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += (values[i]! - mean) ** 2;
  return { mean, deviation: Math.sqrt(squares / values.length + 1e-5) };
}

export async function readResiduals(
  model: Classifier,
  text: string,
  setting: number,
  signal: AbortSignal,
): Promise<ResidualsLive> {
  const { layers, dModel } = model.info;
  const names = Array.from({ length: layers }, (_, layer) => tensorsOf(layer)).flat();
  const trace = [
    ...new Set(names.flatMap(({ input, norm, adds, result }) => [input, norm, adds, result])),
  ];
  const usual = await model.classify(text, { trace, signal });

  const patch: Patch[] = [];
  if (setting === postNorm) {
    // Each norm depends on the ones before.
    for (const { result } of names) {
      const now = await model.classify(text, { trace: [result], patch, signal });
      patch.push({ name: result, value: normalized(now.trace[result]!) });
    }
  } else if (setting > 0) {
    const { adds, result } = tensorsOf(setting - 1)[0]!;
    patch.push({ name: result, value: usual.trace[adds]! });
  }
  const now = setting === 0 ? usual : await model.classify(text, { trace, patch, signal });

  const { tokens } = usual;
  const lengthsIn = (all: typeof now) =>
    tokens.map((_, i) => [
      length(row(all.trace[names[0]!.input]!, i)),
      ...names.map(({ result }) => length(row(all.trace[result]!, i))),
    ]);
  const words = tokens.map(({ text: token }, i) => ({ i, word: /\p{L}{2}/u.test(token) }));
  const middle = Math.floor(tokens.length / 3);
  return {
    labels: labelsOf(text, tokens),
    dModel,
    layers,
    subLayers: names.map(({ name, input, norm, adds, result }) => ({
      name,
      input: now.trace[input]!,
      norm: now.trace[norm]!,
      adds: now.trace[adds]!,
      result: now.trace[result]!,
    })),
    lengths: lengthsIn(now),
    usualLengths: lengthsIn(usual),
    asked: words.find(({ i, word }) => word && i >= middle)?.i ?? 0,
    setting,
    verdict: verdictOf(now),
    usual: verdictOf(usual),
  };
}

/** Returns four lengths in order, of which one is that after the last layer. */
export function choicesFor({ usualLengths, asked }: ResidualsLive): {
  choices: readonly string[];
  right: number;
  before: number;
  after: number;
} {
  const own = usualLengths[asked]!;
  const [before, after] = [own[0]!, own.at(-1)!];
  const numbers = [before / 2, before, after, 4 * after].sort((a, b) => a - b);
  return {
    choices: numbers.map((value) => `about ${value.toFixed(0)}`),
    right: numbers.indexOf(after),
    before,
    after,
  };
}
