import { cure, runsWithoutWorker, startThread, startWebWorker } from '../engine/assets.js';
import { GlassformerError, abortedError, messageOf } from '../base/errors.js';
import type { Urls } from '../loading/locate.js';
import { isServer, nodeModule, threadOptions } from '../base/node.js';
import type { Thread } from '../base/node.js';
import type { CallEvent, FromWorker, Host, Kind, Request, Result, ToWorker } from './protocol.js';
import { Runner } from './runner.js';
import type { LoadOptions } from '../loading/options.js';
import type { WorkerLike } from '../base/node.js';

type Wanted = LoadOptions['worker'];

/** Returns the host of a model: a worker or this thread, as LoadOptions.worker says. */
export function createHost(wanted: Wanted, url: Urls['worker.js']): Host {
  const start = starter(wanted, url);
  if (!start) return new Runner();
  try {
    return new WorkerHost(start());
  } catch (error) {
    if (replaceable(wanted)) return new Runner();
    throw workerFailed(`The worker cannot start: ${messageOf(error)}`, error);
  }
}

/** Returns the host to use instead of a worker that could not start, or throws the worker's error. */
export function replaceHost(wanted: Wanted, error: unknown): Host {
  const failed = error instanceof GlassformerError && error.code === 'worker_failed';
  if (!failed || !replaceable(wanted)) throw error;
  return new Runner();
}

function replaceable(wanted: Wanted): boolean {
  return runsWithoutWorker && wanted === undefined;
}

function starter(wanted: Wanted, url: Urls['worker.js']): (() => WorkerLike) | undefined {
  if (wanted === false) return undefined;
  if (typeof wanted === 'function') return wanted;
  // Some packages make Node's own workers global, which differ from web workers.
  if (!isServer() && typeof Worker === 'function' && 'onmessage' in Worker.prototype) {
    return url === undefined ? startWebWorker : () => new Worker(url as string, { type: 'module' });
  }
  if (!wanted) return undefined;
  const threads = nodeModule('node:worker_threads');
  if (!threads) {
    throw new GlassformerError('unsupported_runtime', 'worker: this runtime has no workers');
  }
  return () =>
    url === undefined
      ? startThread(threads)
      : new threads.Worker(new URL(url as string), threadOptions);
}

interface PendingCall {
  resolve: (result: never) => void;
  reject: (error: GlassformerError) => void;
  onEvent: (event: never) => void;
}

/** A model in its own worker. */
class WorkerHost implements Host {
  readonly #worker: WorkerLike & Partial<Thread>;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  #failure: GlassformerError | undefined;

  constructor(worker: WorkerLike & Partial<Thread & Worker>) {
    this.#worker = worker;
    if (worker.on) {
      worker.on('message', (message: FromWorker) => this.#receive(message));
      worker.on('messageerror', () => this.#fail('a message could not be read'));
      worker.on('error', (error: Error) => this.#fail(messageOf(error)));
    } else {
      worker.onmessage = (event: MessageEvent<FromWorker>) => this.#receive(event.data);
      worker.onmessageerror = () => this.#fail('a message could not be read');
      worker.onerror = (event: ErrorEvent) => {
        event.preventDefault();
        this.#fail(event.message || 'its script could not be loaded or run');
      };
    }
  }

  call<K extends Kind>(
    kind: K,
    request: Request<K>,
    signal: AbortSignal,
    onEvent: (event: CallEvent<K>) => void,
  ): Promise<Result<K>> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    return new Promise<Result<K>>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onEvent });
      this.#holdProcess();
      try {
        this.#send({ id, kind, request } as ToWorker);
      } catch (error) {
        this.#end(id);
        const what = `${kind}: a part of the request cannot be sent to the worker`;
        reject(
          new GlassformerError('invalid_option', `${what}: ${messageOf(error)}`, { cause: error }),
        );
        return;
      }
      signal.addEventListener('abort', () => {
        if (!this.#end(id)) return;
        this.#send({ id, kind: 'abort' });
        reject(abortedError(signal));
      });
    });
  }

  dispose(): void {
    this.#worker.terminate();
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromWorker): void {
    const call = this.#pending.get(message.id);
    if (!call) return; // it was aborted
    if (message.kind === 'event') {
      call.onEvent(message.event as never);
      return;
    }
    this.#end(message.id);
    if (message.kind === 'result') call.resolve(message.result as never);
    else call.reject(new GlassformerError(message.code, message.message, message.details));
  }

  #end(id: number): boolean {
    const was = this.#pending.delete(id);
    this.#holdProcess();
    return was;
  }

  // A thread keeps Node's process alive only while a call waits for it.
  #holdProcess(): void {
    if (this.#pending.size > 0) this.#worker.ref?.();
    else this.#worker.unref?.();
  }

  // Ends all calls to a worker that has failed. Later calls fail at once.
  #fail(reason: string): void {
    const failure = workerFailed(`The model's worker failed: ${reason}`);
    this.#failure = failure;
    for (const call of this.#pending.values()) call.reject(failure);
    this.#pending.clear();
    this.#worker.terminate();
  }
}

function workerFailed(what: string, cause?: unknown): GlassformerError {
  const policy = /TrustedScriptURL/.test(what)
    ? "Hand in a trusted URL: urls: { 'worker.js': policy.createScriptURL(url) }."
    : "A page's policy has to allow it (worker-src 'self').";
  const advice = `${isServer() ? '' : `${policy} `}The option worker: false does without.`;
  const message = [`${what}.`, advice, cure].filter(Boolean).join(' ');
  return new GlassformerError('worker_failed', message, { cause });
}
