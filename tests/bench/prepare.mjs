// Prepares a benchmark: finds a Node with relaxed SIMD, makes models and their ONNX graphs.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root, run } from '../../tools/build.mjs';
import { writeCheckpoint } from '../full/checkpoint.mjs';

const nodeMajor = 24;

/** The folder of everything that the benchmarks make. */
export const output = join(root, 'build/bench');

/**
 * Returns a Node with relaxed SIMD: this one if it is new enough, else one from npm in .toolchain/.
 */
export async function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= nodeMajor) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, '.toolchain/node');
  const node = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(node)) {
    console.error(`downloading Node ${nodeMajor} from npm (once, about a minute)`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', [...install, '--prefix', folder, `${name}@${nodeMajor}`]);
  }
  return node;
}

/** Makes a published checkpoint with random weights, converted to our format, which is exported. */
export async function makePublished(name, shape) {
  const checkpoint = join(output, `${name}.published`);
  const model = join(output, name);
  writeCheckpoint(checkpoint, shape);
  rmSync(model, { recursive: true, force: true });
  await run(join(root, 'build/native/glassformer'), ['convert', checkpoint, model]);
  rmSync(checkpoint, { recursive: true });
  return model;
}

/** Exports the model's ONNX graphs, one folder per precision. `batch`: with several rows and a mask. */
export async function exportOnnx(model, wanted, { batch = false } = {}) {
  const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
  const folders = {};
  for (const precision of wanted) {
    folders[precision] = join(output, batch ? 'onnx-batch' : 'onnx', basename(model), precision);
    const args = ['-B', 'tests/bench/export_onnx.py', model, folders[precision]];
    const options = { '--int8': precision === 'int8', '--batch': batch };
    await run(python, [...args, ...Object.keys(options).filter((name) => options[name])]);
  }
  return folders;
}
