/** A study: many texts with and without an intervention, and what it changes on average. */
import type { Head, Patch, Token, TracedTensor } from 'glassformer';
import type { HeadPosition } from '../../panels/heads/position.ts';
import { random } from '../../ui/random.ts';

/** The kinds of attention. */
export type Attention = 'encoder' | 'decoder' | 'cross';

/** The parts that are taken away: the outputs of heads, or hidden units of one layer. All count from 0. */
export type Target =
  | { kind: 'heads'; attention: Attention; heads: readonly HeadPosition[] }
  | {
      kind: 'units';
      stack: 'encoder' | 'decoder';
      layer: number;
      units: readonly number[];
    };
/** The substitute: zeros, or the mean over all tokens of the study's texts. */
export type Substitute = 'zero' | 'mean';

const contextOf = (attention: Attention, layer: number) =>
  attention === 'cross'
    ? `decoder.layers.${layer}.encoder_attn.context`
    : `${attention}.layers.${layer}.self_attn.context`;
const hiddenOf = ({ stack, layer }: Extract<Target, { kind: 'units' }>) =>
  `${stack}.layers.${layer}.fc1`;

/** Returns the tensors that an intervention needs from the run without it. */
export function namesFor(target: Target, substitute: Substitute): string[] {
  if (target.kind === 'units') return [hiddenOf(target)];
  if (substitute === 'zero') return [];
  return [...new Set(target.heads.map(({ layer }) => contextOf(target.attention, layer)))];
}

export type Trace = Readonly<Record<string, TracedTensor>>;

/** Mean vectors over all tokens of all texts, by the name of the tensor. */
export class Means {
  readonly #sums = new Map<string, Float64Array>();
  #tokens = 0;

  add(trace: Trace): void {
    let tokens = 0;
    for (const [name, { shape, data }] of Object.entries(trace)) {
      tokens = shape[0]!;
      const width = data.length / tokens;
      let sums = this.#sums.get(name);
      if (!sums) this.#sums.set(name, (sums = new Float64Array(width)));
      for (let i = 0; i < data.length; i++) sums[i % width]! += data[i]!;
    }
    this.#tokens += tokens;
  }

  of(name: string): Float32Array {
    return Float32Array.from(this.#sums.get(name) ?? [], (sum) => sum / this.#tokens);
  }
}

/** Returns the options that carry out an intervention on a text whose run has this trace. */
export function optionsFor(
  target: Target,
  substitute: Substitute,
  { trace, means }: { trace: Trace; means: Means },
): { ablate?: Head<Attention>[]; patch?: Patch[] } {
  if (target.kind === 'units') {
    const name = hiddenOf(target);
    const { shape, data } = trace[name]!;
    const width = shape[1]!;
    const mean = means.of(name);
    const changed = Float32Array.from(data);
    for (const unit of target.units)
      for (let row = 0; row < shape[0]!; row++)
        changed[row * width + unit] = substitute === 'zero' ? 0 : mean[unit]!;
    return { patch: [{ name, value: { shape, data: changed } }] };
  }
  if (substitute === 'zero')
    return { ablate: target.heads.map((head) => ({ attention: target.attention, ...head })) };
  const patch = target.heads.map(({ layer, head }): Patch => {
    const name = contextOf(target.attention, layer);
    const [tokens, , width] = trace[name]!.shape as [number, number, number];
    const own = means.of(name).subarray(head * width, (head + 1) * width);
    const value = new Float32Array(tokens * width);
    for (let row = 0; row < tokens; row++) value.set(own, row * width);
    return { name, heads: [head], value: { shape: [tokens, 1, width], data: value } };
  });
  return { patch };
}

/** The result of a run on an item. */
export interface Told {
  /** The answer: a label, the next token, or the likeliest token at each place of a translation. */
  label: string;
  /** The number that the study is about. */
  measure: number;
  /** Whether it is the right answer, of two if the line names another one; undefined if none is known. */
  right: boolean | undefined;
}

/** A text's answer, and the number that the study is about, without and with the intervention. */
export interface StudyOutcome {
  text: string;
  /** The right answer, if it is known. */
  label?: string | undefined;
  before: Told;
  after: Told;
}

/** A mean with its 95% interval. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

const meanOf = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Returns the mean and its 95% interval by the bootstrap (Efron 1979): the means of samples that are
 * drawn from the values with replacement, without the lowest and highest 2.5%.
 */
export function bootstrap(values: readonly number[], samples = 2000, seed = 1): Interval {
  const draw = random(seed);
  const means = Array.from({ length: samples }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(draw() * values.length)]!;
    return sum / values.length;
  }).sort((a, b) => a - b);
  const at = (share: number) => means[Math.round(share * (samples - 1))]!;
  return { mean: meanOf(values), low: at(0.025), high: at(0.975) };
}

export interface Summary {
  texts: number;
  /** Change of the measured number, after − before. */
  delta: Interval;
  /** The number of texts with another answer. */
  flipped: number;
  /** The number of texts whose answer turned right or wrong. */
  turned: number;
  /** The number of texts with a label, and the shares of right answers among them. */
  labeled: number;
  rightBefore: number;
  rightAfter: number;
  /** Change of the share of right answers. */
  right: Interval | undefined;
}

export function summaryOf(outcomes: readonly StudyOutcome[]): Summary {
  const labeled = outcomes.filter(({ before }) => before.right !== undefined);
  const isRight = (outcome: StudyOutcome, when: 'before' | 'after') => Number(outcome[when].right);
  const share = (when: 'before' | 'after') =>
    labeled.length === 0 ? NaN : meanOf(labeled.map((outcome) => isRight(outcome, when)));
  return {
    texts: outcomes.length,
    delta: bootstrap(outcomes.map(({ before, after }) => after.measure - before.measure)),
    flipped: outcomes.filter(({ before, after }) => before.label !== after.label).length,
    labeled: labeled.length,
    rightBefore: share('before'),
    rightAfter: share('after'),
    turned: labeled.filter(({ before, after }) => before.right !== after.right).length,
    right:
      labeled.length === 0
        ? undefined
        : bootstrap(labeled.map((each) => isRight(each, 'after') - isRight(each, 'before'))),
  };
}

/** A token and how much it activates a hidden unit. */
export interface Activation {
  text: string;
  /** The token's place in the text. */
  start: number;
  end: number;
  value: number;
}

/** Keeps the tokens that activate a hidden unit the most. */
export class TopTokens {
  #found: Activation[] = [];
  readonly #unit: number;
  readonly #most: number;

  constructor(unit: number, most: number) {
    this.#unit = unit;
    this.#most = most;
  }

  add(text: string, tokens: readonly Token[], { shape, data }: TracedTensor): void {
    const width = shape[1]!;
    tokens.forEach(({ start, end }, row) => {
      const value = data[row * width + this.#unit]!;
      if (value > 0) this.#found.push({ text, start, end, value });
    });
    this.#found = this.#found.sort((a, b) => b.value - a.value).slice(0, this.#most);
  }

  get found(): readonly Activation[] {
    return this.#found;
  }
}

/** Reads numbers of units such as "3, 17-19", counted from 1; returns them from 0. */
export function unitsIn(text: string, width: number): number[] {
  const units = new Set<number>();
  for (const [, first, last] of text.matchAll(/(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?/g)) {
    const end = Math.min(Number(last ?? first), width);
    for (let unit = Number(first); unit <= end; unit++) if (unit > 0) units.add(unit - 1);
  }
  return [...units].sort((a, b) => a - b);
}
