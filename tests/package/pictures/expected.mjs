// What the library transformers makes of the pictures of tests/fixtures/pictures.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/helpers.mjs';

/** The folder of the models. */
export const checkpoints = join(root, 'tests/fixtures/pictures/checkpoints');
export const names = [...readdirSync(checkpoints), '../clip/clip_classes'];
/** Returns what the library transformers makes of the pictures. */
export const expectedOf = (name) =>
  JSON.parse(readFileSync(join(checkpoints, name, 'expected.json')));

export const optionsOf = ({ size }) => (size ? { size, interpolate: true } : {});

export function assertScores(
  { label, scores },
  { label: expected, scores: values },
  labels,
  most,
  what,
) {
  assert.equal(label, expected, what);
  for (const [i, value] of values.entries()) {
    assert.deepEqual([scores[i].id, scores[i].label], [i, labels[i]], what);
    const got = scores[i].score;
    assert.ok(Math.abs(got - value) < most, `${what}: ${labels[i]}: ${got} for ${value}`);
  }
}
