// ImageClassifier with files, which Chromium decodes, compared with the library transformers; see
// tests/fixtures/pictures.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chromium } from 'playwright-core';
import { executablePath, flags } from '../../page/chromium.mjs';
import { root, serve } from '../support/helpers.mjs';
import { assertScores, expectedOf, names } from './expected.mjs';

test('files give the library’s scores', async () => {
  const browser = await chromium.launch({ executablePath, args: flags });
  const server = await serve(root, {
    '/page/': (response) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>t</title>'),
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}/page/`);
    for (const name of names) {
      const { labels, pictures } = expectedOf(name);
      const results = await page.evaluate(
        async ({ name, pictures }) => {
          const { ImageClassifier } = await import('/dist/index.js');
          const classifier = await ImageClassifier.load(
            `/tests/fixtures/pictures/checkpoints/${name}`,
          );
          const results = [];
          for (const { file, size } of pictures) {
            const url = `/tests/fixtures/pictures/files/${file}`;
            const options = size ? { size, interpolate: true } : {};
            const { label, scores } = await classifier.classify(url, options);
            const blob = await (await fetch(url)).blob();
            const again = await classifier.classify(blob, options);
            const bitmap = await createImageBitmap(blob, { colorSpaceConversion: 'none' });
            const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
            canvas.getContext('2d').drawImage(bitmap, 0, 0);
            const drawn = await classifier.classify(canvas, options);
            results.push({ label, scores, same: again.scores, drawn: drawn.label });
          }
          classifier.dispose();
          return results;
        },
        { name, pictures },
      );
      for (const [i, result] of results.entries()) {
        const what = `${name}, ${pictures[i].file}`;
        // Another decoder may round a JPEG or a lossy WebP differently.
        const exact = pictures[i].file.endsWith('.png');
        assertScores(result, pictures[i], labels, exact ? 1e-4 : 0.02, what);
        assert.deepEqual(result.same, result.scores, what);
        assert.ok(labels.includes(result.drawn));
      }
    }
    const errors = await page.evaluate(async () => {
      const { ImageClassifier } = await import('/dist/index.js');
      const classifier = await ImageClassifier.load('/tests/fixtures/pictures/checkpoints/vit');
      const image = new Image();
      const given = [new Blob(['no picture']), new Blob([]), image, '/tests/nothing.png'];
      const codes = [];
      for (const each of given) {
        await classifier.classify(each).catch(({ code, message }) => codes.push([code, message]));
      }
      classifier.dispose();
      return codes;
    });
    assert.deepEqual(
      errors.map(([code]) => code),
      ['invalid_picture', 'invalid_picture', 'invalid_option', 'http_error'],
      JSON.stringify(errors),
    );
  } finally {
    await browser.close();
    server.close?.();
  }
});
