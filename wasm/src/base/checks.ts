import { GlassformerError } from './errors.js';

/** Throws `invalid_option` if `options` is not an object or has a key that is not in `known`. */
export function checkOptions(options: object, known: readonly string[], where: string): void {
  if (typeof options !== 'object' || options === null) {
    throw new GlassformerError('invalid_option', `${where}: expected an object`);
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new GlassformerError(
        'invalid_option',
        `${where}: unknown option "${key}"; known are ${known.join(', ')}`,
      );
    }
  }
}

/** Throws `invalid_option` unless `condition` holds. */
export function checkOption(condition: boolean, name: string, expected: string): void {
  if (condition) return;
  throw new GlassformerError('invalid_option', `${name}: expected ${expected}`, { field: name });
}

/** Returns whether `value` is of this built-in class. Unlike instanceof, works across frames. */
export function isA(
  value: unknown,
  name:
    | 'AbortSignal'
    | 'ArrayBuffer'
    | 'Blob'
    | 'File'
    | 'Float32Array'
    | 'HTMLCanvasElement'
    | 'ImageBitmap'
    | 'OffscreenCanvas'
    | 'TrustedScriptURL'
    | 'Uint8Array'
    | 'Uint8ClampedArray'
    | 'URL'
    | 'WebAssembly.Module',
): boolean {
  return Object.prototype.toString.call(value) === `[object ${name}]`;
}

export function checkSignal(signal: unknown): void {
  checkOption(signal === undefined || isSignal(signal), 'signal', 'an AbortSignal');
}

// A signal of any frame or library accepts a listener; an object that only looks like one throws.
function isSignal(value: unknown): boolean {
  const callback = (): void => {};
  try {
    const signal = value as AbortSignal;
    signal.addEventListener('abort', callback);
    signal.removeEventListener('abort', callback);
    return isA(signal, 'AbortSignal') && typeof signal.aborted === 'boolean';
  } catch {
    return false;
  }
}

export function checkTimeout(timeout: number | undefined): void {
  const most = 2 ** 31 - 1; // the limit of timers
  const valid =
    timeout === undefined || (Number.isFinite(timeout) && timeout >= 1 && timeout <= most);
  checkOption(valid, 'timeout', `milliseconds from 1 to ${most}`);
}
