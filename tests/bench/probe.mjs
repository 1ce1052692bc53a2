// Measures the peak of this core and the speed of our products: node probe.mjs ROUNDS
// Prints [{build, isa, precision, chains, tile, stream: {bytes: rate}, products: {shape: rate}}] in
// billions of operations per second. It runs peak.cpp and gemm.cpp in turn, round after round, and
// prints the best of each, because a peak is a maximum. Needs a Node with relaxed SIMD.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf, precisions, shapes } from './shapes.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rounds = Number(process.argv[2]);
const streams = [
  ...new Set(
    shapes
      .filter(([m]) => m === 1)
      .flatMap((shape) => precisions.map((precision) => bytesOf(shape, precision))),
  ),
];

function runNatively(program, args) {
  const result = spawnSync(join(root, 'build/native', program), args, { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`${program} failed: ${result.stderr}`);
  return JSON.parse(result.stdout);
}

function probeNatively() {
  const { isa, ...peak } = runNatively('peak_probe', streams.map(String));
  const { build, ...products } = runNatively(
    'gemm_probe',
    shapes.map((shape) => shape.join('x')),
  );
  return precisions.map((precision) => ({
    build: `native-${build}`,
    isa,
    precision,
    ...peak[precision],
    products: products[precision],
  }));
}

/**
 * Returns the best rate of many runs of about a millisecond. V8 optimizes during the first ones.
 */
function best(loop) {
  let rate = 0;
  let repeats = 1;
  for (let run = 0; run < 80; ++run) {
    const start = performance.now();
    const operations = loop(repeats);
    const time = performance.now() - start;
    rate = Math.max(rate, operations / time / 1e6);
    if (time < 1) repeats *= 2;
  }
  return rate;
}

function instantiate(program) {
  const module = new WebAssembly.Module(readFileSync(join(root, `build/wasm/${program}.wasm`)));
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = () => 0; // memory grew; messages of an abort
  }
  const { exports } = new WebAssembly.Instance(module, imports);
  exports._initialize();
  return exports;
}

function probeWasm(isa) {
  const build = `wasm-${isa}`;
  const peak = instantiate(`peak_probe.${isa}`);
  const gemm = instantiate(`gemm_probe.${isa}`);
  return precisions.map((precision) => {
    const stream = (bytes) =>
      Math.max(
        ...[1, 4].map((streams) =>
          best((repeats) => peak[`stream_${precision}`](bytes, streams, repeats)),
        ),
      );
    const product = (shape) => {
      gemm.prepare(precision === 'int8' ? 1 : 0, ...shape);
      return best(gemm.multiply);
    };
    return {
      build,
      isa: build,
      precision,
      chains: best(peak[`chains_${precision}`]),
      tile: best(peak[`tile_${precision}`]),
      stream: Object.fromEntries(streams.map((bytes) => [bytes, stream(bytes)])),
      products: Object.fromEntries(shapes.map((shape) => [shape.join('x'), product(shape)])),
    };
  });
}

/** Returns the larger number of each pair. */
function larger(a, b) {
  if (typeof a === 'number') return Math.max(a, b);
  if (typeof a !== 'object') return a;
  return Object.fromEntries(Object.keys(a).map((key) => [key, larger(a[key], b[key])]));
}

let rows;
for (let round = 0; round < rounds; ++round) {
  const now = [...probeNatively(), ...probeWasm('simd128'), ...probeWasm('relaxed')];
  rows = rows ? rows.map((row, i) => larger(row, now[i])) : now;
}
// A relaxed binary also has the plain instructions: if those are faster, they are its ceiling.
for (const row of rows.filter(({ build }) => build === 'wasm-relaxed')) {
  const plain = rows.find(
    ({ build, precision }) => build === 'wasm-simd128' && precision === row.precision,
  );
  for (const peak of ['chains', 'tile', 'stream']) row[peak] = larger(row[peak], plain[peak]);
}
console.log(JSON.stringify(rows));
