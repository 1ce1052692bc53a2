/**
 * Unfolds a number of a trace: a sum of terms, and the operations on that sum. Everything is
 * recomputed in doubles from the trace's numbers and the weights, so that it can be compared with
 * the model's own number.
 */
import type { Activation, StackName } from '../reading/stacks.ts';
import { headOf, keysOf, rowOf, spread, tensor, type Place, type Run } from '../reading/run.ts';
import type { Recipe } from './steps.ts';

/** A number of another step that can be unfolded there. */
export interface Source {
  tensor: string;
  index: number;
  of: 'token' | 'key' | 'text';
  /** The token or the key in whose row it is, if that is another one. */
  at?: number;
}

export interface Factor {
  value: number;
  /** For example "x[5]" or "W[3, 5]". */
  name: string;
  source?: Source;
}

export interface Term {
  name: string;
  factors: readonly Factor[];
  value: number;
}

export interface Unfolded {
  name: string;
  terms: readonly Term[];
  sum: number;
  /** The operations on the sum, in order; empty if the sum is the number. */
  then: readonly { name: string; value: number }[];
  /** The recomputed number. */
  result: number;
  /** The model's own number. */
  traced: number;
  /** Whether the terms are added up or only listed. */
  joined: 'sum' | 'list';
}

const product = (name: string, ...factors: Factor[]): Term => ({
  name,
  factors,
  value: factors.reduce((all, { value }) => all * value, 1),
});

const sumOf = (terms: readonly Term[]) => terms.reduce((sum, { value }) => sum + value, 0);

