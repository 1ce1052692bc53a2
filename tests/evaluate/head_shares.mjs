// Where heads look: shares of attention by words, as Clark et al. 2019 have them. A word's row is the
// mean of its pieces', a word's column the sum.

const folded = (text) => text.trim().toLowerCase();

// A piece that the vocabulary lacks is written as its bytes.
const byte = /<0x([0-9A-F]{2})>/g;
const isBytes = (text) => /^ ?(<0x[0-9A-F]{2}>)+$/.test(text);

const readBytes = (text) =>
  text.replace(/(<0x[0-9A-F]{2}>)+/, (run) =>
    Buffer.from(run.replace(byte, '$1'), 'hex').toString('utf8'),
  );

/**
 * The tokens, bytes that follow one another as one: { pieces, text, special }. A special token stands
 * for no part of the text; the space that a tokenizer puts before a text is none.
 */
function unitsOf(tokens) {
  const units = [];
  for (const [i, { text, start, end }] of tokens.entries()) {
    const bytes = isBytes(text);
    const special = start === end && !bytes && !/^\s+$/.test(text);
    const before = units.at(-1);
    if (bytes && before?.bytes && !/^\s/.test(text)) {
      before.pieces.push(i);
      before.text += text;
    } else units.push({ pieces: [i], text, bytes, special });
  }
  return units.map(({ pieces, text, bytes, special }) => ({
    ...{ pieces, special },
    text: bytes ? readBytes(text) : text,
  }));
}

const hasLetter = (text) => /[\p{L}\p{N}]/u.test(text);
const isBlank = (text) => text.trim() === '';

