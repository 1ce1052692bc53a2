// Code that the measuring scripts share.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as ort from 'onnxruntime-web/wasm';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Our two binaries, by build. */
export const binaries = { 'wasm-simd128': 'simd', 'wasm-relaxed': 'relaxed' };

/** Opens a session of onnxruntime-web, with one thread and all optimizations. */
export function openOnnx(file) {
  ort.env.wasm.numThreads = 1;
  return ort.InferenceSession.create(readFileSync(file), {
    executionProviders: ['wasm'],
    graphOptimizationLevel: 'all',
  });
}

/**
 * Returns the rows of `glassformer bench`: the command line measures itself, one second per row.
 */
export function benchNatively(model, precision, args) {
  const program = join(root, 'build/native/glassformer');
  const result = spawnSync(
    program,
    ['bench', model, '--compute', precision, '--threads', '1', '--json', ...args],
    {
      encoding: 'utf8',
    },
  );
  if (result.status !== 0) throw new Error(`glassformer bench failed: ${result.stderr}`);
  return JSON.parse(result.stdout);
}

/** Calls `work` for some milliseconds, at least three times. Resolves to the time of each call. */
export async function time(work, milliseconds) {
  const times = [];
  const end = performance.now() + milliseconds;
  while (times.length < 3 || performance.now() < end) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times;
}

const warmUp = 1500; // milliseconds per engine and input, until V8 has optimized every loop
const slice = 250; // milliseconds per engine, input and round

/** An engine in this process. `work` resolves to the scores, in the order of the labels. */
export function engineHere(names, work) {
  const milliseconds = [];
  return {
    ...names,
    milliseconds,
    work,
    warmUp: () => time(work, warmUp),
    sample: async () => milliseconds.push(...(await time(work, slice))),
  };
}

/** Measures the engines round after round; each engine goes first in turn. */
export async function inTurn(engines, rounds) {
  for (let round = 0; round < rounds; ++round)
    for (let i = 0; i < engines.length; ++i) await engines[(i + round) % engines.length].sample();
}

/** Prints all results of a script and ends it, because onnxruntime-web would keep Node alive. */
export function finish(samples) {
  const versions = { node: process.versions.node, onnxruntime: ort.env.versions.web };
  // Data in the pipe is lost when a process exits.
  process.stdout.write(JSON.stringify({ samples, versions }), () => process.exit(0));
}
