/** With the minus sign that typographers set, which is as wide as a plus. */
const withMinus = (number: string): string => number.replace(/^-/, '−');

/** Writes numbers with so many digits after the point; what rounds to nothing has no sign. */
export const decimals =
  (digits: number) =>
  (value: number): string => {
    const text = value.toFixed(digits);
    return withMinus(Number(text) === 0 ? text.replace('-', '') : text);
  };

/** The same, with a sign before all of them. */
export const signedDecimals =
  (digits: number) =>
  (value: number): string =>
    (value < 0 ? '' : '+') + withMinus(value.toFixed(digits));

/** A number by its first digit, one more, and its power of ten. */
export const powerOfTen = (value: number): string => withMinus(value.toExponential(1));

/** With so many digits from the first one that is not zero, none of them as a power of ten. */
export const significant =
  (digits: number) =>
  (value: number): string => {
    const rounded = Number(value.toPrecision(digits));
    const before = rounded === 0 ? 1 : Math.floor(Math.log10(Math.abs(rounded))) + 1;
    return withMinus(rounded.toFixed(Math.max(0, digits - before)));
  };

const wholes = new Intl.NumberFormat('en');

/** A probability as per cent, never rounded up to certainty. */
export function percent(probability: number): string {
  if (probability > 0.9995 && probability < 1) return '>99.9%';
  if (probability < 0.0005 && probability > 0) return '<0.1%';
  return `${decimals(1)(100 * probability)}%`;
}

/** A difference of probabilities, in percentage points. */
export const points = (difference: number): string => signedDecimals(1)(difference * 100);

/** A share as whole per cent. */
export const wholePercent = (share: number): string => `${decimals(0)(100 * share)}%`;

/** A number with its sign, for evidence. */
export const signed = signedDecimals(2);
export const finelySigned = signedDecimals(3);

/** A share of something, such as of the largest entropy. */
export const fraction = decimals(2);

/** An attention weight. */
export const weight = (value: number): string =>
  value === 0 ? '0' : value < 0.0005 ? '<0.001' : decimals(3)(value);

export const count = (number: number): string => wholes.format(number);

/** How many of something there are, in words. */
export const counted = (number: number, thing: string): string =>
  `${count(number)} ${thing}${number === 1 ? '' : 's'}`;

/** What the package's two binaries are called. */
export const binaryNames = { simd: 'SIMD', relaxed: 'relaxed SIMD' };

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${decimals(0)(value / 1e3)} kB`;
  return value < 1e9 ? `${decimals(1)(value / 1e6)} MB` : `${decimals(1)(value / 1e9)} GB`;
}

export const milliseconds = (value: number): string => `${decimals(value < 10 ? 1 : 0)(value)} ms`;
