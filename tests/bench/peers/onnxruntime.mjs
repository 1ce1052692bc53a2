// onnxruntime-node, or onnxruntime-web in Node: node onnxruntime.mjs '{"module": PATH, "graph": FILE,
// "threads", "ids": […] or "size"}'; see engine.mjs. It gets token ids, or the pixels of a gray
// picture; glassformer gets the text, or the picture. In Node,
// threads of onnxruntime-web need its own entry for Node: "onnxruntime-web", not
// "onnxruntime-web/wasm", whose threads search their script with fetch.
import { serve, time } from './serve.mjs';

const { module, graph, threads, ids, size } = JSON.parse(process.argv[2]);
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
const feeds = size
  ? {
      pixels: new ort.Tensor('float32', new Float32Array(size.reduce((a, b) => a * b)), [
        1,
        ...size,
      ]),
    }
  : { ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]) };
const work = () => session.run(feeds);
const { scores } = await work();
await time(work, warmUp);
await serve({ scores: [...scores.data] }, async (milliseconds) => ({
  whole: await time(work, milliseconds),
}));
