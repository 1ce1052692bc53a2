/** Measures the effect of each token or head: the log-odds with it minus without it. */
import type { ClassifyOptions } from 'glassformer';
import { evidence } from '../../panels/ledger/evidence.ts';
import { carried } from '../../panels/words/tokens.ts';
import { readFailure } from '../../ui/failure.ts';
import type { Effects, Reading, SentimentExplorer } from './explorer.svelte.ts';

/** Each token is hidden in turn: longer texts would take too long. */
export const longestForRemoval = 256;

/** The effects of hiding each token, as far as known: tokens outside an edit keep theirs. */
export function effectsOnTokens({
  reading,
  tokenEffects,
}: SentimentExplorer): Float32Array | undefined {
  if (!reading || !tokenEffects || tokenEffects.of === reading) return tokenEffects?.values;
  return carryOver(tokenEffects, reading);
}

/** Hides each token in turn and measures the effect. */
export async function measureTokens(explorer: SentimentExplorer): Promise<void> {
  const { reading, choice } = explorer;
  const { tokens: hidden } = explorer.hidden;
  if (!reading || reading.shown.length > longestForRemoval) return;
  await measure(explorer, 'tokens', {
    of: reading,
    known: effectsOnTokens(explorer) ?? new Float32Array(reading.shown.length).fill(NaN),
    without: (token) => ({ maskTokens: [...hidden, token], ablate: choice.off }),
    measurable: (token) => !hidden.includes(token) && hidden.length + 1 < reading.shown.length,
  });
}

/** Switches each head off in turn and measures the effect: [layers × heads]. */
export async function measureHeads(explorer: SentimentExplorer): Promise<void> {
  const { reading, hidden, choice } = explorer;
  const { info } = explorer.loader;
  const { off } = choice;
  if (!reading || !info) return;
  const at = (i: number) => ({ layer: Math.floor(i / info.heads), head: i % info.heads });
  await measure(explorer, 'heads', {
    of: reading,
    known: explorer.headEffects?.values ?? new Float32Array(info.layers * info.heads).fill(NaN),
    without: (i) => ({
      maskTokens: hidden.tokens,
      ablate: [...off, { attention: 'encoder', ...at(i) }],
    }),
    measurable: (i) => !choice.isOff(at(i)),
  });
}

interface Measurement {
  of: Reading;
  /** The values known before. */
  known: Float32Array;
  without: (i: number) => ClassifyOptions;
  measurable: (i: number) => boolean;
}

/** Measures into tokenEffects or headEffects. */
async function measure(
  explorer: SentimentExplorer,
  what: 'tokens' | 'heads',
  { of, known, without, measurable }: Measurement,
): Promise<void> {
  explorer.measuring[what].abort();
  const { signal } = (explorer.measuring[what] = new AbortController());
  const whole = evidence(of.result);
  const values = known.slice();
  const reportEvery = 16;
  try {
    for (let i = 0; i < values.length; i++) {
      values[i] = NaN;
      if (measurable(i)) {
        const result = await explorer.loader.model!.classify(of.text, { ...without(i), signal });
        values[i] = whole - evidence(result);
      }
      if (signal.aborted) return;
      const done = i === values.length - 1;
      if (!done && i % reportEvery !== reportEvery - 1) continue;
      const effects = { of, values: values.slice(), done };
      if (what === 'tokens') explorer.tokenEffects = effects;
      else explorer.headEffects = effects;
    }
  } catch (error) {
    if (!signal.aborted) explorer.failure = readFailure(error);
  }
}

/** Returns the known effects of the tokens that an edit did not touch. */
function carryOver({ of, values }: Effects, { result }: Reading): Float32Array {
  const known = new Float32Array(result.tokens.length).fill(NaN);
  for (const [before, after] of carried(of.result.tokens, result.tokens))
    known[after] = values[before]!;
  return known;
}
