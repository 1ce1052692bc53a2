// `glassformer steer` and the options that use what it writes.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { glassformer, root } from './run.mjs';

const writer = join(root, 'weights/writer');
const name = 'decoder.layers.2.output';

let folder;
const file = (path) => join(folder, path);
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'steer-'));
  writeFileSync(file('toward.txt'), 'A wonderful film.\nI loved it.\n');
  writeFileSync(file('away.txt'), 'A terrible film.\nI hated it.\n');
  for (const out of ['vector.safetensors', 'vector.npy']) {
    const lists = ['--toward', file('toward.txt'), '--away', file('away.txt')];
    const options = ['--compute', 'f32', '--name', name, ...lists, '--out', file(out)];
    const { status, stdout, stderr } = glassformer(['steer', writer, ...options]);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^decoder\.layers\.2\.output\tnorm=\d+\.\d+\tstream_norm=\d+\.\d+\n$/);
  }
});
after(() => rmSync(folder, { recursive: true }));

function written(...options) {
  const fixed = ['--compute', 'f32', '--no-sample', '--max-new-tokens', '8'];
  const { status, stdout, stderr } = glassformer(
    ['generate', writer, ...fixed, ...options],
    'This film is\n',
  );
  return status === 0 ? stdout : { status, stderr };
}

// Writes a file of NumPy's format: a header of our choice.
function npy(path, { header, data, version = 1, magic = '\x93NUMPY' }) {
  const text = Buffer.from(`${header}\n`);
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  length.writeUIntLE(text.length, 0, length.length);
  const start = Buffer.concat([Buffer.from(magic, 'latin1'), Buffer.from([version, 0]), length]);
  writeFileSync(file(path), Buffer.concat([start, text, Buffer.from(data.buffer)]));
  return file(path);
}

const header = (type, shape) => `{'descr': '${type}', 'fortran_order': False, 'shape': ${shape}, }`;

/** The vector in what the command wrote. */
function vector() {
  const bytes = readFileSync(file('vector.npy'));
  const at = 10 + bytes.readUInt16LE(8);
  return Array.from({ length: (bytes.length - at) / 4 }, (_, i) => bytes.readFloatLE(at + 4 * i));
}

test('a direction in safetensors and one in NumPy’s format do the same', () => {
  const bytes = readFileSync(file('vector.npy'));
  assert.equal((10 + bytes.readUInt16LE(8)) % 64, 0);
  assert.match(
    bytes.toString('latin1'),
    /^\x93NUMPY\x01\x00..\{'descr': '<f4', 'fortran_order': False/s,
  );
  const direction = ['--scale', '-3'];
  const steered = written('--steer', file('vector.safetensors'), ...direction);
  assert.notEqual(steered, written());
  const at = ['--steer-at', name];
  assert.equal(written('--steer', file('vector.npy'), ...at, ...direction), steered);
  assert.equal(
    written('--project-out', file('vector.npy'), ...at),
    written('--project-out', file('vector.safetensors')),
  );
  const numbers = vector();
  const shape = `(${numbers.length},)`;
  const wide = npy('wide.npy', {
    header: header('<f8', shape),
    data: Float64Array.from(numbers),
    version: 2,
  });
  assert.equal(written('--steer', wide, ...at, ...direction), steered);
});

test('files of NumPy with something else are refused', () => {
  const numbers = Float32Array.from(vector());
  const whole = header('<f4', `(${numbers.length},)`);
  const at = ['--steer-at', name];
  const refused = (expected, ...options) => {
    const { status, stderr } = written(...options);
    assert.equal(status, 1, stderr);
    assert.match(stderr, expected);
  };
  for (const [expected, made] of [
    [/a NumPy file/, { header: whole, magic: '\x93NUMPX' }],
    [/version 1 to 3, got 4/, { header: whole, version: 4 }],
    [/one axis, \(n,\), got \(1, 128\)/, { header: header('<f4', '(1, 128)') }],
    [/one axis, \(n,\), got \(\)/, { header: header('<f4', '()') }],
    [/'<f2', '<f4' or '<f8', got '<i4'/, { header: header('<i4', `(${numbers.length},)`) }],
    [/'<f2', '<f4' or '<f8', got '>f4'/, { header: header('>f4', `(${numbers.length},)`) }],
    [/200 numbers, got \d+ bytes/, { header: header('<f4', '(200,)') }],
    [/the field 'shape':/, { header: "{'descr': '<f4', }" }],
  ]) {
    refused(expected, '--steer', npy('other.npy', { data: numbers, ...made }), ...at);
  }
  const short = npy('short.npy', { header: header('<f4', '(4,)'), data: new Float32Array(4) });
  refused(/the 256 numbers of a row, got 4/, '--steer', short, ...at);
  refused(/--steer-at NAME/, '--steer', file('vector.npy'));
  refused(/--steer-at/, '--steer', file('vector.safetensors'), ...at);
  refused(/--steer-at/, ...at);
});
