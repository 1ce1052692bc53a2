// onnxruntime-node, or onnxruntime-web in Node: node onnxruntime.mjs '{"module": PATH, "graph": FILE,
// "threads", "ids": […]}'; see engine.mjs. It gets token ids, glassformer gets the text. In Node,
// threads of onnxruntime-web need its own entry for Node: "onnxruntime-web", not
// "onnxruntime-web/wasm", whose threads search their script with fetch.
import { serve, time } from './serve.mjs';

const { module, graph, threads, ids } = JSON.parse(process.argv[2]);
const warmUp = 2000; // milliseconds, until V8 has optimized every loop

const ort = await import(module);
const web = /onnxruntime-web/.test(module);
if (web) ort.env.wasm.numThreads = threads;
const session = await ort.InferenceSession.create(graph, {
  executionProviders: [web ? 'wasm' : 'cpu'],
  graphOptimizationLevel: 'all',
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
});
const feeds = { ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]) };
const work = () => session.run(feeds);
const { scores } = await work();
await time(work, warmUp);
await serve({ scores: [...scores.data] }, async (milliseconds) => ({
  whole: await time(work, milliseconds),
}));
