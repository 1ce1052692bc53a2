import { GlassformerError, messageOf } from './errors.js';
import { checkOption } from './options.js';

export type AttentionKind = 'encoder' | 'decoder' | 'cross';

/** One kind of attention, as a result holds it or as JSON of a result does. */
export interface AttentionJson {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  /**
   * [layers, heads, queries, keys], row-major: numbers, or base64 of little-endian f32 as the
   * command line writes it. What `JSON.stringify` makes of a `Float32Array` will do, too.
   */
  data: ArrayLike<number> | Readonly<Record<string, number>> | string;
}

interface Piece {
  text: string;
  /** Special tokens have `start === end`. */
  start?: number;
  end?: number;
}

/** A result of any class of this package that was asked for its attention, or its JSON. */
export interface AttentionResult {
  tokens?: readonly Piece[];
  /** What a translator read. */
  sourceTokens?: readonly Piece[];
  /** What a generator read. */
  promptTokens?: readonly Piece[];
  attention?: { [Kind in AttentionKind]?: AttentionJson };
  /** A translation's. */
  sentences?: readonly AttentionResult[];
}

/** One kind of attention, and what its rows and columns are called. */
export interface Weights {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  /** [layers, heads, queries, keys] */
  data: Float32Array;
  /** Row i sees columns 0 … i only. */
  causal: boolean;
  queryLabels: string[];
  keyLabels: string[];
}

/** A text that was read, or a sentence of it. */
export interface Part {
  name: string;
  attention: Map<AttentionKind, Weights>;
}

const kinds: readonly AttentionKind[] = ['encoder', 'decoder', 'cross'];

const labelOf = ({ text }: Piece): string => text.trim() || '␣';

/** Throws `invalid_option` where it cannot be shown. */
export function partsOf(given: AttentionResult | string): Part[] {
  const result = typeof given === 'string' ? parsed(given) : given;
  checkOption(typeof result === 'object' && result !== null, 'result', `an object, got ${result}`);
  const { error } = result as { error?: { message?: string } };
  checkOption(!error, 'result', `an answer, got the error "${error?.message}"`);
  const sentences = result.sentences ?? [result];
  checkOption(sentences.length > 0, 'sentences', 'at least one, got none');
  return sentences.map((sentence, index) => {
    const attention = new Map<AttentionKind, Weights>();
    for (const kind of kinds) {
      const map = sentence.attention?.[kind];
      if (map) attention.set(kind, weightsOf(kind, map, labelsOf(kind, sentence)));
    }
    const wanted = 'weights, as of a call with { attention: true } or --attention; got none';
    checkOption(attention.size > 0, 'attention', wanted);
    return { name: nameOf(sentence, index), attention };
  });
}

function parsed(json: string): AttentionResult {
  try {
    return JSON.parse(json) as AttentionResult;
  } catch (cause) {
    const message = `result: expected JSON of one result: ${messageOf(cause)}`;
    throw new GlassformerError('invalid_option', message, { cause });
  }
}

function nameOf({ sourceTokens = [] }: AttentionResult, index: number): string {
  const own = sourceTokens.filter(({ start, end }) => start === undefined || start !== end);
  const text = own.map((token) => token.text).join('');
  return `${index + 1}. ${text.trim().slice(0, 40)}`;
}

function labelsOf(kind: AttentionKind, result: AttentionResult): [string[], string[]] {
  const { tokens = [], sourceTokens, promptTokens } = result;
  const written = tokens.map(labelOf);
  const source = sourceTokens?.map(labelOf) ?? written;
  if (kind === 'encoder') return [source, source];
  if (kind === 'cross') return [written, source];
  if (!promptTokens) return [written, ['start', ...written.slice(0, -1)]];
  const all = [...promptTokens.map(labelOf), ...written];
  return [all, all];
}

function weightsOf(
  kind: AttentionKind,
  { layers, heads, queries, keys, data }: AttentionJson,
  [queryLabels, keyLabels]: [string[], string[]],
): Weights {
  const where = `attention.${kind}`;
  for (const [name, value] of Object.entries({ layers, heads, queries, keys })) {
    const valid = Number.isInteger(value) && value > 0;
    checkOption(valid, `${where}.${name}`, `a positive integer, got ${value}`);
  }
  const causal = kind === 'decoder';
  // The last token that a generator writes is not read again.
  const named = (labels: string[], count: number, side: string): string[] => {
    const enough = labels.length === count || (causal && labels.length > count);
    const wanted = `${count} for the ${side} of ${where}, got ${labels.length}`;
    checkOption(enough, 'tokens', wanted);
    return labels.slice(0, count);
  };
  const weights = numbersOf(data, `${where}.data`);
  const count = layers * heads * queries * keys;
  const wanted = `${layers} × ${heads} × ${queries} × ${keys} numbers, got ${weights.length}`;
  checkOption(weights.length === count, `${where}.data`, wanted);
  const finite = weights.every(Number.isFinite);
  checkOption(finite, `${where}.data`, 'finite numbers');
  return {
    ...{ layers, heads, queries, keys, causal },
    data: weights,
    queryLabels: named(queryLabels, queries, 'rows'),
    keyLabels: named(keyLabels, keys, 'columns'),
  };
}

function numbersOf(data: AttentionJson['data'], where: string): Float32Array {
  if (data instanceof Float32Array) return data;
  if (typeof data === 'string') return fromBase64(data, where);
  checkOption(typeof data === 'object' && data !== null, where, `numbers or base64, got ${data}`);
  return Float32Array.from(
    typeof data.length === 'number' ? (data as ArrayLike<number>) : Object.values(data),
  );
}

function fromBase64(text: string, where: string): Float32Array {
  let binary;
  try {
    binary = atob(text);
  } catch (cause) {
    throw new GlassformerError('invalid_option', `${where}: expected base64`, { cause });
  }
  checkOption(binary.length % 4 === 0, where, `whole f32 numbers, got ${binary.length} bytes`);
  return new Float32Array(Uint8Array.from(binary, (byte) => byte.charCodeAt(0)).buffer);
}
