// A model of a hub, and files that a user has chosen, in Chromium.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { chromium } from 'playwright-core';
import { executablePath, flags } from '../../page/chromium.mjs';
import { expectedOf, filesOf, folderOf } from '../support/checkpoints.mjs';
import { assertNear, root, serve, waiting } from '../support/helpers.mjs';
import { serveHub } from '../support/hub.mjs';

test('a hub on another origin, shards, and files that a user has chosen', waiting, async () => {
  const hub = await serveHub({ 'some/model@main': folderOf('bert_shards') });
  const pages = await serve(root, {
    '/blank': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(),
  });
  const browser = await chromium.launch({ executablePath, args: flags });
  after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${pages.url}/blank`);
  const text = expectedOf('bert_shards').texts.find(({ pair }) => pair === undefined);
  const [fromHub, chosen] = await page.evaluate(
    async ({ hubUrl, text, files }) => {
      const { load } = await import('/dist/index.js');
      const scoresOf = async (source) => {
        const model = await load(source, { hubUrl });
        const { scores } = await model.classify(text);
        model.dispose();
        return scores.map(({ score }) => score);
      };
      const blobs = await Promise.all(
        files.map(async (file) => [
          file,
          new File(
            [await (await fetch(`/tests/fixtures/checkpoints/bert_shards/${file}`)).blob()],
            file,
          ),
        ]),
      );
      return [await scoresOf('hf:some/model'), await scoresOf(Object.fromEntries(blobs))];
    },
    { hubUrl: hub.url, text: text.text, files: filesOf('bert_shards') },
  );
  assertNear(fromHub, text.scores, 1e-4, 'scores');
  assertNear(chosen, text.scores, 1e-4, 'scores');
  assert.ok(hub.requests.every(({ headers }) => headers.referer === undefined));
});
