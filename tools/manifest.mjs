// Writes or checks manifest.json, which has the size and the SHA-256 of a model's files:
//
//   node tools/manifest.mjs [--check] FOLDER...
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

/** The files that the engine reads. A folder has the files that its model needs. */
export const modelFiles = [
  'config.json',
  'generation_config.json',
  'model.safetensors',
  'preprocessor_config.json',
  'tokenizer_config.json',
  'tokenizer.json',
  'tokenizer.model',
  'source.model',
  'target.model',
  'shortlist.bin',
];

/** Returns the expected manifest of a model folder. */
export function manifestOf(folder) {
  const files = {};
  for (const name of modelFiles) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    const bytes = readFileSync(path);
    files[name] = { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  }
  if (!files['config.json']) throw new Error(`${folder}: not a model: config.json is missing`);
  return { files };
}

/** Writes a folder's manifest. */
export function writeManifest(folder) {
  const text = JSON.stringify(manifestOf(folder), undefined, 2);
  writeFileSync(join(folder, 'manifest.json'), `${text}\n`);
}

/** Throws an error with the cure if a folder's manifest is missing or out of date. */
export function checkManifest(folder) {
  const path = join(folder, 'manifest.json');
  const found = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  if (isDeepStrictEqual(found, manifestOf(folder))) return;
  throw new Error(
    `${path} ${found ? 'is out of date' : 'is missing'}: run  node tools/manifest.mjs ${folder}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.slice(2).filter((argument) => argument !== '--check');
  const work = process.argv.includes('--check') ? checkManifest : writeManifest;
  try {
    if (folders.length === 0) throw new Error('expected model folders');
    for (const folder of folders) work(folder);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
