// The element's reading of results, real and hostile ones. The module needs no browser.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { root } from '../../package/support/helpers.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-view-'));
after(() => rmSync(scratch, { recursive: true }));
const outfile = join(scratch, 'view_result.mjs');
await build({
  entryPoints: [join(root, 'wasm/src/element/result.ts')],
  bundle: true,
  format: 'esm',
  outfile,
  logLevel: 'error',
});
const { partsOf } = await import(pathToFileURL(outfile));

const map = (fields = {}) => ({ layers: 1, heads: 1, queries: 1, keys: 1, data: [1], ...fields });
const result = (fields = {}, encoder = map()) => ({
  tokens: [{ text: 'a' }],
  attention: { encoder },
  ...fields,
});

const dataOf = (data, tokens = 1) => {
  const size = { queries: tokens, keys: tokens };
  const given = result({ tokens: Array(tokens).fill({ text: 'a' }) }, map({ ...size, data }));
  return [...partsOf(given)[0].attention.get('encoder').data];
};

test('weights are read in each form of a result or its JSON', () => {
  const four = [0.5, 0.5, 0.25, 0.75];
  const typed = Float32Array.from(four);
  const base64 = Buffer.from(typed.buffer).toString('base64');
  assert.deepEqual(dataOf(four, 2), four);
  assert.deepEqual(dataOf(typed, 2), four);
  assert.deepEqual(dataOf(Float64Array.from(four), 2), four);
  assert.deepEqual(dataOf(JSON.parse(JSON.stringify(typed)), 2), four);
  assert.deepEqual(dataOf(base64, 2), four);
  assert.deepEqual(dataOf(`${base64.slice(0, 8)}\n${base64.slice(8)}`, 2), four);
  assert.equal(partsOf(JSON.stringify(result())).length, 1);
});

test('a length without data allocates nothing', () => {
  const lengths = [{ length: 3e8 }, { length: 1e15 }, { length: -1 }, { length: '9', 0: 1, 1: 1 }];
  for (const data of lengths) {
    for (const layers of [1, 3e8]) {
      const held = () => {
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        return heapUsed + arrayBuffers;
      };
      const before = held();
      const json = JSON.stringify(result({}, map({ layers, data })));
      assert.throws(() => partsOf(json), {
        code: 'invalid_option',
        message: /data: expected \d+ × /,
      });
      assert.ok(held() - before < 1e8);
    }
  }
  const base64 = 'A'.repeat(4_000_000);
  assert.throws(() => dataOf(base64), { code: 'invalid_option', message: /1 × 1 × 1 × 1 numbers/ });
});

test('values that are not results are refused as invalid options', () => {
  const inherited = Object.create(null);
  for (const [name, given] of Object.entries({
    number: 5,
    array: [],
    text: '"x"',
    broken: '{"a":',
    deep: '['.repeat(100_000),
    errorNumber: { error: 5 },
    errorObject: { error: { message: JSON.parse('{"toString":5}') } },
    sentencesNull: { sentences: [null] },
    sentencesNumber: { sentences: [5] },
    sentencesObject: { sentences: { length: 1 } },
    sentencesText: { sentences: 'abc' },
    sentencesNone: { sentences: [] },
    tokensNull: result({ tokens: null }),
    tokensObject: result({ tokens: { length: 1 } }),
    tokensText: result({ tokens: 'a' }),
    tokenNull: result({ tokens: [null] }),
    tokenNumber: result({ tokens: [{ text: 5 }] }),
    tokenEmpty: result({ tokens: [{}] }),
    sourceTokens: result({ sourceTokens: [null] }),
    promptTokens: result({ promptTokens: 7 }),
    attentionNumber: result({ attention: 5 }),
    attentionText: result({ attention: 'abc' }),
    attentionNone: result({ attention: {} }),
    mapNumber: result({}, 5),
    mapArray: result({}, []),
    layersHuge: result({}, map({ layers: 1e300 })),
    layersObject: result({}, map({ layers: inherited })),
    keysNone: result({ tokens: [] }, map({ queries: 0, keys: 0, data: [] })),
    dataNull: result({}, map({ data: null })),
    dataText: result({}, map({ data: '%%%=' })),
    dataObjects: result({}, map({ data: [{}] })),
    dataArrays: result({}, map({ data: [[]] })),
    dataTexts: result({}, map({ data: ['1'] })),
    dataBigInts: result({}, map({ data: [1n] })),
    dataNaN: result({}, map({ data: [NaN] })),
    dataMissing: result({}, map({ data: undefined })),
  })) {
    assert.throws(
      () => partsOf(given),
      (error) => {
        assert.equal(error.code, 'invalid_option', `${name}: ${error.stack}`);
        assert.ok(error.message.length < 1000, name);
        return true;
      },
    );
  }
});
