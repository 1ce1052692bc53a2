import type { Classifier, Token, TracedTensor } from 'glassformer';
import { anotherTask } from '../../../../ui/frames.ts';
import { labelsOf, length, row, verdictOf, type Verdict } from '../../pictures/vectors.ts';
import { neighborsOf, tableOf, type Neighbor, type Table } from './table.ts';

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
  /** The token that the lesson asks about, and the words to choose from. */
  asked: number;
  offered: Offered;
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
  const asked = await clearest(table, tokens);
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
    asked,
    offered: offeredFor(table, tokens[asked]!),
    lengths: { tokens: mean(x), positions: mean(positions) },
    verdict,
    usual: verdictOf(usual),
  };
}

/** Tokens with smaller ids are frequent in the training data. */
const frequent = 1500;

const plain = (name: string): string => name.trim().toLowerCase();

/** Returns how many letters two words have in common at their beginnings and ends. */
function lettersInCommon(one: string, other: string): number {
  const [a, b] = [plain(one), plain(other)];
  const least = Math.min(a.length, b.length);
  const same = (at: (word: string, i: number) => string | undefined) => {
    let count = 0;
    while (count < least && at(a, count) === at(b, count)) count++;
    return count;
  };
  return same((word, i) => word[i]) + same((word, i) => word.at(-1 - i));
}

export interface Offered {
  nearest: Neighbor;
  /** The word with the most different vector. */
  opposite: Neighbor;
  /** A word that is spelled alike but has another direction. */
  alike: Neighbor;
  /** A frequent word whose vector is at a right angle. */
  unrelated: Neighbor;
}

/** Returns a word that is alike, and three that a reader may take for it. */
function offeredFor(table: Table, { id, text }: Token): Offered {
  const near = neighborsOf(table, id);
  const nearest = near[0]!;
  const words = near.slice(1).filter(({ name }) => /^ \p{L}{3}/u.test(name));
  const opposite = words.at(-1)!;
  const others = words.slice(0, -1);
  const least = (value: (each: Neighbor) => number, from = others) =>
    from.reduce((best, each) => (value(each) < value(best) ? each : best));
  const different = others.filter((each) => Math.abs(each.cosine) < nearest.cosine / 2);
  const alike = least((each) => -lettersInCommon(each.name, text), different);
  const common = different.filter((each) => each.id < frequent && each !== alike);
  const unrelated = least((each) => Math.abs(each.cosine), common);
  return { nearest, opposite, alike, unrelated };
}

/** Returns four words in alphabetical order, of which one is the nearest neighbor. */
export function choicesFor({ offered }: EmbeddingsLive): {
  choices: readonly string[];
  right: number;
} {
  const choices = Object.values(offered)
    .map(({ name }) => name.trim())
    .sort();
  return { choices, right: choices.indexOf(offered.nearest.name.trim()) };
}
