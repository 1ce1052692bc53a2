// The shots of a film with their times, and the duration of its video.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../../tests/page/source.mjs';

const {
  afterName,
  clearestHead,
  frameTimes,
  lanesOf,
  mostLanes,
  namesFor,
  paletteOf,
  sceneOf,
  shotAt,
  stacksOf,
  stillOf,
  withDuration,
} = await source(
  'panels/figure/figure',
  ...['scene', 'links', 'save/gif-palette', 'save/webm-duration'].map(
    (name) => `panels/figure/film/${name}`,
  ),
);

const layer = { norm: 'pre', nHeads: 2, dFf: 8, attention: 'full' };
const stack = (layers) => ({
  dModel: 4,
  positions: 'sinusoidal',
  layers: Array.from({ length: layers }, () => layer),
});
const head = { kind: 'labels', pooling: 'mean', outputs: 2 };
const labels = ['A', 'fine', 'film', '.'];

const classifier = stacksOf('encoder', {
  architecture: { encoder: stack(2), head },
  rows: { encoder: 4 },
});
const translator = stacksOf('encoder-decoder', {
  architecture: { encoder: stack(2), decoder: stack(1), head: { kind: 'tokens' } },
  rows: { encoder: 4, decoder: 3 },
});
const words = {
  text: 'A fine film.',
  read: { encoder: labels },
  scores: [
    { label: 'negative', score: 0.1 },
    { label: 'positive', score: 0.9 },
  ],
};

/** A tensor whose numbers differ from each other and from those of other tensors. */
function tensor(shape, seed) {
  const size = shape.reduce((a, b) => a * b, 1);
  return { shape, data: Float32Array.from({ length: size }, (_, i) => Math.sin(seed + 7 * i)) };
}

/** All tensors that a film of four tokens asks for. */
function traceOf(names, rows = () => 4) {
  const shapeOf = (name) => {
    const n = rows(name);
    if (name.endsWith('encoder_attn.weights')) return [2, n, 4];
    if (name.endsWith('weights')) return [2, n, n];
    if (name === 'logits') return [n, 6];
    return [n, name.endsWith('fc1') ? 8 : 4];
  };
  return Object.fromEntries(names.map((name, i) => [name, tensor(shapeOf(name), i)]));
}

const film = sceneOf(classifier, words, traceOf(namesFor(classifier, false)));
const partsOf = ({ shots }) => shots.map(({ kind, station }) => station?.box.part ?? kind);

test('the film has a title, all stations in their order, and an end', () => {
  const sublayers = ['norm', 'attention', 'add', 'norm', 'feed', 'add'];
  assert.deepEqual(partsOf(film), [
    ...['title', 'tokens', 'embedding', 'positions'],
    ...[...sublayers, ...sublayers],
    ...['norm', 'answer', 'end'],
  ]);
  assert.deepEqual(film.answer, { text: 'positive', probability: 0.9 });
});

test('shots follow each other without gaps, and later layers are faster', () => {
  let time = 0;
  for (const [i, { start, duration }] of film.shots.entries()) {
    assert.equal(start, time);
    assert.ok(duration > 0);
    time += duration;
    for (const moment of [start, start + duration / 2, stillOf(film.shots[i])])
      assert.equal(shotAt(film, moment), i);
  }
  assert.equal(time, film.duration);
  assert.equal(shotAt(film, time + 1), film.shots.length - 1);
  const attention = film.shots.filter(({ station }) => station?.box.part === 'attention');
  assert.ok(attention[0].duration > attention[1].duration);
});

test('each box gets the vectors of the box before, and gives those of the trace', () => {
  const names = namesFor(classifier, false);
  assert.ok(names.includes('encoder.embeddings'));
  assert.ok(names.includes('encoder.layers.1.self_attn.output'));
  assert.ok(names.includes('encoder.layers.1.fc2'));
  assert.equal(new Set(names).size, names.length);
  const trace = traceOf(names);
  const { shots } = sceneOf(classifier, words, trace);
  const stations = shots.filter(({ station }) => station);
  for (const [i, { station, before, after }] of stations.entries()) {
    if (i > 1) assert.equal(before, stations[i - 1].after);
    if (i > 0 && station.box.part !== 'answer') assert.equal(after, trace[afterName(station)]);
  }
});

