// Drawings as strokes and as pictures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { inForm, pictureOf, side, strokesIn, strokesText, wiped } =
  await source('panels/pictures/drawing');
const { digitCode } = await source('views/digits/code');
const { smaller } = await source('panels/pictures/smaller');

const center = (bytes) => {
  let [sum, x, y] = [0, 0, 0];
  for (const [i, byte] of bytes.entries()) {
    sum += byte;
    x += byte * ((i % side) + 0.5);
    y += byte * (Math.floor(i / side) + 0.5);
  }
  return { sum, x: x / sum, y: y / sum };
};
const extent = (bytes) => {
  const rows = Array.from({ length: side }, (_, y) => bytes.slice(y * side, (y + 1) * side));
  const bright = rows.flatMap((row, y) => (row.some((byte) => byte > 127) ? [y] : []));
  return bright.at(-1) - bright[0] + 1;
};

const line = [
  [
    { x: 0.1, y: 0.1 },
    { x: 0.15, y: 0.5 },
  ],
  [
    { x: 0.1, y: 0.5 },
    { x: 0.2, y: 0.5 },
  ],
];

test('a drawing fills 20 pixels, its center of mass is in the middle, wherever it was drawn', () => {
  for (const moved of [0, 0.4]) {
    for (const larger of [1, 1.2]) {
      const strokes = line.map((stroke) =>
        stroke.map(({ x, y }) => ({ x: x * larger + moved, y: y * larger + moved })),
      );
      const bytes = pictureOf(strokes);
      const { sum, x, y } = center(bytes);
      assert.ok(sum > 0);
      assert.ok(Math.abs(x - side / 2) < 0.2 && Math.abs(y - side / 2) < 0.2, `${x} ${y}`);
      assert.ok(Math.abs(extent(bytes) - 20) <= 1, `${extent(bytes)}`);
    }
  }
});

test('nothing drawn is black; a dot is a dot', () => {
  assert.ok(pictureOf([]).every((byte) => byte === 0));
  const dot = pictureOf([[{ x: 0.9, y: 0.9 }]]);
  assert.ok(extent(dot) <= 3);
  assert.ok(Math.abs(center(dot).x - side / 2) < 0.2);
});

test('a link restores strokes to a hundredth and skips what is malformed', () => {
  const text = strokesText(line);
  assert.equal(text, '10.10_15.50~10.50_20.50');
  assert.deepEqual(strokesIn(text), line);
  assert.deepEqual(strokesIn('x~1.2_nonsense_300.5~~'), [
    [
      { x: 0.01, y: 0.02 },
      { x: 1, y: 0.05 },
    ],
  ]);
});

test('a wiped patch is black in all channels, and the rest stays', () => {
  for (const channels of [1, 3]) {
    const picture = { width: 4, height: 4, data: new Uint8Array(16 * channels).fill(9) };
    const { data } = wiped(picture, { left: 2, top: 0, width: 2, height: 2 });
    const black = data.filter((byte) => byte === 0).length;
    assert.equal(black, 4 * channels);
    assert.equal(data[0], 9);
    assert.equal(data[2 * channels], 0);
    assert.ok(picture.data.every((byte) => byte === 9));
  }
});

test('a form of a drawing is turned, slanted or wider', () => {
  const cross = strokesIn('50.10_50.90~10.50_90.50');
  const ends = (form) => strokesText(inForm(cross, form));
  assert.equal(ends({}), '50.10_50.90~10.50_90.50');
  assert.equal(ends({ turn: 90 }), '90.50_10.50~50.10_50.90');
  assert.equal(ends({ slant: 0.5 }), '70.10_30.90~10.50_90.50');
  assert.equal(ends({ width: 0.5 }), '50.10_50.90~30.50_70.50');
});

test('a picture that is too large for the page becomes means of squares', () => {
  const small = { width: 3, height: 2, data: Uint8Array.of(0, 4, 9, 2, 6, 11) };
  assert.deepEqual(smaller(small, 3), { picture: small, scale: 1 });
  assert.deepEqual(smaller(small, 2), {
    picture: { width: 2, height: 1, data: Uint8Array.of(3, 10) },
    scale: 0.5,
  });
});

test('the code for a drawing has its pixels', () => {
  const data = pictureOf(line);
  const [, packed] = /const packed = '(.*)';/.exec(digitCode({ width: side, height: side, data }));
  assert.deepEqual(
    Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)),
    data,
  );
});
