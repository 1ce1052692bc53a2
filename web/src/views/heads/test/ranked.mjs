// Ranks texts for a head from the package's attention weights, with the definitions of heads.json.
import { join } from 'node:path';
import {
  crossSets,
  shares,
  squareSets,
  wordsOf,
} from '../../../../../tests/evaluate/head_shares.mjs';
import { Classifier, Generator, Translator } from '../../../../../dist/index.js';
import { root } from '../../../../../tests/page/open.mjs';

const start = { text: '<s>', start: 0, end: 0 };

/** Per model: its class, and the attention of a text with the tokens on both sides. */
const kinds = {
  sentiment: {
    opens: Classifier,
    async read(model, text) {
      const { tokens, attention } = await model.classify(text, { attention: true });
      return { map: attention.encoder, queries: tokens, keys: tokens };
    },
  },
  writer: {
    opens: Generator,
    async read(model, text) {
      const options = { count: 1, attention: true };
      const { promptTokens, attention } = await model.next(text, options);
      return { map: attention.decoder, queries: promptTokens, keys: promptTokens };
    },
  },
  'en-de': {
    opens: Translator,
    async read(model, text, { attention: kind }) {
      const { sentences } = await model.translate(text, { beams: 4, attention: true });
      if (sentences.length > 1) return undefined;
      const [{ tokens, sourceTokens, attention }] = sentences;
      const fed = [start, ...tokens.slice(0, -1)];
      const [queries, keys] = {
        encoder: [sourceTokens, sourceTokens],
        decoder: [fed, fed],
        cross: [tokens, sourceTokens],
      }[kind];
      return { map: attention[kind], queries, keys };
    },
  },
};

/** Returns the largest weight between two different words. */
function largest(map, { layer, head }, queries, keys, square) {
  const weights = map.at(layer, head);
  let most = 0;
  for (const [q, query] of queries.entries())
    for (const [k, key] of keys.entries()) {
      if (query.special || key.special || (square && q === k)) continue;
      for (const row of query.pieces)
        for (const column of key.pieces) most = Math.max(most, weights[row * map.keys + column]);
    }
  return most;
}

/** Resolves to { text, value } for each text, the largest value first. */
export async function ranked(name, head, set, texts) {
  const { opens, read } = kinds[name];
  const model = await opens.load(join(root, 'weights', name), { compute: 'f32' });
  const found = [];
  for (const text of texts) {
    const result = await read(model, text, head);
    if (!result) continue;
    const { map } = result;
    const [queries, keys] = [wordsOf(result.queries), wordsOf(result.keys)];
    const square = head.attention !== 'cross';
    const sets = square
      ? squareSets(queries, head.attention === 'decoder')
      : crossSets(queries, keys);
    const value = set
      ? shares(map, sets)[head.layer][head.head].sets[set].share
      : largest(map, head, queries, keys, square);
    found.push({ text, value });
  }
  model.dispose();
  return found.sort((a, b) => b.value - a.value);
}
