/**
 * A ledger as the page shows it: of each token and component of the model, its part of the evidence.
 * A layer's heads stand together unless they are unfolded.
 */
import type { Explanations } from 'glassformer';

export type LedgerTable = Pick<
  Explanations['ledger'],
  'value' | 'columns' | 'effects' | 'written' | 'read'
>;

/** By the row that something is written to, or the token that a head read it from. */
export type LedgerView = 'written' | 'read';

/** Some of a ledger's columns, as one. */
export interface Component {
  /** As it stands over a column: in the first line where it is, if anywhere, then what. */
  place: string;
  short: string;
  /** In full. */
  name: string;
  /** Which of the ledger's columns it adds up. */
  columns: number[];
  /** Of heads, their layer. */
  layer: number | undefined;
  /** Whether it is one of a layer's heads, which stand beside one another. */
  unfolded: boolean;
  /** Whether something can be left out, to see what that causes. */
  causes: boolean;
}

const plain: Record<string, [short: string, name: string]> = {
  embed_tokens: ['words', 'the tokens’ own vectors'],
  embed_positions: ['places', 'their positions'],
  embed_types: ['texts', 'the first text or the second'],
  bias: ['bias', 'the biases'],
  rounding: ['rounding', 'what rounding to 8 bits leaves over'],
};

/** A head that a column is of. */
export interface LedgerHead {
  layer: number;
  head: number;
  /** Whether it reads the source of a translation. */
  cross: boolean;
}

/** Undefined where the column is of none. */
export function headOf(column: string): LedgerHead | undefined {
  const [, layer, site, head] =
    /^layers\.(\d+)\.(self|encoder)_attn\.head\.(\d+)$/.exec(column) ?? [];
  return layer === undefined
    ? undefined
    : { layer: Number(layer), head: Number(head), cross: site === 'encoder' };
}

/** In the order of the model; of the layers in `unfolded` each head is one. */
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
        short: 'f.-f.',
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
    const short = head.cross ? (one ? `s. ${number}` : 'source') : one ? `h. ${number}` : 'heads';
    const name = `${place}, ${one ? `head ${number}` : 'heads'}${head.cross ? ' on the source' : ''}`;
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
  /** The largest of all these numbers without its sign. */
  largest: number;
  /** Of all: the evidence. */
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
 * What leaving out each component changes: Δ, after − before. `ofHeads` is of all heads that
 * stand as one, by the first one's column, as their own effects do not add up. NaN where it is not
 * known.
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
