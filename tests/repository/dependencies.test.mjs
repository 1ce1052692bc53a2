// `npm ci` installs the same packages everywhere, and none of them is shipped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/build.mjs';

const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const manifest = read('package.json');
const { packages } = read('package-lock.json');

test('every dependency has one exact version, which is the locked one', () => {
  const wanted = Object.entries(manifest.devDependencies);
  assert.ok(wanted.length > 10);
  for (const [name, version] of wanted) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
    assert.equal(packages[`node_modules/${name}`]?.version, version, name);
    assert.equal(packages[''].devDependencies[name], version, name);
  }
});

test('every locked package has a hash of its contents and names no registry', () => {
  const locked = Object.entries(packages).filter(([path]) => path !== '');
  for (const [path, { integrity, resolved, inBundle }] of locked) {
    if (!inBundle) assert.match(integrity ?? '', /^sha512-/, path);
    assert.equal(resolved, undefined, path);
  }
});

test('every locked package is under a license that allows its use here', () => {
  const known =
    /^(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|CC0-1\.0|BlueOak-1\.0\.0|MPL-2\.0|OFL-1\.1|Python-2\.0)$/;
  for (const [path, { license }] of Object.entries(packages)) {
    if (path !== '') assert.match(license ?? '', known, path);
  }
});

test('the package has no dependencies', () => {
  for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies']) {
    assert.equal(manifest[kind], undefined, kind);
  }
});
