import type { Classifier, Patch, TracedTensor } from 'glassformer';
import { labelsOf, row, verdictOf, type Verdict } from '../../pictures/vectors.ts';

/** The padding of each setting. */
export const paddings = [
  { count: 0, masked: true },
  { count: 8, masked: true },
  { count: 8, masked: false },
  { count: 32, masked: false },
] as const;

export interface VerdictLive {
  labels: readonly string[];
  dModel: number;
  layers: number;
  /** The verdict if the model stopped before layer 1, and after each layer. */
  lens: readonly Verdict[];
  /** The same without padding. */
  usualLens: readonly Verdict[];
  /** Each token's contribution to the log-odds of "positive"; 0 for masked ones. */
  evidence: Float32Array;
  bias: number;
  pooled: TracedTensor;
  /** How many tokens are averaged. */
  averaged: number;
  /** How many tokens of padding stand at the end. */
  padded: number;
  masked: boolean;
  verdict: Verdict;
  usual: Verdict;
}

/** Words that are appended and then replaced with padding. */
const filler = ' the';

async function run(
  model: Classifier,
  text: string,
  own: number,
  { count, masked }: (typeof paddings)[number],
  signal: AbortSignal,
) {
  const { layers, dModel } = model.info;
  const padded = text + filler.repeat(count);
  const patch: Patch[] = [];
  const tokens = Array.from({ length: count }, (_, i) => own + i);
  if (count > 0) {
    // Id 0 is <pad>; the model multiplies embeddings by √d.
    const pad = await model.weights.row('encoder.embed_tokens.weight', 0);
    const data = new Float32Array(count * dModel);
    for (const i of tokens.keys())
      data.set(
        pad.map((value) => value * Math.sqrt(dModel)),
        i * dModel,
      );
    patch.push({ name: 'encoder.embed_tokens', tokens, value: { shape: [count, dModel], data } });
  }
  const maskTokens = masked ? tokens : [];
  const outputs = Array.from({ length: layers }, (_, layer) => `encoder.layers.${layer}.output`);
  const trace = ['encoder.embeddings', ...outputs, 'pooled'];
  const result = await model.classify(padded, {
    ...{ trace, patch, maskTokens, contributions: true, signal },
  });
  const last = outputs.at(-1)!;
  const lens = await Promise.all(
    ['encoder.embeddings', ...outputs].map(async (name) => {
      const stopped = [...patch, { name: last, value: result.trace[name]! }];
      return verdictOf(await model.classify(padded, { patch: stopped, maskTokens, signal }));
    }),
  );
  return { result, lens };
}

export async function readVerdict(
  model: Classifier,
  text: string,
  setting: number,
  signal: AbortSignal,
): Promise<VerdictLive> {
  const { layers, dModel } = model.info;
  const { tokens } = await model.classify(text, { signal });
  const padding = paddings[setting]!;
  const [plain, [negative], [positive]] = await Promise.all([
    run(model, text, tokens.length, paddings[0], signal),
    model.weights.row('classifier.bias', 0),
    model.weights.row('classifier.bias', 1),
  ]);
  const { result, lens } =
    padding.count === 0 ? plain : await run(model, text, tokens.length, padding, signal);
  const { contributions } = result;
  const count = tokens.length + padding.count;
  return {
    labels: [...labelsOf(text, tokens), ...Array.from({ length: padding.count }, () => '<pad>')],
    dModel,
    layers,
    lens,
    usualLens: plain.lens,
    evidence: Float32Array.from(
      { length: count },
      (_, i) => contributions[1]![i]! - contributions[0]![i]!,
    ),
    bias: positive! - negative!,
    pooled: result.trace.pooled!,
    averaged: padding.masked ? tokens.length : count,
    padded: padding.count,
    masked: padding.masked,
    verdict: verdictOf(result),
    usual: verdictOf(plain.result),
  };
}

/** Returns the pooled vector. */
export const pooledOf = ({ pooled }: VerdictLive): Float32Array =>
  pooled.shape.length === 1 ? pooled.data : row(pooled, 0);

/** Returns four probabilities in order, far enough from each other; one is right after layer 1. */
export function choicesFor({ usualLens }: VerdictLive): {
  choices: readonly number[];
  right: number;
} {
  const right = usualLens[1]!.positive;
  const chosen = [right];
  for (const each of [usualLens.at(-1)!.positive, 0.5, 0.1, 0.95, 0.3, 0.75]) {
    if (chosen.length < 4 && chosen.every((other) => Math.abs(other - each) > 0.08))
      chosen.push(each);
  }
  chosen.sort((a, b) => a - b);
  return { choices: chosen, right: chosen.indexOf(right) };
}
