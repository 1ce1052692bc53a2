// The script of workers: answers each call with a result or an error, under the call's id. It runs as
// a web worker and as a thread of Node.

import { GlassformerError, messageOf } from './base/errors.js';
import { nodeModule } from './base/node.js';
import { beThread } from './engine/threads.js';
import type { ToThread } from './engine/threads.js';
import type { FromWorker, ToWorker } from './host/protocol.js';
import { Runner } from './host/runner.js';

interface WorkerScope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: ArrayBufferLike[]): void;
}

type Call = Exclude<ToWorker, { kind: 'abort' }>;

const port = nodeModule('node:worker_threads')?.parentPort;
const scope = globalThis as unknown as WorkerScope;
const runner = new Runner();
const running = new Map<number, AbortController>();

function receive(message: ToWorker | ToThread): void {
  if (message.kind === 'thread' || message.kind === 'place') {
    void beThread(message, () =>
      (port ?? scope).postMessage({ id: 0, kind: 'result' } as FromWorker, []),
    );
  } else if (message.kind === 'abort') running.get(message.id)?.abort();
  else void answer(message);
}

if (port) port.on('message', receive);
else scope.onmessage = ({ data }) => receive(data);

async function answer({ id, kind, request }: Call): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const result = await runner.call(kind, request, controller.signal, (event) =>
      post({ id, kind: 'event', event }),
    );
    post({ id, kind: 'result', result });
    // Ignores errors: a model may refuse the text.
    if (kind === 'load') runner.warmUp().catch(() => {});
  } catch (error) {
    const { url, status, field } = error as GlassformerError;
    post({
      id,
      kind: 'error',
      code: error instanceof GlassformerError ? error.code : 'internal',
      message: messageOf(error),
      details: { url, status, field },
    });
  } finally {
    running.delete(id);
  }
}

// Transfers arrays, such as attention weights, instead of copying them.
function post(message: FromWorker): void {
  const buffers: ArrayBufferLike[] = [];
  const collect = (value: unknown): void => {
    if (value instanceof Float32Array || value instanceof Uint8Array) buffers.push(value.buffer);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(message);
  (port ?? scope).postMessage(message, buffers);
}
