// The worker's end of the Worker in worker.test.mjs: what a worker script finds around itself.

import { parentPort, workerData } from 'node:worker_threads';

globalThis.postMessage = (message, transfer = []) => {
  // Attention is large: it has to be handed over, not copied once more.
  const check = (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (!ArrayBuffer.isView(value)) Object.values(value).forEach(check);
    else if (!transfer.includes(value.buffer)) throw new Error('an array is not handed over');
  };
  check(message);
  parentPort.postMessage(message, transfer);
};
await import(workerData);
parentPort.on('message', (data) => globalThis.onmessage({ data }));
