// BLEU and chrF as sacreBLEU computes them by default. BLEU: corpus level, tokenization 13a,
// exponential smoothing (Papineni et al. 2002; Post 2018). chrF2: character 1- to 6-grams without
// white space (Popović 2015). Both are from 0 to 100. `references[i]` are the references of
// sentence i.

/** Separates punctuation from words and keeps numbers whole, with the rules of mteval-v13a. */
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

/** Counts each n-gram of the units. */
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

/**
 * Returns BLEU's counts of one answer: its words, the reference's words, and for n-grams of each
 * length from 1 to 4 the matches and the total.
 */
export function bleuCounts(hypothesis, references) {
  const words = tokenize13a(hypothesis);
  const rows = references.map(tokenize13a);
  // The reference with the nearest length; of two, the shorter.
  const [referenceLength] = rows
    .map((row) => row.length)
    .sort((a, b) => Math.abs(a - words.length) - Math.abs(b - words.length) || a - b);
  const counts = [words.length, referenceLength];
  for (let n = 1; n <= 4; n++) {
    const highest = new Map();
    for (const row of rows) {
      for (const [gram, count] of ngrams(row, n)) {
        highest.set(gram, Math.max(count, highest.get(gram) ?? 0));
      }
    }
    const ours = ngrams(words, n);
    counts.push(overlap(ours, highest), total(ours));
  }
  return counts;
}

/** Computes BLEU from the bleuCounts of all answers. */
export function bleuOf(answers) {
  const sums = answers[0].map((_, i) => answers.reduce((sum, counts) => sum + counts[i], 0));
  const [length, referenceLength, ...grams] = sums;
  const matches = grams.filter((_, i) => i % 2 === 0);
  const totals = grams.filter((_, i) => i % 2 === 1);
  if (matches[0] === 0 || totals[3] === 0) return 0;
  let logarithm = 0;
  let smooth = 1;
  matches.forEach((match, n) => {
    if (match === 0) smooth *= 2;
    logarithm += Math.log(match === 0 ? 1 / (smooth * totals[n]) : match / totals[n]) / 4;
  });
  return 100 * Math.exp(logarithm + Math.min(0, 1 - referenceLength / length));
}

export const bleu = (hypotheses, references) =>
  bleuOf(hypotheses.map((hypothesis, i) => bleuCounts(hypothesis, references[i])));

/**
 * Returns the 95 % confidence interval [from, to] of a figure. `figure` takes the indices of items
 * drawn with repetition from `count` items. The draws are always the same.
 */
export function bootstrap(count, figure) {
  const samples = 1000;
  let state = 1; // the same draws each time
  const draw = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const figures = Array.from({ length: samples }, () =>
    figure(Array.from({ length: count }, draw)),
  );
  figures.sort((a, b) => a - b);
  return [figures[0.025 * samples], figures[0.975 * samples - 1]];
}

/**
 * Returns the 95 % confidence interval [from, to] of the difference in BLEU of two systems, by
 * paired bootstrap resampling (Koehn 2004). The arguments are their bleuCounts of the same
 * sentences.
 */
export function differenceInterval(ours, theirs) {
  const scoreOf = (counts, drawn) => bleuOf(drawn.map((i) => counts[i]));
  return bootstrap(ours.length, (drawn) => scoreOf(ours, drawn) - scoreOf(theirs, drawn));
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

/**
 * Returns F2 of the mean precision and the mean recall over the orders that occur on both sides.
 */
function fScore(rows) {
  const there = rows.filter(([ours, theirs]) => ours > 0 && theirs > 0);
  if (there.length === 0) return 0;
  const mean = (side) => there.reduce((sum, row) => sum + row[2] / row[side], 0) / there.length;
  const [precision, recall] = [mean(0), mean(1)];
  return precision + recall === 0 ? 0 : (5 * precision * recall) / (4 * precision + recall);
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const rounded = (value) => Number(value.toFixed(4));

/** Returns a number of the texts `drawn`, and its 95 % confidence interval over `count` texts. */
export function intervalOf(count, number) {
  const all = Array.from({ length: count }, (_, i) => i);
  const [low, high] = bootstrap(count, number);
  return { mean: rounded(number(all)), low: rounded(low), high: rounded(high) };
}

/** Returns the mean of one number per text, and its 95 % confidence interval. */
export const interval = (values) =>
  intervalOf(values.length, (drawn) => mean(drawn.map((i) => values[i])));

/** Returns an interval as text. */
export const told = ({ mean: middle, low, high }) =>
  `${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;

/** Returns Pearson's correlation of pairs. */
export function correlation(pairs) {
  const [x, y] = [0, 1].map((side) => mean(pairs.map((pair) => pair[side])));
  const sum = (product) => pairs.reduce((total, [a, b]) => total + product(a - x, b - y), 0);
  return sum((a, b) => a * b) / Math.sqrt(sum((a) => a * a) * sum((_, b) => b * b));
}
