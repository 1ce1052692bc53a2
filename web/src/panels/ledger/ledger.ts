/**
 * A ledger as the page shows it: the contribution of each token and component of the model to the
 * evidence. A layer's heads are one component unless they are unfolded.
 */
import type { Explanations } from 'glassformer';

export type LedgerTable = Pick<
  Explanations['direct_logit_attribution'],
  'value' | 'columns' | 'effects' | 'written' | 'read' | 'asks' | 'answers' | 'content'
>;

/** Where a head's contribution counts: in the row it is written to, or the token it is read from. */
export type LedgerView = 'written' | 'read';

/** One or more columns of a ledger, shown as one. */
export interface Component {
  /** The two lines above its column: the layer, if any, and the part. */
  place: string;
  short: string;
  /** The full name. */
  name: string;
  /** The indices of the ledger's columns that it adds up. */
  columns: number[];
  /** The layer of heads; undefined for other parts. */
  layer: number | undefined;
  /** Whether it is a single head of an unfolded layer. */
  unfolded: boolean;
  /** Whether it can be left out to measure its effect. */
  causes: boolean;
}

const plain: Record<string, [short: string, name: string]> = {
  embed_tokens: ['token', 'token embeddings'],
  embed_positions: ['position', 'positional encodings'],
  embed_types: ['segment', 'segment embeddings'],
  bias: ['bias', 'biases'],
  rounding: ['rounding', 'rounding to 8 bits'],
};

/** The head that a column belongs to. */
export interface LedgerHead {
  layer: number;
  head: number;
  /** Whether it is a cross-attention head, which reads the source of a translation. */
  cross: boolean;
}

/** Returns undefined if the column is not a head. */
export function headOf(column: string): LedgerHead | undefined {
  const [, layer, site, head] =
    /^layers\.(\d+)\.(self|encoder)_attn\.head\.(\d+)$/.exec(column) ?? [];
  return layer === undefined
    ? undefined
    : { layer: Number(layer), head: Number(head), cross: site === 'encoder' };
}

/** Returns the components in the order of the model, with single heads in `unfolded` layers. */
export function componentsOf(
  columns: readonly string[],
  unfolded: ReadonlySet<number>,
): Component[] {
  const components: Component[] = [];
  columns.forEach((column, index) => {
    const head = headOf(column);
    const layer = head?.layer ?? Number(/^layers\.(\d+)\.fc2$/.exec(column)?.[1] ?? NaN);
    if (Number.isNaN(layer)) {
      const [short, name] = plain[column] ?? [column, column];
      const causes = column.startsWith('embed');
      components.push({
        place: '',
        short,
        name,
        columns: [index],
        layer: undefined,
        unfolded: false,
        causes,
      });
      return;
    }
    const place = `layer ${layer + 1}`;
    if (!head) {
      components.push({
        place,
        short: 'FFN',
        name: `${place}, feed-forward`,
        columns: [index],
        layer: undefined,
        unfolded: false,
        causes: true,
      });
      return;
    }
    const one = unfolded.has(layer);
    if (head.head > 0 && !one) {
      components.at(-1)!.columns.push(index);
      return;
    }
    const number = head.head + 1;
    const short = head.cross ? (one ? `c. ${number}` : 'cross') : one ? `h. ${number}` : 'heads';
    const name = `${place}, ${one ? `head ${number}` : 'heads'}${head.cross ? ' of cross-attention' : ''}`;
    components.push({
      place,
      short,
      name,
      columns: [index],
      layer,
      unfolded: one,
      causes: true,
    });
  });
  return components;
}

/** A ledger's numbers with their sums. */
export interface Sheet {
  tokens: number;
  /** [tokens, components] */
  values: Float32Array;
  byToken: Float32Array;
  byComponent: Float32Array;
  /** The largest absolute value. */
  largest: number;
  /** The sum of all numbers: the evidence. */
  sum: number;
}

export function sheetOf(
  table: LedgerTable,
  view: LedgerView,
  components: readonly Component[],
): Sheet {
  const { shape, data } = table[view];
  const [tokens = 0, width = 0] = shape;
  const count = components.length;
  const values = new Float32Array(tokens * count);
  const byToken = new Float32Array(tokens);
  const byComponent = new Float32Array(count);
  for (let token = 0; token < tokens; token++) {
    components.forEach(({ columns }, component) => {
      const value = columns.reduce((sum, column) => sum + data[token * width + column]!, 0);
      values[token * count + component] = value;
      byToken[token]! += value;
      byComponent[component]! += value;
    });
  }
  const largestOf = (list: Float32Array) =>
    list.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return {
    tokens,
    values,
    byToken,
    byComponent,
    largest: largestOf(values),
    sum: byToken.reduce((sum, value) => sum + value, 0),
  };
}

/**
 * Returns the effect of each component, with it − without it, or NaN if it is not known. `ofHeads`
 * has the effects of heads that are shown as one, by the first head's column, because the effects
 * of single heads do not add up.
 */
export function effectsOf(
  components: readonly Component[],
  ofColumns: readonly number[] | undefined,
  ofHeads: ReadonlyMap<number, number>,
): number[] {
  return components.map(({ columns, layer, unfolded, causes }) => {
    if (!causes) return NaN;
    const [first] = columns as [number];
    return (layer !== undefined && !unfolded ? ofHeads.get(first) : ofColumns?.[first]) ?? NaN;
  });
}

/** What later heads make of each component. */
export interface Loadings {
  /** How much of the number heads have carried on from it. */
  carried: number[];
  /** How much it moves the number through where heads look: as a query and as a key. */
  routing: number[];
}

/** Returns undefined if the table has no loadings. */
export function loadingsOf(
  components: readonly Component[],
  { columns: { length: width }, asks, answers, content }: LedgerTable,
): Loadings | undefined {
  if (!asks || !answers || !content) return undefined;
  const sumOf = (table: Float32Array, columns: readonly number[]) => {
    let sum = 0;
    for (let head = 0; head < table.length; head += width)
      for (const column of columns) sum += table[head + column]!;
    return sum;
  };
  return {
    carried: components.map(({ columns }) => sumOf(content.data, columns)),
    routing: components.map(
      ({ columns }) => sumOf(asks.data, columns) + sumOf(answers.data, columns),
    ),
  };
}
