import { decimals, powerOfTen, signedDecimals } from '../../ui/text/format.ts';

const usual = decimals(4);

/** A number between text and answer: four digits after the point, or how small it is. */
export function fine(value: number): string {
  if (value === -Infinity) return '−∞';
  if (value !== 0 && Math.abs(value) < 0.0005) return powerOfTen(value);
  return usual(value);
}

const signs = signedDecimals(4);
/** The same with its sign, for terms of a sum. */
export const term = (value: number): string =>
  value !== 0 && Math.abs(value) < 0.0005
    ? (value < 0 ? '' : '+') + powerOfTen(value)
    : signs(value);
