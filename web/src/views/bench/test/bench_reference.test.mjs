// The reference figures of the Speed view match the documentation.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../../../tools/build.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { machine, reference } = await source('views/bench/bench-reference');
const document = readFileSync(join(root, 'web/docs/performance.md'), 'utf8');

// Returns a table's rows by arithmetic and binary, without the ratios in brackets.
function figures(heading) {
  const [, table] = document.split(heading);
  const rows = {};
  let compute;
  for (const line of table.split('\n\n')[0].split('\n')) {
    const [name = '', ...cells] = line.split('|').slice(1, -1);
    compute = /^ (f32|int8):/.exec(name)?.[1] ?? compute;
    const binary = { 'wasm, relaxed SIMD': 'relaxed', 'wasm, plain SIMD': 'simd' }[
      name.trim().replace(/^\w+: /, '')
    ];
    if (binary)
      rows[`${compute} ${binary}`] = cells.map((cell) => parseFloat(cell.replace(',', '')));
  }
  return rows;
}

test('times per text match the documentation', () => {
  const rows = figures('| | 16 tokens | 64 tokens | 256 tokens |');
  assert.equal(Object.keys(rows).length, 4);
  for (const [way, times] of Object.entries(rows)) {
    for (const [i, tokens] of [16, 64, 256].entries()) {
      const shown = reference[`Sentiment, ${tokens} tokens`][way];
      assert.equal(((1e3 * tokens) / shown).toFixed(6), times[i].toFixed(6), `${tokens}, ${way}`);
    }
  }
});

test('tokens per second of a translation match the documentation', () => {
  const rows = figures('| | greedy | 4 beams | first token |');
  assert.equal(Object.keys(rows).length, 4);
  for (const [way, [greedy, beams]] of Object.entries(rows)) {
    assert.equal(reference['Translation, greedy'][way], greedy, way);
    assert.equal(reference['Translation, 4 beams'][way], beams, way);
  }
});

test('the machine matches the documentation', () => {
  const text = document.replace(/\s+/g, ' ');
  assert.ok(machine.startsWith('a shared AMD EPYC (Zen 4) server, Node 24'));
  assert.match(text, /on a shared AMD EPYC server \(Zen 4,.*?\), with Node 24/);
});
