import { checkOption, isA } from '../base/checks.js';

/**
 * Attention weights after softmax. Each row belongs to a query and sums to 1.
 *
 * `structuredClone` and `postMessage` keep its data but not its class: `new AttentionMap(clone)`
 * restores the method.
 */
export class AttentionMap {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  /** [layers, heads, queries, keys], row-major. */
  data: Float32Array;

  constructor({ layers, heads, queries, keys, data }: RawAttention) {
    const size = layers * heads * queries * keys;
    const valid = isA(data, 'Float32Array') && data.length === size;
    checkOption(valid, 'data', `a Float32Array of ${size} weights`);
    this.layers = layers;
    this.heads = heads;
    this.queries = queries;
    this.keys = keys;
    this.data = data;
  }

  /** Returns a head's [queries, keys], row-major, as a view of `data`. */
  at(layer: number, head: number): Float32Array {
    const size = this.queries * this.keys;
    const index = (value: number, count: number, name: string): number => {
      const valid = Number.isInteger(value) && value >= 0 && value < count;
      checkOption(valid, name, `an integer from 0 to ${count - 1}, got ${value}`);
      return value;
    };
    const first = index(layer, this.layers, 'layer') * this.heads;
    const begin = (first + index(head, this.heads, 'head')) * size;
    return this.data.subarray(begin, begin + size);
  }
}

/** A structured clone of an AttentionMap, which lacks its method. */
export type RawAttention = Omit<AttentionMap, 'at'>;
