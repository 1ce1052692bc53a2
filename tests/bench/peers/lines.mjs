// 5,000 short lines in a file: the time of a whole process that labels them, with all threads.
// onnxruntime-node gets the ids of their tokens, glassformer gets the text.
import { spawnSync } from 'node:child_process';
import { mkdirSync, openSync, closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../tools/build.mjs';
import { textOf } from '../../full/checkpoint.mjs';
import { exportOnnx } from '../prepare.mjs';
import { folder } from './install.mjs';
import { makeModel } from './models.mjs';
import { program } from './native.mjs';

const count = 5000;
const model = 'MiniLM-L6';
const special = { first: 2, last: 3 }; // [CLS] and [SEP] in the vocabulary of random models
const tolerated = { f32: 0, int8: 0.05 }; // the share of lines whose label may differ

/** Returns lines of 4 to 20 words, as questions have; the same ones each time. */
function makeLines() {
  const words = textOf(count * 20).split(' ');
  let state = 1;
  let at = 0;
  return Array.from({ length: count }, () => {
    state = (state * 48271) % 2147483647; // Park and Miller's generator
    const length = 4 + (state % 17);
    return words.slice(at, (at += length)).join(' ');
  });
}

/** Runs a process to its end. Returns its output and its milliseconds. */
function timed(command, args, input) {
  const file = input ? openSync(input, 'r') : 'ignore';
  const start = performance.now();
  const { status, stdout } = spawnSync(command, args, {
    stdio: [file, 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const milliseconds = performance.now() - start;
  if (input) closeSync(file);
  if (status !== 0) throw new Error(`${command} ${args[0]} failed`);
  return { stdout, milliseconds };
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

export async function measureLines({ node, entries }, { threads, rounds }) {
  const path = await makeModel(model);
  const graphs = await exportOnnx(path, ['f32', 'int8'], { batch: true });
  mkdirSync(folder, { recursive: true });
  const text = join(folder, 'lines.txt');
  const ids = join(folder, 'lines.json');
  writeFileSync(text, makeLines().join('\n') + '\n');
  const tokens = timed(program, ['tokenize', path], text).stdout.trim().split('\n');
  const numbers = tokens.map((line) => [
    special.first,
    ...line.split(' ').map(Number),
    special.last,
  ]);
  writeFileSync(ids, JSON.stringify(numbers));

  const rows = ['f32', 'int8'].flatMap((precision) => {
    const ours = ['classify', path, '--compute', precision, '--threads', String(threads)];
    const theirs = (name, size, sorted) => ({
      engine: 'onnxruntime-node',
      build: name,
      precision,
      run: () => {
        const graph = join(graphs[precision], 'classifier.onnx');
        const module = entries['onnxruntime-node'];
        const options = { module, graph, ids, size, sorted, threads };
        const script = join(root, 'tests/bench/peers/lines_onnxruntime.mjs');
        return timed(node, [script, JSON.stringify(options)]);
      },
      labels: (stdout) => JSON.parse(stdout).map((label) => ['NEGATIVE', 'POSITIVE'][label]),
    });
    return [
      {
        engine: 'glassformer',
        build: 'command line',
        precision,
        run: () => timed(program, ours, text),
        labels: (stdout) =>
          stdout
            .trim()
            .split('\n')
            .map((line) => line.split(/\s/)[0]),
      },
      theirs('one by one', 1, false),
      theirs('batches of 32', 32, false),
      theirs('batches of 32, sorted by length', 32, true),
    ];
  });
  const times = rows.map(() => []);
  const labels = [];
  for (let round = 0; round < Math.min(rounds, 3); ++round) {
    for (const [i, { run, labels: read }] of rows.entries()) {
      const { stdout, milliseconds } = run();
      times[i].push(milliseconds);
      labels[i] = read(stdout);
    }
  }
  return rows.map(({ engine, build, precision }, i) => {
    const base = labels[rows.findIndex((row) => row.precision === precision)];
    const different = labels[i].filter((label, line) => label !== base[line]).length;
    if (different > tolerated[precision] * count)
      throw new Error(`${engine}, ${build}, ${precision}: ${different} labels differ`);
    return { engine, build, precision, threads, lines: count, ms: median(times[i]) };
  });
}
