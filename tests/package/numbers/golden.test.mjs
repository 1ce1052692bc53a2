// Compares both binaries with PyTorch's answers; see tests/fixtures/reference/goldens.py.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertNear,
  binaries,
  goldenFolder,
  goldenNames,
  load,
  readGolden,
} from '../support/helpers.mjs';

test('goldens exist', () => assert.ok(goldenNames.length >= 8));

for (const binary of binaries) {
  for (const name of goldenNames) {
    test(`${name}, ${binary}`, async () => {
      const golden = readGolden(name);
      const tolerance = (tensor) => golden.tolerance[tensor][0];
      const classifier = await load(goldenFolder(name), { binary });
      const { labels, layers, heads } = classifier.info;
      assert.equal(classifier.info.binary, binary);
      const numbers = (byLabel) => labels.map((label) => byLabel[label]);
      const { logits } = golden.tensors;
      const contributions = 'contributions.0' in golden.tensors;

      for (const [s, text] of golden.texts.entries()) {
        const result = await classifier.classify(text, { attention: true, contributions });
        assert.deepEqual(
          result.tokens.map((token) => token.id),
          golden.ids[s],
        );
        assert.equal(result.clipped, golden.clipped[s]);
        assert.equal(result.label, golden.labels[s]);
        assertNear(
          result.scores.map(({ score }) => score),
          golden.scores[s],
          tolerance('scores'),
          'scores',
        );
        assert.equal(result.score, Math.max(...result.scores.map(({ score }) => score)));
        const expected = logits.data.subarray(s * labels.length, (s + 1) * labels.length);
        assertNear(
          result.scores.map(({ logit }) => logit),
          expected,
          tolerance('logits'),
          'logits',
        );

        const map = result.attention.encoder;
        const attention = golden.tensors[`attention.${s}`];
        assert.deepEqual([layers, heads, map.queries, map.keys], attention.shape);
        assert.deepEqual([map.layers, map.heads], [layers, heads]);
        assertNear(map.data, attention.data, tolerance(`attention.${s}`), `attention.${s}`);

        if (!contributions) continue;
        assertNear(
          result.contributions.flatMap((ofLabel) => [...ofLabel]),
          golden.tensors[`contributions.${s}`].data,
          tolerance(`contributions.${s}`),
          `contributions.${s}`,
        );
      }

      for (const { text, options, logits: expected } of golden.interventions) {
        const result = await classifier.classify(golden.texts[text], options);
        const what = `logits with ${JSON.stringify(options)}`;
        assertNear(
          result.scores.map(({ logit }) => logit),
          expected,
          tolerance('logits'),
          what,
        );
      }
    });
  }
}
