// The view Teach without a browser: links, the lines of charts, and what experiments say.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../../../../tests/page/source.mjs';

const { bandOf, heldOut, meanNorms, partName, smoothed } = await source(
  'views/teach/learning/series',
);
const { conclusion, firstGradients, measured } = await source('views/teach/experiments/conclusion');
const { readOwnFile } = await source('views/teach/own-file');
const { experiments } = await source('views/teach/experiments/experiments');
const { rowsIn, textOf } = await source('views/teach/link');
const { probes } = await source('panels/verdict/probes');
const { rehearsals } = await source('views/teach/sentences/rehearsals');
const {
  digitsOf,
  drawnIn,
  firstDrawn,
  pixelsOf,
  probes: otherDigits,
  rehearsals: rehearsedDigits,
} = await source('views/teach/handwriting/drawn');

const point = (step, loss, norms = [], more = {}) => ({
  ...{ step, loss, accuracy: 0.5, progress: step / 10, rate: 0.1 },
  gradientNorms: norms.map((norm, i) => ({ name: `encoder.layers.${i}`, norm })),
  ...more,
});

test('sentences survive a link; other lines are skipped', () => {
  const rows = [
    { label: 'positive', text: 'Fine.' },
    { label: 'negative', text: '' },
  ];
  assert.deepEqual(rowsIn(textOf(rows)), rows);
  assert.deepEqual(rowsIn('strange\tFine.\npositive\tGood.\nnothing'), [
    { label: 'positive', text: 'Good.' },
  ]);
  assert.equal(rowsIn('nothing at all'), undefined);
});

test('a smoothed line is a weighted mean, and keeps its last point', () => {
  const line = smoothed([point(1, 4), point(2, 2)], ({ loss }) => loss, 0.5);
  assert.deepEqual(line, [
    [1, 4],
    [2, (0.5 * 4 + 2) / 1.5],
  ]);
  const many = Array.from({ length: 1001 }, (_, i) => point(i + 1, 1));
  const long = smoothed(many, ({ loss }) => loss);
  assert.ok(long.length <= 402);
  assert.equal(long.at(-1)[0], 1001);
});

test('only measured steps are in the line of held-out examples', () => {
  const points = [point(1, 1), point(2, 1, [], { heldOut: { loss: 0.3, accuracy: 0.9 } })];
  assert.deepEqual(
    heldOut(points, ({ accuracy }) => accuracy),
    [[2, 0.9]],
  );
});

test('gradient norms are means over the last steps', () => {
  const points = [point(1, 1, [8, 1]), point(2, 1, [4, 2]), point(3, 1, [2, 4])];
  const norms = (...how) => meanNorms(points, ...how).map(({ norm }) => norm);
  assert.deepEqual(norms(Infinity, 2), [3, 3]);
  assert.deepEqual(norms(2, 2), [6, 1.5]);
  assert.deepEqual(meanNorms([]), []);
  const names = ['encoder.embed_tokens', 'encoder.layers.11', 'encoder.layer_norm', 'classifier'];
  assert.deepEqual(names.map(partName), ['Embeddings', 'Layer 12', 'Last norm', 'Classifier']);
});

test('an experiment says what was measured, and no more', () => {
  const experiment = experiments[0];
  const outcome = (loss) => ({
    loss,
    accuracy: 0.9,
    sureness: 0.8,
    norms: [{ name: 'encoder.layers.0', norm: 0.01 }],
  });
  const trial = (seed, a, b) => ({ seed, outcomes: [a && outcome(a), b && outcome(b)] });
  const first = trial(1, 0.1, 0.4);
  assert.equal(
    measured(experiment, first),
    'Seed 1, on messages that were held out: with: loss 0.100, 90.0% right, sure to 80.0%; without: loss 0.400, 90.0% right, sure to 80.0%.',
  );
  const equal = trial(1, 0.1, 0.105);
  assert.equal(conclusion(experiment, [first]), 'In this run the claim holds.');
  assert.equal(
    conclusion(experiment, [equal]),
    'In this run the claim does not hold: there is no clear difference.',
  );
  assert.equal(
    conclusion(experiment, [first, trial(2, 0.4, 0.1), trial(3, 0.1, undefined), equal]),
    'The claim holds in 2 of 4 seeds; the opposite in 1; there is no clear difference in 1.',
  );
  assert.match(measured(experiment, trial(3, 0.1, undefined)), /without: the training failed/);
  assert.match(firstGradients(experiment, [first]), /1\.0e-2 \(with\) and 1\.0e-2 \(without\)/);
  assert.equal(firstGradients(experiment, [trial(3, 0.1, undefined)]), '');
});

test('a band holds all seeds', () => {
  assert.deepEqual(
    bandOf([
      [1, 0.5],
      [2, 0.9],
      [1, 0.7],
      [2, 0.8],
    ]),
    [
      [1, 0.5, 0.7],
      [2, 0.8, 0.9],
    ],
  );
});

test('a visitor’s file is told before it is learned', () => {
  const read = (text) => readOwnFile('own.tsv', text);
  assert.deepEqual(read('\uFEFFa\tone\r\nb\ttwo\na\tthree\n'), {
    name: 'own.tsv',
    told: '3 lines, 2 labels: “a” 2, “b” 1.',
    usable: true,
  });
  for (const [text, told] of [
    ['\n', /no lines/],
    ['a\tone\nb\n', /^Line 2 has no tab/],
    ['label,text\nspam,hello\n', /^Line 1 has no tab.*commas/],
    ['a\tone\na\ttwo\n', /at least two labels/],
    [Array.from({ length: 30 }, (_, i) => `text ${i}\tham`).join('\n'), /label before the tab/],
  ]) {
    const { usable, told: said } = read(text);
    assert.match(said, told);
    assert.ok(!usable, text);
  }
});

test('drawn digits are in a link, with their labels', () => {
  const link = digitsOf(firstDrawn);
  assert.deepEqual(drawnIn(link), firstDrawn);
  assert.equal(drawnIn('x'), undefined);
  assert.equal(drawnIn('3:20.20*nothing*a:1.1').length, 1);
});

test('no digit that shows what changed is taught or rehearsed', () => {
  const bytes = ({ strokes }) => `${pixelsOf(strokes).data}`;
  const learned = [...firstDrawn, ...rehearsedDigits].map(bytes);
  assert.deepEqual([otherDigits.length, rehearsedDigits.length], [50, 30]);
  assert.equal(new Set([...learned, ...otherDigits.map(bytes)]).size, 84);
});

test('probes are not among the sentences that are rehearsed', () => {
  assert.equal(probes.length, 30);
  assert.deepEqual(
    probes.filter((probe) => rehearsals.includes(probe)),
    [],
  );
});

test('the two trainings of an experiment differ in one thing', () => {
  for (const { name, variants } of experiments) {
    const changed = variants.map(({ config = {}, options = {} }) => [
      ...Object.keys(config).filter((key) => key !== 'final_norm'),
      ...Object.keys(options),
    ]);
    assert.equal(new Set(changed.flat()).size, 1, name);
  }
});
