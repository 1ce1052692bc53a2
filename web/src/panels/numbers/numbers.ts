import { decimals, powerOfTen, signedDecimals } from '../../ui/text/format.ts';

const usual = decimals(4);

/** Formats a number with four decimals, or with a power of ten if it is small. */
export function fine(value: number): string {
  if (value === -Infinity) return '−∞';
  if (value !== 0 && Math.abs(value) < 0.0005) return powerOfTen(value);
  return usual(value);
}

const signs = signedDecimals(4);
/** Formats a term of a sum, with its sign. */
export const term = (value: number): string =>
  value !== 0 && Math.abs(value) < 0.0005
    ? (value < 0 ? '' : '+') + powerOfTen(value)
    : signs(value);
