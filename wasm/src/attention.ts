import { checkOption } from './options.js';
import type { AttentionMap } from './types.js';

/** An attention map that structured cloning can carry: without its method. */
export type RawAttention = Omit<AttentionMap, 'at'>;

export type Raw<Maps> = { [Name in keyof Maps]: RawAttention };

export function toAttentionMap({ layers, heads, queries, keys, data }: RawAttention): AttentionMap {
  return {
    layers,
    heads,
    queries,
    keys,
    data,
    at(layer, head) {
      const size = queries * keys;
      const index = (value: number, count: number, name: string): number => {
        const valid = Number.isInteger(value) && value >= 0 && value < count;
        checkOption(valid, name, `an integer from 0 to ${count - 1}, got ${value}`);
        return value;
      };
      const begin = (index(layer, layers, 'layer') * heads + index(head, heads, 'head')) * size;
      return data.subarray(begin, begin + size);
    },
  };
}

/** The maps that a result holds by name, with their methods. */
export function toAttentionMaps<Maps extends Record<keyof Maps, AttentionMap>>(
  raw: Raw<Maps>,
): Maps {
  const maps = Object.entries<RawAttention>(raw).map(([name, map]) => [name, toAttentionMap(map)]);
  return Object.fromEntries(maps) as Maps;
}
