// llama.cpp, as node-llama-cpp brings it: node llama.mjs '{"module": PATH, "file": GGUF, "threads",
// "ids": […], "count"}'; see engine.mjs. It reads the ids, then writes `count` tokens greedily.
import { serve, time } from './serve.mjs';

const { module, file, threads, ids, count } = JSON.parse(process.argv[2]);

const { getLlama } = await import(module);
const llama = await getLlama({
  gpu: false,
  build: 'never',
  maxThreads: threads,
  logLevel: 'error',
});
const model = await llama.loadModel({ modelPath: file, gpuLayers: 0 });
const contextSize = 256;
const context = await model.createContext({ contextSize, batchSize: contextSize, threads });
const sequence = context.getSequence();

/** Reads the prompt and writes some tokens. Resolves to them. */
async function generate(tokens) {
  await sequence.clearHistory();
  const written = [];
  // evaluate() empties the array that it gets.
  for await (const id of sequence.evaluate([...ids], { temperature: 0, yieldEogToken: true })) {
    written.push(id);
    if (written.length === tokens) break;
  }
  return written;
}

const works = { prompt: () => generate(1), 'prompt and more': () => generate(count + 1) };
const written = await generate(count + 1);
for (const work of Object.values(works)) await time(work, 1000);
await serve({ written, threads: context.currentThreads }, async (milliseconds) => {
  const times = {};
  for (const [what, work] of Object.entries(works)) times[what] = await time(work, milliseconds);
  return times;
});
