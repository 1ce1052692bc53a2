// The worker's side: answers each call with one result or one error, under the call's id.

import { GlassformerError, messageOf } from './errors.js';
import type { FromWorker, ToWorker } from './protocol.js';
import { Runner } from './runner.js';

interface WorkerScope {
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer?: ArrayBufferLike[]): void;
}

const scope = globalThis as unknown as WorkerScope;
const runner = new Runner();
const running = new Map<number, AbortController>();

scope.onmessage = ({ data: message }) => {
  if (message.kind === 'abort') running.get(message.id)?.abort();
  else void answer(message);
};

async function answer(message: Exclude<ToWorker, { kind: 'abort' }>): Promise<void> {
  const { id } = message;
  const controller = new AbortController();
  running.set(id, controller);
  try {
    if (message.kind === 'load') {
      const result = await runner.load(message.request, controller.signal, (progress) =>
        scope.postMessage({ id, kind: 'progress', progress }),
      );
      scope.postMessage({ id, kind: 'result', result });
      // A text that the model refuses warms nothing up, and harms nothing.
      runner.warmUp().catch(() => {});
    } else {
      const result = await runner.classify(message.request, controller.signal);
      const attention = result.flatMap((one) => one.attention?.encoder.data.buffer ?? []);
      scope.postMessage({ id, kind: 'result', result }, attention);
    }
  } catch (error) {
    scope.postMessage({
      id,
      kind: 'error',
      code: error instanceof GlassformerError ? error.code : 'internal',
      message: messageOf(error),
    });
  } finally {
    running.delete(id);
  }
}