/** Computes ReLU, GELU, or GELU's tanh approximation (Hendrycks and Gimpel 2016). */
export function activate(kind: Activation, x: number): number {
  if (kind === 'relu') return Math.max(0, x);
  if (kind === 'gelu') return 0.5 * x * (1 + erf(x / Math.SQRT2));
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

/** The error function by its series, which is exact enough for display if |x| < 5. */
function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; n < 120; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** Returns a tensor's short name in terms, from the last part of its full name. */
export const shortName = (name: string): string =>
  ({
    embeddings: 'x',
    input: 'x',
    residual: 'x',
    output: 'o',
    embed_tokens: 'e',
    embed_positions: 'p',
  })[name.split('.').at(-1)!] ??
  name
    .split('.')
    .at(-1)!
    .replace(/^.*layer_norm$/, 'n');

/** The number to unfold: its tensor, recipe and index, and whose row it is in. */
export interface Asked {
  tensor: string;
  recipe: Recipe;
  index: number;
  of: 'token' | 'key' | 'text';
  place: Place;
}

/** Rows of weights, each undefined until it has arrived. */
export interface Rows {
  row(name: string, index: number): Float32Array | undefined;
}

/** Rows that have arrived, in the order of `rowsOf`. */
type Needed = readonly Float32Array[];

/** Unfolds a number. Returns undefined until all rows of weights that it needs have arrived. */
export function unfold(run: Run, asked: Asked, weights: Rows | undefined): Unfolded | undefined {
  const rows = rowsOf(run, asked).map(([name, index]) => weights?.row(name, index));
  return rows.includes(undefined) ? undefined : unfolded(run, asked, rows as Needed);
}

/** Returns the rows of weights that a number depends on: of a matrix, then of a bias. */
function rowsOf(run: Run, asked: Asked): [name: string, index: number][] {
  const { recipe, index, place } = asked;
  const whose = whoseRow(asked);
  switch (recipe.made) {
    case 'lookup':
      return [[recipe.weight, run.pieces[stackOf(asked)]![whose]!.id]];
    case 'position':
      return [[recipe.weight, recipe.first + whose]];
    case 'norm':
    case 'product': {
      const { shape } = tensor(run, asked.tensor);
      const heads = recipe.made === 'product' && shape.length === 3;
      const at = heads ? place.head * shape[2]! + index : index;
      return [[recipe.weight, at], ...(recipe.bias ? [[recipe.bias, at] as [string, number]] : [])];
    }
    default:
      return [];
  }
}

const stackOf = (asked: Asked) => asked.tensor.split('.')[0] as StackName;
const whoseRow = ({ of, place }: Asked) => (of === 'key' ? place.key : place.token);

function unfolded(run: Run, asked: Asked, [first, second]: Needed): Unfolded {
  const { recipe, index, place } = asked;
  const whose = whoseRow(asked);
  const of = asked.of;
  const from = (name: string, i: number): Factor => ({
    value: rowOf(run, name, whose)[i]!,
    name: `${shortName(name)}[${i}]`,
    source: { tensor: name, index: i, of },
  });
  const traced = tracedNumber(run, asked);
  const made = (
    terms: Term[],
    then: Unfolded['then'] = [],
    more: Partial<Unfolded> = {},
  ): Unfolded => {
    const sum = more.sum ?? sumOf(terms);
    return {
      name: `${shortName(asked.tensor)}[${index}]`,
      terms,
      sum,
      then,
      result: then.at(-1)?.value ?? sum,
      traced,
      joined: 'sum',
      ...more,
    };
  };

  switch (recipe.made) {
    case 'lookup': {
      const { id } = run.pieces[stackOf(asked)]![whose]!;
      const value = first![index]!;
      const entry = { value, name: `E[${id}, ${index}]` };
      if (recipe.scale === 1) return made([product('', entry)]);
      return made([product('', entry, { value: recipe.scale, name: '√d' })]);
    }
    case 'sinusoid': {
      const width = rowOf(run, asked.tensor, whose).length;
      const half = recipe.halves ? index % (width / 2) : Math.floor(index / 2);
      const sine = recipe.halves ? index < width / 2 : index % 2 === 0;
      const angle = whose / 10000 ** ((2 * half) / width);
      const value = sine ? Math.sin(angle) : Math.cos(angle);
      const speed = {
        value: 10000 ** ((-2 * half) / width),
        name: `10000^(−${2 * half}/${width})`,
      };
      const terms = [product('', { value: whose, name: 't' }, speed)];
      return made(terms, [{ name: sine ? 'sin' : 'cos', value }]);
    }
    case 'position': {
      const at = recipe.first + whose;
      return made([product('', { value: first![index]!, name: `P[${at}, ${index}]` })]);
    }
    case 'sum':
      return made(recipe.of.map((name) => product('', from(name, index))));
    case 'norm': {
      const parts = recipe.of.map((name) => rowOf(run, name, whose));
      const values = Float64Array.from(parts[0]!, (_, i) =>
        parts.reduce((sum, part) => sum + part[i]!, 0),
      );
      const { mean, deviation } = spread(values, recipe.kind, recipe.eps);
      const gamma = { value: first![0]!, name: `γ[${index}]` };
      const terms = [
        product(
          '',
          {
            ...from(recipe.of[0]!, index),
            value: values[index]! - mean,
            name: `(x[${index}] − μ)`,
          },
          { value: 1 / deviation, name: '1/σ' },
          gamma,
        ),
      ];
      if (recipe.bias) terms.push(product('', { value: second![0]!, name: `β[${index}]` }));
      return made(terms);
    }
    case 'product': {
      const heads = tensor(run, asked.tensor).shape.length === 3;
      const at = heads ? place.head * tensor(run, asked.tensor).shape[2]! + index : index;
      const terms = Array.from(first!, (value, i) =>
        product(`${i}`, from(recipe.of, i), { value, name: `W[${at}, ${i}]` }),
      );
      if (recipe.bias) terms.push(product('b', { value: second![0]!, name: `b[${at}]` }));
      if (!recipe.activation) return made(terms);
      const value = activate(recipe.activation, sumOf(terms));
      return made(terms, [{ name: recipe.activation === 'relu' ? 'relu' : 'gelu', value }]);
    }
    case 'score': {
      // `index` is the key.
      const q = headOf(run, recipe.q, place.token, place.head);
      const k = headOf(run, recipe.k, index, place.head);
      const terms = Array.from(q, (value, i) =>
        product(
          `${i}`,
          { value, name: `q[${i}]`, source: { tensor: recipe.q, index: i, of: 'token' } },
          { value: k[i]!, name: `k[${i}]`, source: { tensor: recipe.k, index: i, of: 'key' } },
        ),
      );
      const value = sumOf(terms) / recipe.divisor;
      const root = Math.round(recipe.divisor ** 2);
      return made(terms, [{ name: `÷ √${root}`, value }], { name: 'score' });
    }
    case 'share': {
      const scores = keysOf(run, recipe.of, place.token, place.head);
      // Like the model, subtracts the maximum: this avoids overflow and doesn't change the weights.
      const most = Math.max(...scores);
      const terms = Array.from(scores, (value, i) => ({
        name: `${i}`,
        factors: [
          {
            value: value - most,
            name: `s[${i}] − max`,
            source: { tensor: recipe.of, index: i, of: 'token' as const },
          },
        ],
        value: Math.exp(value - most),
      }));
      const own = terms[index]!.value;
      return made(terms, [{ name: `${own.toFixed(4)} ÷ sum`, value: own / sumOf(terms) }], {
        name: 'weight',
        joined: 'list',
      });
    }
    case 'mixture': {
      const shares = keysOf(run, recipe.weights, place.token, place.head);
      const terms = Array.from(shares, (value, i) =>
        product(
          `${i}`,
          { value, name: `a[${i}]`, source: { tensor: recipe.weights, index: i, of: 'token' } },
          {
            value: headOf(run, recipe.values, i, place.head)[index]!,
            name: `v[${index}]`,
            source: { tensor: recipe.values, index, of: 'key', at: i },
          },
        ),
      );
      return made(terms);
    }
    case 'mean':
    case 'first': {
      const { shape } = tensor(run, recipe.of);
      const tokens = recipe.made === 'mean' ? shape[0]! : 1;
      const terms = Array.from({ length: tokens }, (_, i) =>
        product(
          `${i}`,
          {
            value: rowOf(run, recipe.of, i)[index]!,
            name: `n[${index}]`,
            source: { tensor: recipe.of, index, of: 'token', at: i },
          },
          { value: 1 / tokens, name: '1/n' },
        ),
      );
      return made(terms);
    }
  }
}

function tracedNumber(run: Run, { tensor: name, recipe, index, of, place }: Asked): number {
  if (recipe.made === 'score' || recipe.made === 'share')
    return keysOf(run, name, place.token, place.head)[index]!;
  const whose = of === 'key' ? place.key : place.token;
  const heads = tensor(run, name).shape.length === 3;
  const row = rowOf(run, name, whose);
  return heads ? headOf(run, name, whose, place.head)[index]! : row[index]!;
}
