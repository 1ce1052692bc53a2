// The worker's end of the Worker in worker.test.mjs: what a worker script finds around itself.

import { parentPort, workerData } from 'node:worker_threads';

globalThis.postMessage = (message, transfer = []) => {
  // Attention is large: it has to be handed over, not copied once more.
  for (const { attention } of [message.result ?? []].flat()) {
    if (attention && !transfer.includes(attention.encoder.data.buffer)) {
      throw new Error('attention is not handed over');
    }
  }
  parentPort.postMessage(message, transfer);
};
await import(workerData);
parentPort.on('message', (data) => globalThis.onmessage({ data }));
