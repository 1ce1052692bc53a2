import { format } from 'd3-format';

/** A probability as per cent, never rounded up to certainty. */
export function percent(probability: number): string {
  if (probability > 0.9995 && probability < 1) return '>99.9%';
  if (probability < 0.0005 && probability > 0) return '<0.1%';
  return format('.1%')(probability);
}

/** A difference of probabilities, in percentage points. */
export const points = (difference: number): string => format('+.1f')(difference * 100);

/** A share as whole per cent. */
export const wholePercent = format('.0%');

/** A number with its sign, for evidence. */
export const signed = format('+.2f');
export const finelySigned = format('+.3f');

/** A share of something, such as of the largest entropy. */
export const fraction = format('.2f');

/** An attention weight. */
export const weight = (value: number): string =>
  value === 0 ? '0' : value < 0.0005 ? '<0.001' : format('.3f')(value);

export const count = format(',');

/** How many of something there are, in words. */
export const counted = (number: number, thing: string): string =>
  `${count(number)} ${thing}${number === 1 ? '' : 's'}`;

/** What the package's two binaries are called. */
export const binaryNames = { simd: 'SIMD', relaxed: 'relaxed SIMD' };

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${format('.0f')(value / 1e3)} kB`;
  return value < 1e9 ? `${format('.1f')(value / 1e6)} MB` : `${format('.1f')(value / 1e9)} GB`;
}

export const milliseconds = (value: number): string =>
  `${format(value < 10 ? '.1f' : '.0f')(value)} ms`;
