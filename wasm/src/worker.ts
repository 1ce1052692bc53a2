// The worker's side: answers each call with one result or one error, under the call's id.

import { GlassformerError, messageOf } from './errors.js';
import type { FromWorker, ToWorker } from './protocol.js';
import { Runner } from './runner.js';

interface WorkerScope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: ArrayBufferLike[]): void;
}

type Call = Exclude<ToWorker, { kind: 'abort' }>;

const scope = globalThis as unknown as WorkerScope;
const runner = new Runner();
const running = new Map<number, AbortController>();

scope.onmessage = ({ data: message }) => {
  if (message.kind === 'abort') running.get(message.id)?.abort();
  else void answer(message);
};

async function answer({ id, kind, request }: Call): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const result = await runner.call(kind, request, controller.signal, (event) =>
      post({ id, kind: 'event', event }),
    );
    post({ id, kind: 'result', result });
    // A text that the model refuses warms nothing up, and harms nothing.
    if (kind === 'load') runner.warmUp(request.task).catch(() => {});
  } catch (error) {
    post({
      id,
      kind: 'error',
      code: error instanceof GlassformerError ? error.code : 'internal',
      message: messageOf(error),
    });
  } finally {
    running.delete(id);
  }
}

// Arrays, such as attention weights, are handed over, not copied once more.
function post(message: FromWorker): void {
  const buffers: ArrayBufferLike[] = [];
  const collect = (value: unknown): void => {
    if (value instanceof Float32Array) buffers.push(value.buffer);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(message);
  scope.postMessage(message, buffers);
}
