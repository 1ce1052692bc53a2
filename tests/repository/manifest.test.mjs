// Each model in weights has a manifest that matches its files.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../../tools/build.mjs';
import { checkManifest, writeManifest } from '../../tools/manifest.mjs';

const weights = join(root, 'weights');
const models = readdirSync(weights).filter((name) =>
  existsSync(join(weights, name, 'config.json')),
);

for (const name of models) {
  test(`weights/${name}/manifest.json matches the files`, () => checkManifest(join(weights, name)));
}

test('a missing manifest and an outdated one are detected', () => {
  assert.ok(models.length >= 3);
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-manifest-'));
  after(() => rmSync(folder, { recursive: true }));
  assert.throws(() => writeManifest(folder), /not a model/);
  cpSync(join(weights, 'sentiment/config.json'), join(folder, 'config.json'));
  assert.throws(() => checkManifest(folder), /is missing: run/);
  writeManifest(folder);
  checkManifest(folder);
  writeFileSync(join(folder, 'tokenizer.model'), 'added');
  assert.throws(() => checkManifest(folder), /is out of date: run/);
});
