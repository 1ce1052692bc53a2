// One fresh process, one engine, one verdict: node cold_start.mjs ENGINE MODEL [MODULE]. The caller
// measures the time. ENGINE "node" does nothing, which measures Node itself. MODULE replaces the
// module of onnxruntime. Prints {label, peak}: the peak of memory in bytes.
import { readFileSync } from 'node:fs';

const [engine, model, module = 'onnxruntime-web/wasm'] = process.argv.slice(2);
let label = '';
if (engine === 'glassformer') {
  const { Classifier } = await import('../../dist/index.js');
  const classifier = await Classifier.load(model);
  ({ label } = await classifier.classify('A gripping, beautifully shot film.'));
} else if (engine.startsWith('onnxruntime')) {
  const ort = await import(module);
  if (engine === 'onnxruntime-web') ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(readFileSync(model));
  const ids = new ort.Tensor(
    'int64',
    BigInt64Array.from({ length: 9 }, () => 9n),
    [1, 9],
  );
  label = (await session.run({ ids })).scores.data[1] > 0.5 ? 'positive' : 'negative';
}
const peak = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ label, peak }));
process.exit(); // without waiting for threads of an engine
