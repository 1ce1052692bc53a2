// The attention of heads by words, as in Clark et al. 2019. The row of a word is the mean of its
// pieces' rows, the column of a word is the sum of their columns.

const folded = (text) => text.trim().toLowerCase();

// Characters that the vocabulary lacks are written as bytes.
const byte = /<0x([0-9A-F]{2})>/g;
const isBytes = (text) => /^ ?(<0x[0-9A-F]{2}>)+$/.test(text);

const readBytes = (text) =>
  text.replace(/(<0x[0-9A-F]{2}>)+/, (run) =>
    Buffer.from(run.replace(byte, '$1'), 'hex').toString('utf8'),
  );

/**
 * Returns the tokens { pieces, text, special }; adjacent bytes are one token. A special token
 * covers no part of the text. The space that a tokenizer puts before a text is not special.
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

// Tells whether a token is an apostrophe inside a word ("don't") or before its letters ("it 's",
// "'em"), or a hyphen inside a word.
function joins(text, before, next) {
  if (!next || next.special || !/^[\p{L}\p{N}]/u.test(next.text)) return false;
  if (/^\s?['’]$/.test(text) && (/^\s/.test(text) || isBlank(before))) return true;
  return /^['’‐‑-]$/.test(text) && hasLetter(before);
}

/**
 * Groups tokens into words { pieces, text, special }. A word begins at whitespace, and between
 * letters or digits and other characters: "seven." is two words, "don't" and "well-known" are one
 * each. A special token is a word of its own.
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

// Punctuation marks recur in nearly every text, and are not words.
const isSameWord = (a, b) => hasLetter(a.text) && folded(a.text) === folded(b.text);

/**
 * Returns the sets of key words for each query word, if both are the same text. A word may have an
 * empty set: its share is 0. Sets that this kind of attention cannot read are left out.
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

/** Returns the sets of source words for each word of the output. */
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
 * Returns the means over all words of one text, by layer and head: { share, even, apart, entropy }.
 * The entropy is the mean over tokens that read more than one token: with one it is always 0.
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

/** Collects the means of texts, and averages them for each head. */
export function meanShares() {
  const texts = new Map(); // by site
  return {
    add(site, text) {
      texts.set(site, [...(texts.get(site) ?? []), text]);
    },
    /**
     * Returns the means over all texts: each set's share of attention, its share with even
     * attention, and its share among the text's own tokens. A set that no text has is left out.
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
