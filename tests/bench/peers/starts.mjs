// How long it takes from nothing to the first verdict, and the memory that it takes, with the model
// `sentiment`: in Node, on the command line, and in a page on a slow line.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../../../tools/build.mjs';
import { exportOnnx } from '../prepare.mjs';
import { peakOf } from './engine.mjs';
import { folder } from './install.mjs';
import { program } from './native.mjs';
import { measureSlowLine } from './slow_line.mjs';

const rounds = 7;
const line = 'A gripping, beautifully shot film.\n';
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Runs a process that prints one line. Returns the line, and the milliseconds until it ended. */
function timed(command, args) {
  const start = performance.now();
  const { status, stdout } = spawnSync(command, args, {
    input: line,
    stdio: ['pipe', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  return { stdout, milliseconds: performance.now() - start };
}

/** Returns the peak of memory of our command line, which waits for another line. */
async function peakOfCommandLine(args) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(line);
  await once(child.stdout, 'data');
  const peak = peakOf(child.pid);
  child.stdin.end();
  await once(child, 'exit');
  return peak;
}

export async function measureStarts({ node, entries }) {
  const model = join(root, 'weights/sentiment');
  const graphs = await exportOnnx(model, ['int8']);
  const graph = join(graphs.int8, 'classifier.onnx');
  const script = join(root, 'tests/bench/cold_start.mjs');
  const inNode = (...args) => [node, [script, ...args]];
  const processes = {
    'Node itself': inNode('node'),
    'glassformer, wasm in Node': inNode('glassformer', model),
    'glassformer, command line': [program, ['classify', model]],
    'onnxruntime-web in Node': inNode('onnxruntime-web', graph),
    'onnxruntime-node': inNode('onnxruntime-node', graph, entries['onnxruntime-node']),
  };
  const runs = Object.fromEntries(Object.keys(processes).map((name) => [name, []]));
  for (let round = 0; round < rounds; ++round)
    for (const [name, [command, args]] of Object.entries(processes))
      runs[name].push(timed(command, args));
  const rows = [];
  for (const [engine, all] of Object.entries(runs)) {
    const [command, args] = processes[engine];
    const peak =
      command === program
        ? await peakOfCommandLine(args)
        : Math.max(...all.map(({ stdout }) => JSON.parse(stdout).peak));
    rows.push({ engine, ms: median(all.map(({ milliseconds }) => milliseconds)), peak });
  }
  return { processes: rows, page: await measureSlowLine(folder, graphs.int8) };
}
