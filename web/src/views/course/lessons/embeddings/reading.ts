import type { Classifier, Token, TracedTensor } from 'glassformer';
import { anotherTask } from '../../../../ui/frames.ts';
import { labelsOf, length, row, verdictOf, type Verdict } from '../../pictures/vectors.ts';
import { neighborsOf, tableOf, type Table } from './table.ts';

const tokensTensor = 'encoder.embed_tokens';
const positionsTensor = 'encoder.embed_positions';

export interface EmbeddingsLive {
  tokens: readonly Token[];
  labels: readonly string[];
  /** The embeddings as they enter the model: × √d or not. */
  x: TracedTensor;
  dModel: number;
  root: number;
  scaled: boolean;
  table: Table;
  /** The token that the lesson asks about. */
  asked: number;
  /** The lengths of a token's embedding and of its positional encoding, as means. */
  lengths: { tokens: number; positions: number };
  verdict: Verdict;
  /** The verdict with × √d. */
  usual: Verdict;
}

/** Returns the token whose nearest neighbor is nearest: it has the clearest meaning. */
async function clearest(table: Table, tokens: readonly Token[]): Promise<number> {
  let best = { token: 0, cosine: -1 };
  for (const [token, { id, text }] of tokens.entries()) {
    if (!/\p{L}{3}/u.test(text)) continue;
    // Looking through the whole table takes a few milliseconds.
    await anotherTask();
    const nearest = neighborsOf(table, id)[0]!;
    if (nearest.cosine > best.cosine) best = { token, cosine: nearest.cosine };
  }
  return best.token;
}

export async function readEmbeddings(
  model: Classifier,
  text: string,
  scaled: boolean,
  signal: AbortSignal,
): Promise<EmbeddingsLive> {
  const table = await tableOf(model);
  const trace = [tokensTensor, positionsTensor];
  const usual = await model.classify(text, { trace, signal });
  const { dModel } = model.architecture.encoder!;
  const root = Math.sqrt(dModel);
  let [x, positions] = trace.map((name) => usual.trace[name]!) as [TracedTensor, TracedTensor];
  let verdict = verdictOf(usual);
  if (!scaled) {
    x = { shape: x.shape, data: x.data.map((value) => value / root) };
    const patch = [{ name: tokensTensor, value: x }];
    verdict = verdictOf(await model.classify(text, { patch, signal }));
  }
  const { tokens } = usual;
  const mean = (of: TracedTensor) =>
    tokens.reduce((sum, _, i) => sum + length(row(of, i)), 0) / tokens.length;
  return {
    tokens,
    labels: labelsOf(text, tokens),
    x,
    dModel,
    root,
    scaled,
    table,
    asked: await clearest(table, tokens),
    lengths: { tokens: mean(x), positions: mean(positions) },
    verdict,
    usual: verdictOf(usual),
  };
}

/** The ranks among the neighbors that are offered; the first is right. */
const ranks = [0, 120, 900, 3000];

/** Returns four words in alphabetical order, of which one is the nearest neighbor. */
export function choicesFor({ table, tokens, asked }: EmbeddingsLive): {
  choices: readonly string[];
  right: number;
} {
  const near = neighborsOf(table, tokens[asked]!.id);
  const names = ranks.map((rank) => near[Math.min(rank, near.length - 1)]!.name.trim());
  const choices = [...new Set(names)].sort();
  return { choices, right: choices.indexOf(names[0]!) };
}
