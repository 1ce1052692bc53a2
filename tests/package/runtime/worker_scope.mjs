// The package's worker in a thread that checks its messages.

import { parentPort } from 'node:worker_threads';

const post = parentPort.postMessage.bind(parentPort);
parentPort.postMessage = (message, transfer = []) => {
  // Attention is large: it must be transferred, not copied.
  const check = (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (!ArrayBuffer.isView(value)) Object.values(value).forEach(check);
    else if (!transfer.includes(value.buffer)) throw new Error('an array is not transferred');
  };
  check(message);
  post(message, transfer);
};
await import('../../../dist/worker.js');
