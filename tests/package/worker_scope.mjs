// The package's worker in a thread that looks at what it posts.

import { parentPort } from 'node:worker_threads';

const post = parentPort.postMessage.bind(parentPort);
parentPort.postMessage = (message, transfer = []) => {
  // Attention is large: it has to be handed over, not copied once more.
  const check = (value) => {
    if (typeof value !== 'object' || value === null) return;
    if (!ArrayBuffer.isView(value)) Object.values(value).forEach(check);
    else if (!transfer.includes(value.buffer)) throw new Error('an array is not handed over');
  };
  check(message);
  post(message, transfer);
};
await import('../../dist/worker.js');
