// The first verdict of a web page on a slow line, in Chromium: glassformer and onnxruntime-web, each
// with the model `sentiment` in 8-bit integers, from the navigation to the answer. Nothing is
// cached, and files are compressed, as by a static host. onnxruntime-web gets the ids of the tokens,
// so it needs no tokenizer.
import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from '../../page/open.mjs';
import { servePage, slowLine } from '../page_server.mjs';

const bits = 1.6e6; // bits per second
const delay = 150; // milliseconds there and back

const text = 'A gripping, beautifully shot film.';
const scripts = {
  glassformer: `
    import { Classifier } from '/glassformer/index.js';
    const classifier = await Classifier.load('/model');
    window.answer = (await classifier.classify('${text}')).label;`,
  'onnxruntime-web': `
    import * as ort from '/onnxruntime/ort.wasm.min.mjs';
    ort.env.wasm.numThreads = 1;
    const session = await ort.InferenceSession.create('/graph/classifier.onnx');
    const ids = new ort.Tensor('int64', BigInt64Array.from({ length: 9 }, () => 9n), [1, 9]);
    window.answer = (await session.run({ ids })).scores.data[1];`,
};

/**
 * Returns { engine: { milliseconds, bytes: { engine, model } } }. `graph`: the folder of the ONNX
 * file, whose table of embeddings has floats.
 */
export async function measureSlowLine(folder, graph) {
  const browser = await launch();
  const results = {};
  try {
    for (const [engine, script] of Object.entries(scripts)) {
      const page = join(folder, 'page', engine);
      mkdirSync(page, { recursive: true });
      writeFileSync(
        join(page, 'index.html'),
        '<!doctype html><script type="module" src="/page.js"></script>',
      );
      writeFileSync(join(page, 'page.js'), `${script}\nwindow.answered = performance.now();\n`);
      const folders = {
        '': page,
        glassformer: 'dist',
        model: 'weights/sentiment',
        onnxruntime: 'node_modules/onnxruntime-web/dist',
        graph,
      };
      const bytes = { engine: 0, model: 0 };
      const server = await servePage({
        folders,
        line: slowLine(bits, delay),
        onfile: (name, size) =>
          (bytes[/^\/(model|graph)\//.test(name) ? 'model' : 'engine'] += size),
      });
      const context = await browser.newContext({ serviceWorkers: 'block' });
      const tab = await context.newPage();
      await tab.goto(`http://127.0.0.1:${server.address().port}/`, { waitUntil: 'commit' });
      await tab.waitForFunction(() => window.answered, undefined, { timeout: 180_000 });
      results[engine] = { milliseconds: await tab.evaluate(() => window.answered), bytes };
      await context.close();
      server.close();
      server.closeAllConnections();
    }
  } finally {
    await browser.close();
  }
  return results;
}
