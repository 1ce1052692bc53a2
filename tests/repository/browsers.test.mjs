// Several files name the oldest supported browsers. They must agree, and the binaries must not use
// newer features.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesIn, root } from '../../tools/build.mjs';

const read = (file) => readFileSync(join(root, file), 'utf8');

// Returns the versions in the table's row that begins with this name.
function row(name) {
  const line = read('web/docs/browsers.md')
    .split('\n')
    .find((text) => text.startsWith(`| ${name}`));
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}
const [chrome] = row('Chrome');
const [firefox] = row('Firefox');
const [safari] = row('Safari');
const [node] = row('Node.js');
const browsers = `Chrome ${chrome}, Firefox ${firefox}, Safari ${safari}`;

test('the messages name the browsers of the table', () => {
  assert.ok(read('wasm/src/engine/features.ts').includes(`${browsers}, Node ${node} or newer`));
  assert.ok(read('web/src/ui/failure.ts').includes(`${browsers}, or newer`));
});

test('the page and the binaries are built for the browsers of the table', () => {
  const targets = `['chrome${chrome}', 'firefox${firefox}', 'safari${safari}']`;
  const config = read('web/vite.config.ts');
  assert.ok(config.includes(`cssTarget: ${targets}`));
  assert.ok(config.includes("    target: 'es2022',"));
  // The part of ES2022 that these browsers added last: class blocks and private fields.
  assert.ok(Number(chrome) >= 94 && Number(firefox) >= 93 && Number(safari) >= 16.4);
  const [major, minor] = safari.split('.');
  const cmake = read('tools/cmake/flags.cmake');
  assert.ok(cmake.includes(`-sMIN_CHROME_VERSION=${chrome} `));
  assert.ok(cmake.includes(`-sMIN_FIREFOX_VERSION=${firefox} `));
  assert.ok(cmake.includes(`-sMIN_SAFARI_VERSION=${major}0${minor}00)`));
});

test('no class uses a feature with a bug in Chrome before version 98', () => {
  for (const file of ['web/src', 'wasm/src'].flatMap((folder) => filesIn(folder))) {
    if (!/\.(ts|svelte)$/.test(file)) continue;
    assert.doesNotMatch(read(file), /\bstatic (readonly )?(name|length|prototype)\b/, file);
  }
});

test('package.json asks for the Node of the table', () => {
  assert.equal(JSON.parse(read('package.json')).engines.node, `>=${node}`);
});
