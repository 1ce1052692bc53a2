import { GlassformerError, messageOf } from '../base/errors.js';
import { checkOption } from '../base/checks.js';

export type AttentionKind = 'encoder' | 'decoder' | 'cross';

/** One kind of attention in a result or in its JSON. */
export interface AttentionJson {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  /**
   * [layers, heads, queries, keys], row-major: numbers, or base64 of little-endian f32 as the
   * command line writes it, or the output of `JSON.stringify` for a `Float32Array`.
   */
  data: ArrayLike<number> | Readonly<Record<string, number>> | string;
}

interface Piece {
  text: string;
  /** Special tokens have `start === end`. */
  start?: number;
  end?: number;
}

/** A result of any class of this package with attention, or its JSON. */
export interface AttentionResult {
  tokens?: readonly Piece[];
  /** The input of a translator. */
  sourceTokens?: readonly Piece[];
  /** The input of a generator. */
  promptTokens?: readonly Piece[];
  attention?: { [Kind in AttentionKind]?: AttentionJson };
  /** The sentences of a translation. */
  sentences?: readonly AttentionResult[];
}

/** One kind of attention, and the names of its rows and columns. */
export interface Weights {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  /** [layers, heads, queries, keys] */
  data: Float32Array;
  /** Whether row i only sees columns 0 … i. */
  causal: boolean;
  queryLabels: string[];
  keyLabels: string[];
}

/** A text, or a sentence of it. */
export interface Part {
  name: string;
  attention: Map<AttentionKind, Weights>;
}

const kinds: readonly AttentionKind[] = ['encoder', 'decoder', 'cross'];

const labelOf = ({ text }: Piece): string => text.trim() || '␣';

/** Converts a result for display. Throws `invalid_option` if that is impossible. */
export function partsOf(given: AttentionResult | string): Part[] {
  const result = typeof given === 'string' ? parsed(given) : given;
  checkObject(result, 'result');
  const { error } = result as { error?: { message?: unknown } };
  checkOption(!error, 'result', `an answer, got the error ${shown(error?.message)}`);
  const sentences = result.sentences ?? [result];
  checkArray(sentences, 'sentences');
  checkOption(sentences.length > 0, 'sentences', 'at least one, got none');
  return sentences.map((sentence, index) => {
    checkObject(sentence, `sentences[${index}]`);
    for (const name of ['tokens', 'sourceTokens', 'promptTokens'] as const) {
      checkTokens(sentence[name], name);
    }
    checkObject(sentence.attention ?? {}, 'attention');
    const attention = new Map<AttentionKind, Weights>();
    for (const kind of kinds) {
      const map = sentence.attention?.[kind];
      if (!map) continue;
      checkObject(map, `attention.${kind}`);
      attention.set(kind, weightsOf(kind, map, labelsOf(kind, sentence)));
    }
    const wanted = 'weights, as of a call with { attention: true } or --attention; got none';
    checkOption(attention.size > 0, 'attention', wanted);
    return { name: nameOf(sentence, index), attention };
  });
}

/** Returns a JSON value as text for a message. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value.slice(0, 200)}"`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function checkObject(value: unknown, name: string): void {
  const valid = typeof value === 'object' && value !== null && !Array.isArray(value);
  checkOption(valid, name, `an object, got ${shown(value)}`);
}

function checkArray(value: unknown, name: string): void {
  checkOption(Array.isArray(value), name, `an array, got ${shown(value)}`);
}

function checkTokens(tokens: unknown, name: string): void {
  if (tokens === undefined) return;
  checkArray(tokens, name);
  const valid = (tokens as unknown[]).every(
    (token) => typeof (token as Partial<Piece> | null)?.text === 'string',
  );
  checkOption(valid, name, 'objects with a text');
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
    checkOption(valid, `${where}.${name}`, `a positive integer, got ${shown(value)}`);
  }
  const causal = kind === 'decoder';
  // A generator does not read the last token that it writes.
  const named = (labels: string[], count: number, side: string): string[] => {
    const enough = labels.length === count || (causal && labels.length > count);
    const wanted = `${count} for the ${side} of ${where}, got ${labels.length}`;
    checkOption(enough, 'tokens', wanted);
    return labels.slice(0, count);
  };
  const rows = named(queryLabels, queries, 'rows');
  const columns = named(keyLabels, keys, 'columns');
  const count = layers * heads * queries * keys;
  // Allocates nothing before the sizes match, because a few bytes of JSON can claim any length.
  const got = countOf(data, `${where}.data`);
  const wanted = `${layers} × ${heads} × ${queries} × ${keys} numbers, got ${got}`;
  checkOption(got === count, `${where}.data`, wanted);
  const weights = numbersOf(data, `${where}.data`);
  const finite = weights.every(Number.isFinite);
  checkOption(finite, `${where}.data`, 'finite numbers');
  return {
    ...{ layers, heads, queries, keys, causal },
    data: weights,
    queryLabels: rows,
    keyLabels: columns,
  };
}

/** Returns whether `length` is a property of real data, and not just a number in an object. */
function isList(data: unknown): data is ArrayLike<number> {
  return Array.isArray(data) || (ArrayBuffer.isView(data) && !(data instanceof DataView));
}

/** Returns the number of numbers that are present. */
function countOf(data: AttentionJson['data'], where: string): number {
  if (typeof data === 'string') return base64Bytes(data) / 4;
  checkOption(
    typeof data === 'object' && data !== null,
    where,
    `numbers or base64, got ${shown(data)}`,
  );
  return isList(data) ? data.length : Object.keys(data).filter(isIndex).length;
}

const isIndex = (key: string): boolean => /^\d+$/.test(key);

function numbersOf(data: AttentionJson['data'], where: string): Float32Array {
  if (data instanceof Float32Array) return data;
  if (typeof data === 'string') return fromBase64(data, where);
  const numbers = isList(data)
    ? data
    : Object.entries(data).flatMap(([key, value]) => (isIndex(key) ? [value as number] : []));
  return Float32Array.from(numbers, (value) => (typeof value === 'number' ? value : NaN));
}

function base64Bytes(text: string): number {
  return Math.floor((text.replace(/[\t\n\f\r =]/g, '').length * 3) / 4);
}

function fromBase64(text: string, where: string): Float32Array {
  let binary;
  try {
    binary = atob(text);
  } catch (cause) {
    throw new GlassformerError('invalid_option', `${where}: expected base64`, { cause });
  }
  return new Float32Array(Uint8Array.from(binary, (byte) => byte.charCodeAt(0)).buffer);
}
