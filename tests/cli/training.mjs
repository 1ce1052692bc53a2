// What the tests of `glassformer train` share.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { glassformer, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-train-'));
after(() => rmSync(scratch, { recursive: true }));

let count = 0;
/** Returns a path at which there is nothing. */
export const fresh = () => join(scratch, String(++count));

/** Writes a file of lines and returns its path. */
export function file(lines) {
  const path = fresh();
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

/** Returns the path of the config.json of a small new classifier. */
export const config = file([
  JSON.stringify({ encoder_layers: 1, d_model: 32, d_ff: 64, n_heads: 2 }),
]);

/** Options with which a small model learns a few examples by heart. */
export const byHeart = [
  ...['--held-out', '0', '--dropout', '0', '--smoothing', '0', '--averaging', '0'],
  ...['--rate', '0.01', '--epochs', '200'],
];

export const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);

export const train = (model, data, folder, ...options) =>
  glassformer(['train', model, data, folder, ...options]);