test('a sum adds what came into its sublayer', () => {
  const trace = traceOf(namesFor(classifier, false));
  const { shots } = sceneOf(classifier, words, trace);
  const sums = shots.filter(({ station }) => station?.box.part === 'add');
  assert.deepEqual(
    sums.map(({ inside }) => Object.keys(trace).find((name) => trace[name] === inside.tensor)),
    [
      'encoder.embeddings',
      'encoder.layers.0.self_attn.residual',
      'encoder.layers.0.output',
      'encoder.layers.1.self_attn.residual',
    ],
  );
});

test('the answer is read from the mean of the last vectors', () => {
  const { before, inside } = film.shots.at(-2);
  assert.deepEqual(
    inside.answers.map(({ text }) => text),
    ['positive', 'negative'],
  );
  const { vector, row } = inside.read;
  assert.equal(row, undefined);
  for (const [i, value] of vector.data.entries()) {
    const column = [0, 1, 2, 3].map((token) => before.data[4 * token + i]);
    assert.ok(Math.abs(value - column.reduce((a, b) => a + b) / 4) < 1e-6);
  }
});

test('attention is that of the head with the clearest links, between words', () => {
  const rows = labels.map((label, row) => ({ label, row }));
  const even = Array.from({ length: 16 }, () => 0.25);
  const sharp = [
    ...[0, 0, 1, 0], // A → film
    ...[0, 0.1, 0.9, 0],
    ...[0, 0, 1, 0],
    ...[0, 0, 0, 1],
  ];
  const links = clearestHead(
    { shape: [2, 4, 4], data: Float32Array.from([...even, ...sharp]) },
    { queries: rows, keys: rows },
    false,
  );
  assert.equal(links.head, 1);
  assert.equal(links.heads, 2);
  // Neither a token's weight to itself nor one to punctuation.
  assert.deepEqual(links.strongest, { query: 0, key: 2, weight: 1 });
  assert.deepEqual([...links.weights], [...Float32Array.from(sharp)]);
});

test('a long text is shown in part: both ends of what is read, the end of what is continued', () => {
  const read = Array.from({ length: 40 }, (_, i) => `w${i}`);
  const rowsOf = (lanes) => lanes.map(({ row }) => row);
  const both = lanesOf('encoder', { text: '', read: { encoder: read } }, true);
  assert.deepEqual(rowsOf(both), [0, 1, 2, 3, 4, 5, 34, 35, 36, 37, 38, 39]);
  const end = lanesOf('decoder', { text: '', read: { decoder: read } }, true);
  assert.deepEqual(rowsOf(end), [0, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]);
  assert.equal(end.length, mostLanes);
});

test('of a picture, the patches with something on them are shown', () => {
  const pixels = { width: 5, height: 4, data: new Uint8Array(20) };
  // Patches of one pixel have no contrast; those of two have, if one of them is bright.
  pixels.data[12] = 200;
  const places = Array.from({ length: 19 }, (_, i) => ({
    ...{ left: i % 4, top: Math.floor(i / 4) % 4 },
    ...{ width: 2, height: 1 },
  }));
  const picture = { pixels, places: [undefined, ...places] };
  const read = { encoder: ['class token', ...places.map((_, i) => `patch ${i}`)] };
  const lanes = lanesOf('encoder', { text: '', read, picture }, true);
  assert.equal(lanes.length, mostLanes);
  assert.equal(lanes[0].label, 'class token');
  for (const patch of [9, 10])
    assert.ok(
      lanes.some(({ row }) => row === patch + 1),
      `${patch}`,
    );
});

