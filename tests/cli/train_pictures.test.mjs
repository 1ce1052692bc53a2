// `glassformer train` with pictures: from scratch and further, in the published format.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { glassformer, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-train-pictures-'));
after(() => rmSync(scratch, { recursive: true }));

let count = 0;
const fresh = () => join(scratch, String(++count));
function file(bytes) {
  const path = fresh();
  writeFileSync(path, bytes);
  return path;
}

const side = 14;

/** Returns an IDX file of bytes. */
function idx(sizes, bytes) {
  const header = Buffer.alloc(4 + 4 * sizes.length);
  header.writeUInt32BE(0x800 + sizes.length);
  sizes.forEach((size, i) => header.writeUInt32BE(size, 4 + 4 * i));
  return Buffer.concat([header, Buffer.from(bytes)]);
}

/** Returns a picture with a bright bar: upright (0) or level (1). */
function bar(kind, at) {
  return Array.from({ length: side * side }, (_, i) => {
    const place = kind === 0 ? i % side : Math.floor(i / side);
    return Math.abs(place - at) < 2 ? 250 : (i * 7) % 20;
  });
}
const examples = Array.from({ length: 24 }, (_, i) => ({ kind: i % 2, at: 3 + (i % 8) }));
const pixels = examples.flatMap(({ kind, at }) => bar(kind, at));
const images = file(idx([examples.length, side, side], pixels));
const labels = file(
  idx(
    [examples.length],
    examples.map(({ kind }) => kind),
  ),
);
const names = file(examples.map(({ kind }) => (kind === 0 ? 'upright\n' : 'level\n')).join(''));

/** Writes a picture as a gray PNG file. */
function png(bytes) {
  const chunk = (type, body) => {
    const data = Buffer.concat([Buffer.from(type), body]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(body.length);
    ends.writeUInt32BE(crc32(data), 4);
    return Buffer.concat([ends.subarray(0, 4), data, ends.subarray(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side);
  header.writeUInt32BE(side, 4);
  header[8] = 8;
  const rows = Array.from({ length: side }, (_, y) => [
    0,
    ...bytes.slice(y * side, (y + 1) * side),
  ]);
  return file(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', header),
      chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}
const pictures = examples.slice(0, 8).map(({ kind, at }) => png(bar(kind, at)));

const config = file(JSON.stringify({ encoder_layers: 1, d_model: 16, d_ff: 32, n_heads: 2 }));
const options = ['--epochs', '60', '--held-out', '0', '--distortion', '0.3', '--rate', '0.01'];
const train = (start, data, folder, ...more) =>
  glassformer(['train', start, data, folder, ...options, ...more]);
const answersOf = (folder) =>
  glassformer(['image', folder, ...pictures]).lines.map((line) => line.split('\t')[0]);

test('a new model learns pictures, and its folder has the published format', () => {
  const folder = fresh();
  const { status, stderr } = train(config, `${images},${labels}`, folder, '--half');
  assert.equal(status, 0, stderr);
  assert.deepEqual(answersOf(folder), ['0', '1', '0', '1', '0', '1', '0', '1']);

  const read = (name) => readFileSync(join(folder, name));
  const written = JSON.parse(read('config.json'));
  assert.equal(written.model_type, 'vit');
  assert.deepEqual(written.architectures, ['ViTForImageClassification']);
  assert.deepEqual([written.image_size, written.patch_size, written.num_channels], [14, 2, 1]);
  assert.deepEqual(written.id2label, { 0: '0', 1: '1' });
  assert.equal(
    JSON.parse(read('preprocessor_config.json')).image_processor_type,
    'ViTImageProcessor',
  );
  const weights = read('model.safetensors');
  const header = JSON.parse(weights.subarray(8, 8 + Number(weights.readBigUInt64LE())));
  assert.deepEqual(header['vit.embeddings.patch_embeddings.projection.weight'], {
    ...header['vit.embeddings.patch_embeddings.projection.weight'],
    dtype: 'F16',
    shape: [16, 1, 2, 2],
  });
  assert.deepEqual(header['vit.embeddings.position_embeddings'].shape, [1, 50, 16]);
  assert.deepEqual(header['classifier.weight'].shape, [2, 16]);

  // Named labels make a new head; the rest goes on.
  const further = fresh();
  const more = train(folder, `${images},${names}`, further);
  assert.equal(more.status, 0, more.stderr);
  const kinds = examples.slice(0, 8).map(({ kind }) => (kind === 0 ? 'upright' : 'level'));
  assert.deepEqual(answersOf(further), kinds);
});

test('the same seed gives the same weights with one and two threads', () => {
  const [one, two] = [fresh(), fresh()];
  for (const [folder, threads] of Object.entries({ [one]: '1', [two]: '2' })) {
    const { status, stderr } = train(config, `${images},${labels}`, folder, '--threads', threads);
    assert.equal(status, 0, stderr);
  }
  const weights = (folder) => readFileSync(join(folder, 'model.safetensors'));
  assert.ok(weights(one).equals(weights(two)));
});

test('data that is no pictures with labels, and models of texts, are refused', () => {
  const refuses = (start, data, message) => {
    const { status, stderr } = train(start, data, fresh());
    assert.equal(status, 1, stderr);
    assert.match(stderr, message);
  };
  const few = file(idx([2], [0, 1]));
  refuses(config, `${images},${few}`, /labels: expected 24 as there are pictures, got 2/);
  refuses(config, images, /labels: expected 24 as there are pictures, got none/);
  const same = file(idx([24], Array(24).fill(3)));
  refuses(config, `${images},${same}`, /at least two labels, got only 3/);
  refuses(join(root, 'weights/sentiment'), `${images},${labels}`, /image-classification/);
  refuses(config, `${images},${fresh()}`, /cannot be read|No such file|no such file/i);
});