// An apostrophe within a word ("don't") or before its letters ("it 's", "'em"), a hyphen within one.
function joins(text, before, next) {
  if (!next || next.special || !/^[\p{L}\p{N}]/u.test(next.text)) return false;
  if (/^\s?['’]$/.test(text) && (/^\s/.test(text) || isBlank(before))) return true;
  return /^['’‐‑-]$/.test(text) && hasLetter(before);
}

/**
 * The words of some tokens: { pieces, text, special }. One begins at whitespace, and where letters or
 * digits meet what is neither: "seven." is two, "don't" and "well-known" are one each. A special
 * token is one by itself.
 */
export function wordsOf(tokens) {
  const units = unitsOf(tokens);
  const words = [];
  for (const [i, { pieces, text, special }] of units.entries()) {
    const before = special || words.at(-1)?.special ? undefined : words.at(-1);
    const wordly = hasLetter(text) || joins(text, before?.text ?? '', units[i + 1]);
    const begins =
      !before || /^\s/.test(text) || (!isBlank(before.text) && wordly !== before.wordly);
    if (begins) words.push({ pieces: [...pieces], text, special, wordly });
    else {
      before.pieces.push(...pieces);
      before.text += text;
      before.wordly ||= wordly;
    }
  }
  return words.map(({ pieces, text, special }) => ({ pieces, text, special }));
}

const isPunctuation = ({ text, special }) => !special && !hasLetter(text) && !isBlank(text);

// Marks come again in nearly every text, and are no words.
const isSameWord = (a, b) => hasLetter(a.text) && folded(a.text) === folded(b.text);

/**
 * The sets of key words for each query word, where both are the same text. A set may be empty for a
 * word: its share is 0 then. Sets that this kind of attention never sees are left out.
 */
export function squareSets(words, causal) {
  const queries = words.flatMap((word, q) => {
    if (word.special) return [];
    const keys = words.map((_, k) => k).filter((k) => !causal || k <= q);
    const where = (holds) => keys.filter((k) => holds(words[k], k));
    return [
      {
        word,
        keys,
        sets: {
          previous: where((_, k) => k === q - 1),
          same: [q],
          first: where((_, k) => k === 0),
          ...(!causal && { next: where((_, k) => k === q + 1), last: [words.length - 1] }),
          specials: where(({ special }) => special),
          punctuation: where(isPunctuation),
          sameWord: where((other, k) => k !== q && isSameWord(other, word)),
        },
      },
    ];
  });
  return { words, queries, causal };
}

/** The same of what is written, over its source. */
export function crossSets(written, source) {
  const keys = source.map((_, k) => k);
  const where = (holds) => keys.filter((k) => holds(source[k]));
  const queries = written
    .filter(({ special }) => !special)
    .map((word) => ({
      word,
      keys,
      sets: {
        first: [0],
        last: [source.length - 1],
        specials: where(({ special }) => special),
        punctuation: where(isPunctuation),
        sameWord: where((other) => isSameWord(other, word)),
      },
    }));
  return { words: source, queries, causal: false };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * One text's means over all its words, by layer and head: { share, even, apart, entropy }. The entropy
 * is the mean over tokens that see more than one token: with one there is nothing to spread.
 */
export function shares(map, sets) {
  return Array.from({ length: map.layers }, (_, layer) =>
    Array.from({ length: map.heads }, (_, head) => sharesOf(map.at(layer, head), map.keys, sets)),
  );
}

function sharesOf(map, width, { words, queries, causal }) {
  const sums = new Map();
  const add = (set, share, even, apart) => {
    const entry = sums.get(set) ?? { share: [], even: [], apart: [] };
    entry.share.push(share);
    entry.even.push(even);
    if (apart !== undefined) entry.apart.push(apart);
    sums.set(set, entry);
  };
  const entropies = [];
  for (const { word, keys, sets } of queries) {
    for (const piece of word.pieces) {
      const row = map.subarray(piece * width, (piece + 1) * width);
      const seen = causal ? piece + 1 : width;
      const entropy = row.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);
      if (seen > 1) entropies.push(entropy / Math.log(seen));
    }
    const onto = (some) =>
      mean(
        word.pieces.map((piece) =>
          some
            .flatMap((k) => words[k].pieces)
            .reduce((sum, key) => sum + map[piece * width + key], 0),
        ),
      );
    const pieces = (some) => some.reduce((sum, k) => sum + words[k].pieces.length, 0);
    const plain = keys.filter((k) => !words[k].special);
    const rest = onto(plain);
    for (const [name, set] of Object.entries(sets)) {
      const share = onto(set);
      const text = set.filter((k) => !words[k].special);
      const apart = text.length === set.length && rest > 0 ? share / rest : undefined;
      add(name, share, pieces(set) / pieces(keys), apart);
    }
  }
  const means = [...sums].map(([name, { share, even, apart }]) => [
    name,
    { share: mean(share), even: mean(even), apart: apart.length > 0 ? mean(apart) : undefined },
  ]);
  return {
    sets: Object.fromEntries(means),
    entropy: entropies.length > 0 ? mean(entropies) : undefined,
  };
}

const rounded = (value) => Number(value.toFixed(4));

/** Gathers texts' means; what a head has over all of them. */
export function meanShares() {
  const texts = new Map(); // by site
  return {
    add(site, text) {
      texts.set(site, [...(texts.get(site) ?? []), text]);
    },
    /**
     * The mean over all texts of each set's share of attention, of what even attention would give it,
     * and of its share among the text's own tokens. A set that no text has is left out.
     */
    of({ attention, layer, head }) {
      const own = texts.get(attention).map((text) => text[layer][head]);
      const result = { share: {}, even: {}, withoutSpecials: {} };
      for (const name of new Set(own.flatMap(({ sets }) => Object.keys(sets)))) {
        const all = own.map(({ sets }) => sets[name]).filter(Boolean);
        if (all.every(({ even }) => even === 0)) continue;
        result.share[name] = rounded(mean(all.map(({ share }) => share)));
        result.even[name] = rounded(mean(all.map(({ even }) => even)));
        const apart = all.map((set) => set.apart).filter((share) => share !== undefined);
        if (apart.length > 0) result.withoutSpecials[name] = rounded(mean(apart));
      }
      const entropies = own.map(({ entropy }) => entropy).filter((x) => x !== undefined);
      return { ...result, entropy: rounded(mean(entropies)) };
    },
  };
}
