// One process that classifies lines with onnxruntime-node: node lines_onnxruntime.mjs '{"module":
// PATH, "graph": FILE, "ids": FILE, "size", "sorted", "threads"}'. `ids`: a JSON array of each line's
// token ids. Batches of `size` lines are padded to their longest, and masked; `sorted` puts lines of
// similar lengths together. Prints the number of the label of each line, as a JSON array.
import { readFileSync } from 'node:fs';

const { module, graph, ids, size, sorted, threads } = JSON.parse(process.argv[2]);

const ort = await import(module);
const session = await ort.InferenceSession.create(graph, {
  graphOptimizationLevel: 'all',
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
});
const lines = JSON.parse(readFileSync(ids, 'utf8'));
const order = lines.map((_, i) => i);
if (sorted) order.sort((a, b) => lines[a].length - lines[b].length);

const labels = [];
for (let first = 0; first < order.length; first += size) {
  const rows = order.slice(first, first + size);
  const longest = Math.max(...rows.map((row) => lines[row].length));
  const padded = new BigInt64Array(rows.length * longest);
  const mask = new Int32Array(rows.length * longest);
  rows.forEach((row, i) =>
    lines[row].forEach((id, at) => {
      padded[i * longest + at] = BigInt(id);
      mask[i * longest + at] = 1;
    }),
  );
  const shape = [rows.length, longest];
  const { scores } = await session.run({
    ids: new ort.Tensor('int64', padded, shape),
    mask: new ort.Tensor('int32', mask, shape),
  });
  const count = scores.dims[1];
  rows.forEach((row, i) => {
    const own = [...scores.data.subarray(i * count, (i + 1) * count)];
    labels[row] = own.indexOf(Math.max(...own));
  });
}
process.stdout.write(`${JSON.stringify(labels)}\n`, () => process.exit(0));
