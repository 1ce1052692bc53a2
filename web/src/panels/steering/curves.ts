/** What the curves over the strength show. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { decimals, percent } from '../../ui/text/format.ts';

/** The plot's vertical extent. */
export const [top, bottom] = [6, 108];

export interface Curve<Point> {
  name: string;
  title: string;
  value: (point: Point) => number;
  y: (value: number) => number;
  /** Labeled values. */
  marks: readonly number[];
  shown: (value: number) => string;
}

const [shares, one] = [scaleLinear([0, 1], [bottom, top]), decimals(1)];

/** A curve of numbers between 0 and 1. */
export function shareCurve<Point>(
  name: string,
  title: string,
  value: (point: Point) => number,
): Curve<Point> {
  return { name, title, value, y: shares, marks: [0, 1], shown: (share) => percent(share) };
}

/** A curve of numbers of at least 1, on a logarithmic scale. */
export function perplexityCurve<Point>(
  name: string,
  title: string,
  points: readonly Point[],
  value: (point: Point) => number,
): Curve<Point> {
  const values = points.map(value);
  const [least, most] = [Math.min(...values), Math.max(2, ...values)];
  const y = scaleLog([Math.max(1, least * 0.9), most * 1.1], [bottom, top]);
  return { name, title, value, y, marks: [least, most], shown: one };
}
