/** How the methods do on many texts: methods.json in a model's folder (tests/evaluate/methods.mjs). */
import { measurements } from '../../models/measurements.ts';
import { decimals, signed } from '../../ui/text/format.ts';
import { ledgerRead, scoringMethods, valueMethods, type Method } from './methods.ts';

interface Interval {
  mean: number;
  /** Of the 95 % confidence interval. */
  low: number;
  high: number;
}

export interface MeasuredMethods {
  texts: number;
  /** The best first. */
  methods: readonly ({ method: string; behind: Interval } & Interval)[];
}

export const measuredMethods = measurements(
  'methods.json',
  (json) => (json as MeasuredMethods | null) ?? undefined,
);

const methods: Record<string, Method> = {
  direct_logit_attribution: ledgerRead,
  ...scoringMethods,
  ...valueMethods,
};
const nameOf = (method: string) => `“${methods[method]?.name ?? method}”`;
const listed = new Intl.ListFormat('en');

/** Says which method wins on many texts, by how much, and which cannot be told from it. */
export function toldMeasured({ texts, methods }: MeasuredMethods): string {
  const [best, ...others] = methods;
  if (!best) return '';
  const told = ({ mean, low, high }: Interval, shown: (value: number) => string) =>
    `${shown(mean)} (95%: ${shown(low)} to ${shown(high)})`;
  const ties = others.filter(({ behind }) => behind.low <= 0);
  const next = others.find(({ behind }) => behind.low > 0);
  const tied = listed.format(ties.map(({ method }) => nameOf(method)));
  return (
    `On ${texts} texts that the model was not trained on, ${nameOf(best.method)} scores best: ` +
    `${told(best, signed)}.` +
    (ties.length > 0 ? ` ${tied} cannot be told from it.` : '') +
    (next ? ` ${nameOf(next.method)} is behind by ${told(next.behind, decimals(2))}.` : '')
  );
}
