import { onAbort } from './signals.js';

type End<Result> = { result: Result } | { error: unknown };

/**
 * Iterates over what `work` pushes, and returns what it resolves to. What it rejects with is thrown
 * at once, before values that still wait. Where the iteration is left, the signal that `work` was
 * given aborts.
 */
export async function* iterate<T, Result>(
  signal: AbortSignal | undefined,
  work: (push: (value: T) => void, inner: AbortSignal) => Promise<Result>,
): AsyncGenerator<T, Result, void> {
  const inner = new AbortController();
  const abort = (): void => inner.abort(signal!.reason);
  if (signal?.aborted) abort();
  const forget = onAbort(signal, abort);

  const waiting: T[] = [];
  let end: End<Result> | undefined;
  let wake = (): void => {};
  const push = (value: T): void => {
    waiting.push(value);
    wake();
  };
  const finish = (how: End<Result>): void => {
    end = how;
    wake();
  };
  work(push, inner.signal).then(
    (result) => finish({ result }),
    (error: unknown) => finish({ error }),
  );
  try {
    for (;;) {
      if (end && 'error' in end) throw end.error;
      if (waiting.length > 0 && !inner.signal.aborted) yield waiting.shift()!;
      else if (end) return end.result;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    forget();
    inner.abort();
  }
}
