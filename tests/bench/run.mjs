// `npm run bench [-- --json] [--model DIR] [--rounds N]`: text to verdict, one thread, side by side:
//
//   glassformer natively, and as wasm in Node 24 with plain and with relaxed SIMD,
//   onnxruntime-web (wasm) in the same process, on an ONNX export of the same weights.
//
// Every engine is warmed up, then measured in turn, round after round, so that a disturbance of the
// machine hits all of them; medians over all calls. A ratio is onnxruntime-web's time at the same
// length in the same run divided by ours: above 1 is faster. onnxruntime-web is handed token ids,
// while glassformer starts from the text. Beside that: the machine's peak (peak.cpp), sizes of what is
// downloaded, and cold starts. Prints Markdown, or with --json an array of
// {engine, build, precision, model, task, tokens, ms_median, ratio}; build/bench/results.json
// holds everything.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildNative, buildPackage, root, run, setUp } from '../../wasm/toolchain/build.mjs';

const nodeMajor = 24;
const lengths = [16, 64, 256];
const output = join(root, 'build/bench');
const onnxruntime = join(root, 'node_modules/onnxruntime-web');

/** A Node with relaxed SIMD: this one if new enough, else one from npm, kept in .toolchain/. */
async function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= nodeMajor) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, '.toolchain/node');
  const node = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(node)) {
    console.error(`fetching Node ${nodeMajor} from npm (once, about a minute)`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', [...install, '--prefix', folder, `${name}@${nodeMajor}`]);
  }
  return node;
}

async function prepare(model) {
  await setUp('build', 'native', 'bench');
  console.error('building (the first time a minute or two)');
  await buildNative();
  await buildPackage();
  for (const preset of ['native', 'wasm', 'wasm-relaxed'])
    await run('cmake', ['--build', '--preset', preset, '--target', 'peak_probe']);
  mkdirSync(output, { recursive: true });
  const onnx = join(output, 'model.onnx');
  const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
  await run(python, ['-B', 'tests/bench/export_onnx.py', model, onnx]);
  return { node: await findNode(), onnx };
}

/** Runs a script of this folder and reads the JSON that it prints. */
function measure(node, script, args) {
  const result = spawnSync(node, [join(root, 'tests/bench', script), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (result.status !== 0) throw new Error(`${script} failed`);
  return JSON.parse(result.stdout);
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Milliseconds from the start of a fresh process to its first verdict, the engines in turn. */
function coldStarts(node, model, onnx) {
  const runs = { node: [], glassformer: [], 'onnxruntime-web': [] };
  for (let round = 0; round < 7; ++round) {
    for (const engine of Object.keys(runs)) {
      const start = performance.now();
      measure(node, 'cold_start.mjs', [engine, engine === 'glassformer' ? model : onnx]);
      runs[engine].push(performance.now() - start);
    }
  }
  return Object.fromEntries(Object.entries(runs).map(([engine, times]) => [engine, median(times)]));
}

/** What a user of each package downloads, without a model. */
function sizes() {
  const files = {
    glassformer: [
      'dist/glassformer.wasm',
      'dist/glassformer.relaxed.wasm',
      'dist/index.js',
      'dist/worker.js',
    ].map((file) => join(root, file)),
    'onnxruntime-web': [
      'ort-wasm-simd-threaded.wasm',
      'ort-wasm-simd-threaded.mjs',
      'ort.wasm.min.mjs',
    ].map((file) => join(onnxruntime, 'dist', file)),
  };
  return Object.entries(files).flatMap(([engine, paths]) =>
    paths.map((path) => {
      const bytes = readFileSync(path);
      const gzip = gzipSync(bytes, { level: 9 }).length;
      return { engine, file: basename(path), bytes: bytes.length, gzip };
    }),
  );
}

function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(header),
    line(header.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

function report({ machine, peak, results, cold, sizes: files }) {
  const builds = [...new Map(results.map((row) => [`${row.engine}, ${row.build}`, row])).values()];
  const cell = ({ engine, build }, tokens) => {
    const row = results.find(
      (r) => r.engine === engine && r.build === build && r.tokens === tokens,
    );
    return row
      ? `${row.ms_median.toFixed(2)} ms (${row.ratio.toFixed(2)}×), ${row.gflops.toFixed(0)}`
      : '';
  };
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  console.log(`${machine}, one thread. Text to verdict: median ms (how many times as fast as onnxruntime-web), GFLOP/s.

${table(
  ['f32', ...lengths.map((tokens) => `${tokens} tokens`)],
  builds.map((row) => [
    `${row.engine}, ${row.build}`,
    ...lengths.map((tokens) => cell(row, tokens)),
  ]),
)}

Peak of this core in the same run, multiply-adds in f32:

${table(
  ['GFLOP/s', 'registers alone', 'register tile fed from L1'],
  peak.map(({ build, chains, tile }) => [build, chains.toFixed(0), tile.toFixed(0)]),
)}

Cold start in Node, from the start of the process to the first verdict: glassformer ${cold.glassformer.toFixed(0)} ms, onnxruntime-web ${cold['onnxruntime-web'].toFixed(0)} ms (of which Node itself ${cold.node.toFixed(0)} ms).

${table(
  ['size', 'raw', 'gzip'],
  files.map(({ engine, file, bytes, gzip }) => [
    `${engine} ${file}`,
    kilobytes(bytes),
    kilobytes(gzip),
  ]),
)}`);
}

async function main() {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      model: { type: 'string', default: join(root, 'weights/sentiment') },
      rounds: { type: 'string', default: '8' },
    },
  });
  const model = resolve(values.model);
  const { node, onnx } = await prepare(model);
  console.error('measuring (about two minutes; leave the machine alone)');
  const { samples, peak, versions } = measure(node, 'measure.mjs', [
    model,
    onnx,
    values.rounds,
    ...lengths,
  ]);
  const cold = coldStarts(node, model, onnx);

  const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
  const { d_model: d, d_ff: f, encoder_layers: layers } = config;
  const operations = (tokens) => 2 * layers * tokens * (4 * d * d + 2 * d * f + 2 * tokens * d);
  const results = samples.map(({ engine, build, tokens, milliseconds }) => {
    const ms = median(milliseconds);
    const theirs = samples.find((s) => s.engine === 'onnxruntime-web' && s.tokens === tokens);
    return {
      engine,
      build,
      precision: 'f32',
      model: basename(model),
      task: config.task,
      tokens,
      ms_median: Number(ms.toFixed(4)),
      ratio: Number((median(theirs.milliseconds) / ms).toFixed(3)),
      gflops: operations(tokens) / ms / 1e6,
    };
  });
  const machine = `${cpus()[0].model}, Node ${versions.node}, onnxruntime-web ${versions.onnxruntime}`;
  const everything = { machine, peak, results, cold, sizes: sizes() };
  writeFileSync(join(output, 'results.json'), `${JSON.stringify(everything, null, 2)}\n`);
  if (values.json) {
    console.log(
      JSON.stringify(
        results.map(({ gflops, ...row }) => row),
        null,
        2,
      ),
    );
  } else {
    report(everything);
  }
}

main().catch((error) => {
  console.error(error.output ?? error.message);
  process.exitCode = 1;
});
