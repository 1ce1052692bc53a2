// The estimates of a transplant, compared with the measured changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { correlation, correlationTold, previewedCells } = await source('panels/transplant/preview');
const { isMeasured } = await source('panels/transplant/transplant');

const table = (data, done) => ({ delta: { shape: [2, 3], data: Float32Array.from(data) }, done });
const estimates = table([0, 1, 2, 3, NaN, 5], 0);
const measured = table([0, 1.5, 2, 2.5, 1, 6]);

test('cells are compared that have an estimate, and whose vectors differ', () => {
  const cells = previewedCells(estimates, measured);
  assert.deepEqual(
    cells.map(({ row, cell, estimate, measured }) => [row, cell, estimate, measured]),
    [
      [0, 1, 1, 1.5],
      [0, 2, 2, 2],
      [1, 0, 3, 2.5],
      [1, 2, 5, 6],
    ],
  );
});

test('the correlation is Pearson’s', () => {
  const cells = (pairs) => pairs.map(([estimate, measured]) => ({ estimate, measured }));
  const near = (got, expected) => assert.ok(Math.abs(got - expected) < 1e-12, `${got}`);
  near(
    correlation(
      cells([
        [0, 1],
        [1, 3],
        [2, 5],
      ]),
    ),
    1,
  );
  near(
    correlation(
      cells([
        [0, 5],
        [1, 3],
        [2, 1],
      ]),
    ),
    -1,
  );
  near(
    correlation(
      cells([
        [1, 2],
        [2, 1],
        [3, 3],
      ]),
    ),
    0.5,
  );
  assert.equal(
    correlation(
      cells([
        [1, 2],
        [1, 3],
      ]),
    ),
    undefined,
  );
  assert.match(
    correlationTold(previewedCells(estimates, measured)),
    /^The correlation of the estimates with Δ is 0\.96, over 4 cells\.$/,
  );
  assert.match(
    correlationTold(
      cells([
        [1, 2],
        [2, 1],
      ]),
    ),
    /^Too few/,
  );
  assert.match(correlationTold([]), /^Too few/);
});

test('cells are measured row by row', () => {
  const half = { ...measured, done: 4 };
  const of = (table) =>
    [0, 1].map((row) => [0, 1, 2].map((cell) => isMeasured(table, { row, cell })));
  assert.deepEqual(of(half), [
    [true, true, true],
    [true, false, false],
  ]);
  assert.ok(of(measured).flat().every(Boolean));
});
