import { GlassformerError, abortedError, messageOf } from '../base/errors.js';
import { onAbort } from '../base/signals.js';
import { resultsOf } from '../engine/engine.js';
import type { EngineOptions, RawResult } from '../engine/engine.js';
import type { Input } from '../engine/input.js';
import type { Outcome } from './results.js';
import { assemble, assembleExplanation } from './assemble.js';
import { outcomesOf } from './each.js';
import type { Inputs } from './each.js';
import type { Host, Kind, Request, Result } from '../host/protocol.js';

type Fail = (error: unknown) => void;

/** The calls to a loaded model, from loading to disposal. Calls wait for one another. */
export class Session {
  readonly #host: Host;
  readonly #running = new Set<Fail>();
  #disposed = false;

  constructor(host: Host) {
    this.#host = host;
    abandoned?.register(this, host);
  }

  /** Runs `work`. Rejects on an abort or a disposal at once, without waiting for `work`. */
  run<T>(
    signal: AbortSignal | undefined,
    work: (inner: AbortSignal, fail: Fail) => Promise<T>,
  ): Promise<T> {
    if (this.#disposed) return Promise.reject(disposedError());
    return interruptible(signal, this.#running, work);
  }

  /** Makes a call that has no options and no progress. */
  ask<K extends Kind>(kind: K, request: Request<K>, signal?: AbortSignal): Promise<Result<K>> {
    return this.run(signal, (inner) => this.#host.call(kind, request, inner, () => {}));
  }

  /**
   * Answers some inputs, or rejects with the error of the first that fails. `onProgress` gets the
   * intermediate result of each step, if the options ask for them; if it throws, the call fails.
   */
  async results<Result>(
    inputs: Input[],
    options: EngineOptions,
    signal: AbortSignal | undefined,
    onProgress: (progress: RawResult) => void = () => {},
  ): Promise<Result[]> {
    const answers = await this.run(signal, (inner, fail) =>
      this.#host.call('run', { inputs, options, each: false }, inner, (progress) => {
        if (!inner.aborted) callBack('onProgress', () => onProgress(progress), fail);
      }),
    );
    return resultsOf(answers, inputs).map((raw) => this.#assemble<Result>(raw, options));
  }

  /** Answers any number of inputs. Yields the result or the error of each. */
  async *outcomes<Result>(
    inputs: Inputs,
    options: EngineOptions,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Outcome<Result>, void, void> {
    const outcomes = outcomesOf(this, inputs, signal, (some, inner) =>
      this.run(inner, (own) =>
        this.#host.call('run', { inputs: some, options, each: true }, own, () => {}),
      ),
    );
    for await (const { index, result, error } of outcomes) {
      yield error ? { index, error } : { index, result: this.#assemble<Result>(result, options) };
    }
  }

  #assemble<Result>(raw: RawResult, options: EngineOptions): Result {
    if (options.explains) return assembleExplanation<Result>(raw);
    return assemble<Result>(raw, options);
  }

  dispose(): void {
    this.#disposed = true;
    for (const fail of this.#running) fail(disposedError());
    this.#host.dispose();
  }
}

// Disposes of the hosts of models that were garbage collected without a call of dispose(). A call in
// progress keeps its model alive.
const abandoned =
  typeof FinalizationRegistry === 'function'
    ? new FinalizationRegistry<Host>((host) => host.dispose())
    : undefined;

function disposedError(): GlassformerError {
  return new GlassformerError('disposed', 'The model was disposed of; load it again');
}

/** Calls a function of the user. If it throws, calls `fail` with `callback_failed`. */
export function callBack(name: string, call: () => void, fail: Fail): void {
  try {
    call();
  } catch (error) {
    const message = `${name} threw an error: ${messageOf(error)}`;
    fail(new GlassformerError('callback_failed', message, { cause: error }));
  }
}

/**
 * Runs `work`. Rejects without waiting for it if `signal` aborts or `fail` is called, which is in
 * `running` until then.
 */
export function interruptible<T>(
  signal: AbortSignal | undefined,
  running: Set<Fail>,
  work: (inner: AbortSignal, fail: Fail) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) throw abortedError(signal);
    const inner = new AbortController();
    const end = (): void => {
      forget();
      running.delete(fail);
    };
    const fail = (error: unknown): void => {
      end();
      reject(error);
      inner.abort();
    };
    const forget = onAbort(signal, () => fail(abortedError(signal!)));
    running.add(fail);
    work(inner.signal, fail).then(resolve, reject).finally(end);
  });
}
