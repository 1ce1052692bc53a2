import { onAbort } from './signals.js';

type End<Result> = { result: Result } | { error: unknown };

/**
 * Yields the values that `work` pushes, then returns its result. If `work` rejects, the error is
 * thrown at once, before values that were not yielded yet. If the iteration ends early, `inner` is
 * aborted.
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
