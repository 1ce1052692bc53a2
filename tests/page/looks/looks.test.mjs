// Colors are distinguishable and legible; keys move as expected.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../source.mjs';

const palette = await source('ui/color/palette');
const { labelColor, shadeOf } = await source('ui/color/glasses');
const { placeAfter, walkAlong } = await source('ui/controls/keys');
const { loadFailure, readFailure, GlassformerError } = await source('ui/failure', 'glassformer');

const channels = (color) => {
  const hex = /^#(..)(..)(..)$/.exec(color);
  if (hex) return hex.slice(1).map((value) => parseInt(value, 16));
  return color.match(/\d+/g).slice(0, 3).map(Number);
};
function luminance(color) {
  const [r, g, b] = channels(color).map((value) =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const shares = Array.from({ length: 201 }, (_, i) => i / 100 - 1);

for (const theme of ['light', 'dark']) {
  test(`ink is legible on every color of evidence, ${theme}`, () => {
    for (const share of shares) {
      const color = palette.evidenceColor(theme, share);
      const ink = palette.inkOn(color) === '#000' ? 0 : 1;
      const [low, high] = [ink, luminance(color)].sort((a, b) => a - b);
      assert.ok((high + 0.05) / (low + 0.05) >= 4.5, `${share}: ${color}`);
    }
  });

  test(`more attention is always more color, ${theme}`, () => {
    const scale = palette.attentionScale(theme, 0.5);
    const steps = Array.from({ length: 101 }, (_, i) => luminance(scale(i / 200)));
    const sign = theme === 'light' ? -1 : 1;
    for (let i = 1; i < steps.length; i++)
      assert.ok(sign * (steps[i] - steps[i - 1]) > -1e-3, `${i}: ${steps[i - 1]} ${steps[i]}`);
    assert.equal(scale(0.5), scale(7));
    const pixels = palette.attentionPixels(theme);
    assert.deepEqual([...pixels.slice(255 * 4)], [...channels(scale(0.5)), 255]);
    const shades = palette.attentionShades(theme);
    for (const weight of [0, 0.5, 0.7]) assert.equal(shades[shadeOf(weight, 0.5)], scale(weight));
    assert.equal(shadeOf(0.1, 0), 0);
  });
}

test('colors between the two ends are mixed from them', () => {
  assert.notEqual(labelColor('light', 0, 2), labelColor('light', 1, 2));
  assert.match(labelColor('light', 1, 5), /^color-mix/);
});

test('keys move within a field and do not leave it', () => {
  const field = { rows: 4, columns: 8, page: 2 };
  const after = (key, at, more) => placeAfter({ key, ...more }, at, field);
  assert.deepEqual(after('ArrowDown', { row: 3, column: 1 }), { row: 3, column: 1 });
  assert.deepEqual(after('ArrowRight', { row: 3, column: 1 }), { row: 3, column: 2 });
  assert.deepEqual(after('End', { row: 1, column: 1 }), { row: 1, column: 7 });
  assert.deepEqual(after('End', { row: 1, column: 1 }, { ctrlKey: true }), { row: 3, column: 7 });
  assert.deepEqual(after('Home', { row: 1, column: 1 }, { metaKey: true }), { row: 0, column: 0 });
  assert.deepEqual(after('PageUp', { row: 3, column: 1 }), { row: 1, column: 1 });
  assert.equal(after('a', { row: 3, column: 1 }), undefined);
  assert.equal(after('constructor', { row: 3, column: 1 }), undefined);
});

test('a single row does not use the keys that scroll the page', () => {
  let focused;
  const walk = walkAlong(3, 1, (index) => ({ focus: () => (focused = index) }));
  for (const key of ['ArrowDown', 'ArrowUp', 'PageDown'])
    assert.equal(placeAfter({ key }, walk.at, walk.field), undefined);
  walk.go(placeAfter({ key: 'End' }, walk.at, walk.field));
  assert.equal(focused, 2);
});

test('every failure suggests a remedy', () => {
  const failed = (code) => loadFailure(new GlassformerError(code, 'why'), 'models/sentiment');
  const codes = ['fetch_failed', 'http_error', 'wrong_content_type', 'unsupported_runtime'];
  const told = new Set();
  for (const code of [...codes, 'worker_failed', 'aborted', 'invalid_config']) {
    const { what, cure, detail } = failed(code);
    assert.ok(what !== '' && cure !== '', code);
    assert.equal(detail, `${code}: why`);
    told.add(what);
  }
  assert.equal(told.size, 7);
  assert.match(failed('missing_file').cure, /models\/sentiment/);
  assert.match(readFailure(new Error('odd')).detail, /internal: odd/);
});
