// The worker's end of worker_shim.mjs: what a browser's worker script finds around itself.

import { parentPort, workerData } from 'node:worker_threads';

globalThis.postMessage = (message, transfer) => parentPort.postMessage(message, transfer);
await import(workerData);
parentPort.on('message', (data) => globalThis.onmessage({ data }));
