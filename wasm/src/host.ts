import { GlassformerError, abortedError, messageOf } from './errors.js';
import type { CallEvent, FromWorker, Host, Kind, Request, Result, ToWorker } from './protocol.js';
import { Runner } from './runner.js';

/** A worker where the runtime has them, else this thread (Node, service workers). */
export function createHost(workerUrl: string | undefined): Host {
  // Node's own workers, which some packages make global, are of another kind.
  if (typeof Worker !== 'function' || !('onmessage' in Worker.prototype)) return new Runner();
  try {
    // One literal expression: bundlers look for it.
    return new WorkerHost(
      workerUrl === undefined
        ? new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })
        : new Worker(workerUrl, { type: 'module' }),
    );
  } catch (error) {
    throw new GlassformerError('worker_failed', `The worker cannot start: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

interface PendingCall {
  resolve: (result: never) => void;
  reject: (error: GlassformerError) => void;
  onEvent: (event: never) => void;
}

/** A model in a worker of its own. */
class WorkerHost implements Host {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  #failure: GlassformerError | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.#receive(event.data);
    worker.onmessageerror = () => this.#fail('a message could not be read');
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message || 'its script could not be loaded or run');
    };
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
      this.#send({ id, kind, request } as ToWorker);
      signal.addEventListener('abort', () => {
        if (!this.#pending.delete(id)) return;
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
    if (!call) return; // aborted meanwhile
    if (message.kind === 'event') {
      call.onEvent(message.event as never);
      return;
    }
    this.#pending.delete(message.id);
    if (message.kind === 'result') call.resolve(message.result as never);
    else call.reject(new GlassformerError(message.code, message.message));
  }

  // The worker is of no more use: all its calls end, those to come at once.
  #fail(reason: string): void {
    const failure = new GlassformerError('worker_failed', `The model's worker failed: ${reason}`);
    this.#failure = failure;
    for (const call of this.#pending.values()) call.reject(failure);
    this.#pending.clear();
    this.#worker.terminate();
  }
}