test('a translation is written token by token, with the probabilities of the logits', () => {
  const target = ['Ein', 'Film', '.'];
  const translation = { text: 'Ein Film.', tokens: target.map((text, id) => ({ text, id })) };
  const own = { text: words.text, read: { encoder: labels, decoder: ['<s>', 'Ein', 'Film'] }, translation }; // prettier-ignore
  const names = namesFor(translator, true);
  assert.ok(names.includes('logits'));
  const rows = (name) => (/^(decoder|logits)/.test(name) ? 3 : 4);
  const { shots, answer, doubtful } = sceneOf(translator, own, traceOf(names, rows));
  assert.equal(answer, undefined);
  const { inside } = shots.at(-2);
  assert.deepEqual(
    inside.answers.map(({ text }) => text),
    target,
  );
  const { data } = traceOf(names, rows).logits;
  for (const [row, { probability }] of inside.answers.entries()) {
    const powers = Array.from(data.subarray(6 * row, 6 * row + 6), Math.exp);
    const sum = powers.reduce((a, b) => a + b);
    assert.ok(Math.abs(probability - powers[row] / sum) < 1e-6);
    assert.ok(inside.best[row][0] >= probability);
  }
  const least = Math.min(...inside.answers.map(({ probability }) => probability));
  assert.equal(doubtful.probability, least);
  const cross = shots.find(({ station }) => station?.box.part === 'cross');
  assert.equal(cross.inside.keys.length, 4);
  assert.match(cross.caption.text, /^Here the decoder reads the source\. After “.+”, to write “.+”, head \d gives \d+\.\d% of its attention to “\w+”\.$/); // prettier-ignore
});

test('captions name the layer and numbers of the run', () => {
  const texts = film.shots.map(({ caption }) => `${caption.title}: ${caption.text}`);
  assert.ok(texts.includes('Tokens: The text is cut into 4 tokens: words, or pieces of words.'));
  assert.ok(texts.some((text) => text.startsWith('Layer 2 of 2 · Multi-head attention: In head')));
  assert.ok(texts.at(-2).endsWith('probabilities: positive, 90.0%.'));
  for (const { caption } of film.shots) assert.ok(caption.text.length < 170, caption.text);
});

test('without a trace, the film still has all its shots', () => {
  const { shots } = sceneOf(classifier, words, {});
  assert.equal(shots.length, film.shots.length);
});

test('frames are evenly spaced, and end with the part', () => {
  assert.deepEqual(frameTimes({ from: 1000, to: 1500 }, 8), [1000, 1125, 1250, 1375]);
  assert.deepEqual(frameTimes({ from: 0, to: 1 }, 8), [0]);
});

test('a video gets its duration, once', () => {
  const size = Buffer.from([0x87]);
  const scale = Buffer.from([0x2a, 0xd7, 0xb1, 0x83, 0x0f, 0x42, 0x40]);
  const before = Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80, 0x15, 0x49, 0xa9, 0x66]);
  const rest = Buffer.from([0x16, 0x54, 0xae, 0x6b, 0x80]);
  const bytes = new Uint8Array(Buffer.concat([before, size, scale, rest]));
  const own = Buffer.from(withDuration(bytes, 2400));
  const duration = Buffer.alloc(11);
  duration.set([0x44, 0x89, 0x88]);
  duration.writeDoubleBE(2400, 3);
  assert.deepEqual(own, Buffer.concat([before, Buffer.from([0x92]), duration, scale, rest]));
  assert.deepEqual(Buffer.from(withDuration(new Uint8Array(own), 7)), own);
  const other = new Uint8Array(rest);
  assert.equal(withDuration(other, 7), other);
});

test('a palette has the frequent colors, and a rare one that differs', () => {
  const pixels = [];
  const put = (count, ...color) => {
    for (let i = 0; i < count; i++) pixels.push(...color, 255);
  };
  put(500, 255, 255, 255);
  for (let shade = 0; shade < 200; shade += 4) put(20, shade, shade, shade);
  put(1, 255, 0, 0);
  const palette = paletteOf(new Uint8ClampedArray(pixels), 20);
  assert.equal(palette.length, 20);
  assert.deepEqual(palette[0], [255, 255, 255]);
  assert.ok(palette.some((color) => color.join() === '255,0,0'));
  assert.deepEqual(paletteOf(new Uint8ClampedArray([8, 8, 8, 255]), 20), [[8, 8, 8]]);
});
