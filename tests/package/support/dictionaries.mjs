// What the tests of dictionaries share: texts, and dictionaries that the command learns from them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { command } from '../../native_build.mjs';
import { root } from './helpers.mjs';

const words = ['good', 'film', 'the', 'was', 'bad', 'story'];
const line = (i) => Array.from({ length: 7 }, (_, j) => words[(i * j + i + j * 3) % 6]).join(' ');

export const texts = Array.from({ length: 40 }, (_, i) => line(i));

export const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);

/** Returns a folder of dictionaries of gpt2_generate that the command has learned. */
export function learnNatively(...options) {
  const scratch = mkdtempSync(join(tmpdir(), 'glassformer-dictionaries-'));
  after(() => rmSync(scratch, { recursive: true }));
  const data = join(scratch, 'texts.txt');
  writeFileSync(data, texts.map((text) => `${text}\n`).join(''));
  const folder = join(scratch, 'features');
  const all = ['--lessons', 'dictionary', '--features', '30', '--active', '3', ...options];
  const model = checkpoint('gpt2_generate');
  execFileSync(command, ['train', model, data, folder, ...all], { stdio: 'ignore' });
  return folder;
}
