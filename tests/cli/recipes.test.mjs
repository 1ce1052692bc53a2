// The recipes of weights/train that train with `glassformer train`, on small corpora.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { command, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-recipes-'));
after(() => rmSync(scratch, { recursive: true }));

const subjects = ['the film', 'this story', 'our evening', 'the acting', 'that song'];
const praise = ['was lovely', 'was a joy', 'shone', 'was warm and clever'];
const blame = ['was awful', 'was a bore', 'failed', 'was cold and stupid'];
const texts = (ends) => subjects.flatMap((subject) => ends.map((end) => `${subject} ${end}`));
const labeled = [
  ...texts(praise).map((text) => `1\t${text}`),
  ...texts(blame).map((text) => `0\t${text}`),
];

const corpus = (name, lines) =>
  writeFileSync(join(scratch, `${name}.gz`), gzipSync(lines.map((line) => `${line}\n`).join('')));
for (const [name, times] of [
  ['imdb', 12],
  ['sms', 12],
  ['trec', 2],
]) {
  // The models learn the texts that measure them.
  corpus(`${name}.train.tsv`, Array.from({ length: times }, () => labeled).flat());
  corpus(`${name}.test.tsv`, labeled);
}
const seeds = (count) => Array.from({ length: count }, (_, i) => `${i + 1}`);

function run(recipe) {
  const folder = join(scratch, recipe);
  const script = join(root, 'weights/train/recipes/run.sh');
  const { status, stderr } = spawnSync('sh', [script, recipe, scratch, folder], {
    env: { ...process.env, GLASSFORMER: resolve(command) },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const metrics = readFileSync(join(folder, 'metrics.jsonl'), 'utf8').trim().split('\n');
  return metrics.map((line) => JSON.parse(line));
}

for (const [recipe, models] of [
  ['imdb', ['model']],
  ['sms', seeds(5)],
  ['trec', seeds(5).flatMap((seed) => [`sentiment.${seed}`, `masked.${seed}`])],
  [
    'masked',
    ['500', 'all'].flatMap((labels) =>
      seeds(3).flatMap((seed) => [`${labels}.config.${seed}`, `${labels}.masked.${seed}`]),
    ),
  ],
]) {
  test(`the recipe ${recipe} trains and measures`, () => {
    const metrics = run(recipe);
    assert.deepEqual(
      metrics.map(({ model }) => model),
      models.map((model) => join(scratch, recipe, model)),
    );
    for (const { texts, accuracy } of metrics) {
      assert.equal(texts, labeled.length);
      assert.ok(accuracy > 0.5 && accuracy <= 1, String(accuracy));
    }
  });
}

test('a recipe that runs again trains nothing again', () => {
  const weights = join(scratch, 'sms/1/model.safetensors');
  writeFileSync(join(scratch, 'sms/metrics.jsonl'), '');
  const before = statSync(weights);
  assert.equal(run('sms').length, 5);
  const { ino, mtimeMs } = statSync(weights);
  assert.deepEqual([ino, mtimeMs], [before.ino, before.mtimeMs]);
});
