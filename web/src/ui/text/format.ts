/** Replaces a hyphen with a minus sign, which is as wide as a plus. */
const withMinus = (number: string): string => number.replace(/^-/, '−');

/** Formats numbers with `digits` decimals. A number that rounds to zero has no sign. */
export const decimals =
  (digits: number) =>
  (value: number): string => {
    const text = value.toFixed(digits);
    return withMinus(Number(text) === 0 ? text.replace('-', '') : text);
  };

/** Formats numbers with `digits` decimals and always a sign. */
export const signedDecimals =
  (digits: number) =>
  (value: number): string =>
    (value < 0 ? '' : '+') + withMinus(value.toFixed(digits));

/** Formats a number with two significant digits and a power of ten. */
export const powerOfTen = (value: number): string => withMinus(value.toExponential(1));

/** Formats numbers with `digits` significant digits, without a power of ten. */
export const significant =
  (digits: number) =>
  (value: number): string => {
    const rounded = Number(value.toPrecision(digits));
    const before = rounded === 0 ? 1 : Math.floor(Math.log10(Math.abs(rounded))) + 1;
    return withMinus(rounded.toFixed(Math.max(0, digits - before)));
  };

const wholes = new Intl.NumberFormat('en');

/** Formats a probability in percent. It is never rounded up to certainty. */
export function percent(probability: number): string {
  if (probability > 0.9995 && probability < 1) return '>99.9%';
  if (probability < 0.0005 && probability > 0) return '<0.1%';
  return `${decimals(1)(100 * probability)}%`;
}

/** Formats a difference of probabilities in percentage points. */
export const points = (difference: number): string => signedDecimals(1)(difference * 100);

/** Formats a share in whole percent. */
export const wholePercent = (share: number): string => `${decimals(0)(100 * share)}%`;

/** Formats evidence, with its sign. */
export const signed = signedDecimals(2);
export const finelySigned = signedDecimals(3);

/** Formats a share, such as that of the maximum entropy. */
export const fraction = decimals(2);

/** Formats an attention weight. */
export const weight = (value: number): string =>
  value === 0 ? '0' : value < 0.0005 ? '<0.001' : decimals(3)(value);

export const count = (number: number): string => wholes.format(number);

/** Formats a number with a noun, such as "3 heads". */
export const counted = (number: number, thing: string): string =>
  `${count(number)} ${thing}${number === 1 ? '' : 's'}`;

/** The names of the package's two binaries. */
export const binaryNames = { simd: 'SIMD', relaxed: 'relaxed SIMD' };

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${decimals(0)(value / 1e3)} kB`;
  return value < 1e9 ? `${decimals(1)(value / 1e6)} MB` : `${decimals(1)(value / 1e9)} GB`;
}

export const milliseconds = (value: number): string => `${decimals(value < 10 ? 1 : 0)(value)} ms`;
