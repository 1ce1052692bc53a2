import type { Classifier, Token } from 'glassformer';
import { isStandIn } from '../../../../panels/words/tokens.ts';
import { withTypo } from './typo.ts';

export interface TokensLive {
  /** The text that was read, with or without the typing error. */
  text: string;
  tokens: readonly Token[];
  /** The tokens of the text without the error. */
  before: readonly Token[];
  words: number;
  /** Whether there is a typing error. */
  misspelt: boolean;
  /** The number of tokens that stand for characters outside the vocabulary. */
  unknown: number;
  vocabSize: number;
}

export async function readTokens(
  model: Classifier,
  text: string,
  typo: boolean,
  signal: AbortSignal,
): Promise<TokensLive> {
  const read = typo ? withTypo(text) : text;
  const [{ tokens }, { tokens: before }] = await Promise.all([
    model.classify(read, { signal }),
    model.classify(text, { signal }),
  ]);
  return {
    text: read,
    tokens,
    before,
    words: text.split(/\s+/).filter((word) => word !== '').length,
    misspelt: read !== text,
    unknown: tokens.filter((token) => isStandIn(token, read.slice(token.start, token.end))).length,
    vocabSize: model.architecture.encoder!.vocabSize,
  };
}

/** Returns the choices for the number of tokens, in order, and which of them is right. */
export function choicesFor({ words, before, text }: TokensLive): {
  choices: readonly number[];
  right: number;
} {
  const right = before.length;
  const letters = text.replace(/\s/g, '').length;
  const choices = new Set([right, words, Math.max(1, words - 2), letters]);
  // There are always four.
  for (let more = right + 5; choices.size < 4; more += 5) choices.add(more);
  const sorted = [...choices].sort((a, b) => a - b);
  return { choices: sorted, right: sorted.indexOf(right) };
}
