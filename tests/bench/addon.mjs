// Measures a classifier of texts in Node: the add-on against WebAssembly and the command line, in f32
// and in int8, in turn, with one thread.
//
//   npm run build && npm run build:native && npm run build:native-addon
//   node tests/bench/addon.mjs MODEL_DIR [TOKENS]
//
// Prints the fastest tenth and the median of all calls in milliseconds. Relaxed SIMD needs Node 22.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchNatively, engineHere, inTurn, root } from './engines.mjs';

const [model, length = '128'] = process.argv.slice(2);
const tokens = Number(length);
const rounds = 6;

/** Installs the package with the add-on beside it. Returns its folder. */
function install() {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-addon-'));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const modules = join(folder, 'node_modules');
  cpSync(join(root, 'dist'), join(modules, 'glassformer/dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(modules, 'glassformer/package.json'));
  cpSync(join(root, 'build/native-addon'), join(modules, '@glassformer/native'), {
    recursive: true,
  });
  return join(modules, 'glassformer');
}

/** Returns a text of this many tokens. */
async function textOf(classifier) {
  let text = 'the';
  while ((await classifier.classify(`${text} the`)).tokens.length <= tokens) text += ' the';
  return text;
}

const { Classifier } = await import(join(install(), 'dist/index.js'));
const engines = [];
for (const precision of ['f32', 'int8']) {
  for (const backend of ['native', 'wasm']) {
    const classifier = await Classifier.load(model, { backend, compute: precision, threads: 1 });
    const text = await textOf(classifier);
    const name = [precision, backend, classifier.info.binary].filter(Boolean).join(' ');
    engines.push(engineHere({ name }, () => classifier.classify(text)));
  }
  const milliseconds = [];
  const sample = () => {
    const [row] = benchNatively(model, precision, ['--lengths', String(tokens)]);
    milliseconds.push(row.ms_median);
  };
  engines.push({ name: `${precision} command line`, milliseconds, warmUp() {}, sample });
}
for (const { warmUp } of engines) await warmUp();
await inTurn(engines, rounds);
for (const { name, milliseconds } of engines) {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(sorted.length * share)].toFixed(2);
  console.log(`${name.padEnd(20)} fastest tenth ${at(0.1)} ms, median ${at(0.5)} ms`);
}
process.exit(); // onnxruntime-web, which engines.mjs imports, would keep Node alive
