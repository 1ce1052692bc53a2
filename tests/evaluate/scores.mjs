// BLEU and chrF as sacreBLEU computes them by default: corpus level, tokenisation 13a, exponential
// smoothing (Papineni et al. 2002; Post 2018); chrF2 of character 1- to 6-grams without white space
// (Popović 2015). Both from 0 to 100; `references[i]` are the alternatives for sentence i.

/** Punctuation apart from words, numbers whole: mteval-v13a's rules. */
export function tokenize13a(text) {
  const entities = { '&quot;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>' };
  return ` ${text.replace(/&(?:quot|amp|lt|gt);/g, (entity) => entities[entity])} `
    .replace(/([{-~[-` -&(-+:-@/])/g, ' $1 ')
    .replace(/([^0-9])([.,])/g, '$1 $2 ')
    .replace(/([.,])([^0-9])/g, ' $1 $2')
    .replace(/([0-9])(-)/g, '$1 $2 ')
    .split(/\s+/u)
    .filter((word) => word !== '');
}

/** How often each run of `n` units occurs. */
function ngrams(units, n) {
  const counts = new Map();
  for (let i = 0; i + n <= units.length; i++) {
    const gram = units.slice(i, i + n).join('\u0000');
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

const total = (counts) => [...counts.values()].reduce((sum, count) => sum + count, 0);

function overlap(counts, others) {
  let sum = 0;
  for (const [gram, count] of counts) sum += Math.min(count, others.get(gram) ?? 0);
  return sum;
}

export function bleu(hypotheses, references) {
  const matches = [0, 0, 0, 0];
  const totals = [0, 0, 0, 0];
  let length = 0;
  let referenceLength = 0;
  hypotheses.forEach((hypothesis, i) => {
    const words = tokenize13a(hypothesis);
    const rows = references[i].map(tokenize13a);
    length += words.length;
    // The reference whose length is nearest; of two, the shorter.
    referenceLength += rows
      .map((row) => row.length)
      .sort((a, b) => Math.abs(a - words.length) - Math.abs(b - words.length) || a - b)[0];
    for (let n = 1; n <= 4; n++) {
      const highest = new Map();
      for (const row of rows) {
        for (const [gram, count] of ngrams(row, n)) {
          highest.set(gram, Math.max(count, highest.get(gram) ?? 0));
        }
      }
      const counts = ngrams(words, n);
      matches[n - 1] += overlap(counts, highest);
      totals[n - 1] += total(counts);
    }
  });
  if (matches[0] === 0 || totals[3] === 0) return 0;
  let logarithm = 0;
  let smooth = 1;
  matches.forEach((match, n) => {
    if (match === 0) smooth *= 2;
    logarithm += Math.log(match === 0 ? 1 / (smooth * totals[n]) : match / totals[n]) / 4;
  });
  return 100 * Math.exp(logarithm + Math.min(0, 1 - referenceLength / length));
}

export function chrf(hypotheses, references) {
  const orders = 6;
  const sums = Array.from({ length: orders }, () => [0, 0, 0]); // hypothesis, reference, common
  const characters = (text) => [...text.replace(/\s/gu, '')];
  hypotheses.forEach((hypothesis, i) => {
    const ours = characters(hypothesis);
    const candidates = references[i].map((reference) => {
      const theirs = characters(reference);
      return sums.map((_, n) => {
        const [own, other] = [ngrams(ours, n + 1), ngrams(theirs, n + 1)];
        return [total(own), total(other), overlap(own, other)];
      });
    });
    const best = candidates.reduce((a, b) => (fScore(b) > fScore(a) ? b : a));
    best.forEach((row, n) => row.forEach((value, j) => (sums[n][j] += value)));
  });
  return 100 * fScore(sums);
}

/** F2 of the mean precision and the mean recall over the orders that occur on both sides. */
function fScore(rows) {
  const there = rows.filter(([ours, theirs]) => ours > 0 && theirs > 0);
  if (there.length === 0) return 0;
  const mean = (side) => there.reduce((sum, row) => sum + row[2] / row[side], 0) / there.length;
  const [precision, recall] = [mean(0), mean(1)];
  return precision + recall === 0 ? 0 : (5 * precision * recall) / (4 * precision + recall);
}
