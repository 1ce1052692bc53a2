import { GlassformerError } from '../index.js';

/** Throws `invalid_option` unless a condition holds. */
export function expect(condition: boolean, name: string, expected: string): void {
  if (!condition) throw new GlassformerError('invalid_option', `${name}: expected ${expected}`);
}

/** Throws `invalid_option` for options that a call does not have. */
export function checkKeys(options: unknown, known: readonly string[]): void {
  expect(typeof options === 'object' && options !== null, 'options', 'an object');
  for (const key of Object.keys(options as object)) {
    expect(known.includes(key), `option "${key}"`, `one of ${known.join(', ')}`);
  }
}
