// AttnLRP and CP-LRP, compared with rules for operators in PyTorch, for every checkpoint that answers
// with a label or a text.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectedOf, folderOf, taskOf } from '../support/checkpoints.mjs';
import {
  assertError,
  assertNear,
  binaries,
  goldenFolder,
  load,
  root,
} from '../support/helpers.mjs';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const goldens = read(join(root, 'tests/fixtures/checkpoints/relevance.json'));
const methods = ['attn_lrp', 'cp_lrp'];

/** Returns the text and the options that explain a golden's number, if it is that of a whole text. */
function explained(name) {
  const {
    text: index,
    ids,
    target_ids: target,
    contrast,
  } = read(join(folderOf(name), 'expected.gradients.json'));
  const { task, texts } = expectedOf(name);
  const given = texts[index];
  if (given?.ids.join() !== ids.join()) return undefined;
  if (task === 'sequence') {
    const { text: first, pair } = given;
    return { text: pair === undefined ? first : { text: first, pair }, options: {} };
  }
  const idOf = (sign) => contrast.find(([, , weight]) => weight === sign)[1];
  const options = { token: idOf(1), against: idOf(-1) };
  if (target) options.prefix = target.slice(1);
  if (given.from !== undefined) Object.assign(options, { from: given.from, to: given.to });
  return { text: given.text, options };
}

const subjects = Object.keys(goldens).flatMap((name) => {
  const subject = explained(name);
  return subject ? [{ name, ...subject }] : [];
});
assert.ok(subjects.length >= 35, `${subjects.length} of ${Object.keys(goldens).length}`);

for (const binary of binaries)
  for (const { name, text, options } of subjects)
    test(`${name}, ${binary}: what rules pass back equals PyTorch’s`, async () => {
      const model = await load(folderOf(name), { binary, gradients: true }, taskOf(name).Class);
      const golden = goldens[name];
      for (const method of methods) {
        const { scores, value } = await model.explain(text, { method, ...options });
        const most = Math.max(1, ...golden[method].map(Math.abs));
        assertNear(scores, golden[method], 1e-4 * most, method);
        assertNear([value], [golden.value], 1e-4, 'value');
      }
    });

test('linear attention has no such rules', async () => {
  const model = await load(goldenFolder('linear_attention'), { gradients: true });
  for (const method of methods) {
    const asked = model.explain('a b', { method });
    await assertError(asked, 'unsupported', new RegExp(`^${method}: .*linear attention`));
  }
});
