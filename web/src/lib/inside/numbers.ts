import { format } from 'd3-format';

const usual = format('.4f');
const small = format('.1e');

/** A number between text and answer: four digits after the point, or how small it is. */
export function fine(value: number): string {
  if (value === -Infinity) return '−∞';
  if (value !== 0 && Math.abs(value) < 0.0005) return small(value);
  return usual(value);
}

const signs = format('+.4f');
/** The same with its sign, for terms of a sum. */
export const term = (value: number): string =>
  value !== 0 && Math.abs(value) < 0.0005 ? format('+.1e')(value) : signs(value);
