// Models of common sizes, in both arithmetics, in one file and in shards. The
// memory of each is printed, and compared with the limits of the documentation.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import * as glassformer from '../../dist/index.js';
import { assertFreed, collectGarbage, memoriesOf, serve } from '../package/support/helpers.mjs';
import { parametersOf, shapes, textOf, writeCheckpoint } from './checkpoint.mjs';

const room = 64e6; // bytes in addition to the packed weights
const texts = [8, 120, 300].map(textOf);
const written = [1, 2, 3, 4, 5, 6]; // the forced first tokens of a translation

/** Reads all texts with a model of each class, and returns logits of some. */
const logitsBy = {
  Classifier: async (model) =>
    (await model.classifyBatch(texts)).flatMap(({ scores }) => scores.map(({ logit }) => logit)),
  async ImageClassifier(model) {
    const side = 224;
    const data = Uint8ClampedArray.from({ length: 4 * side * side }, (_, i) => (i * 31) % 251);
    const { scores } = await model.classify({ width: side, height: side, data });
    return scores.map(({ logit }) => logit);
  },
  async Generator(model) {
    const greedily = { sample: false, beams: 1 };
    await model.generate(texts.at(-1), { maxNewTokens: 8, ...greedily });
    const { trace } = await model.generate(texts[0], {
      maxNewTokens: 1,
      trace: ['logits'],
      ...greedily,
    });
    const { shape, data } = trace.logits;
    return [...data.subarray(-shape.at(-1))];
  },
  async Translator(model) {
    const all = [];
    for (const text of texts) {
      const options = { beams: 1, prefixes: [written], maxLength: 6, trace: ['logits'] };
      const { sentences } = await model.translate(text, options);
      const { shape, data } = sentences[0].trace.logits;
      // The end and padding are never written, so their logits are left out.
      all.push(...data.subarray(1 - shape.at(-1), -1));
    }
    return all;
  },
};
/** The largest error as a share of the deviation of f32's logits; see web/docs/published.md. */
const integerErrors = { 'GPT-2-small': 0.2 }; // the worst of 50,257
const integerError = (name) => integerErrors[name] ?? 0.15;

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-full-'));
after(() => rmSync(scratch, { recursive: true }));

/** Returns the size of the weights. `compute: 'int8'` packs matrices as bytes. */
function packedBytes(shape, compute) {
  if (compute === 'f32') return 4 * parametersOf(shape);
  return shape.tensors.reduce((sum, [, size]) => {
    const count = size.reduce((product, part) => product * part, 1);
    return sum + (size.length === 2 ? count + 4 * size[0] : 4 * count);
  }, 0);
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

async function open(name, source, options) {
  const start = performance.now();
  let model;
  const memories = await memoriesOf(async () => {
    model = await glassformer[name].load(source, { worker: false, ...options });
  });
  const seconds = (performance.now() - start) / 1000;
  return { model, memories, seconds, size: () => memories[0].deref().buffer.byteLength };
}

for (const [name, shape] of Object.entries(shapes)) {
  const logitsOf = {};
  for (const shards of [1, 3]) {
    const folder = join(scratch, `${name}-${shards}`);

    for (const compute of ['f32', 'int8']) {
      test(`${name}, ${shards} file(s), ${compute}: progress, memory, answers`, async (context) => {
        if (compute === 'f32') writeCheckpoint(folder, shape, shards);
        const events = [];
        const onProgress = ({ overall }) => events.push({ ...overall });
        const opened = await open(shape.model, folder, { compute, onProgress });
        const { model, memories } = opened;
        assert.equal(model.info.parameters, parametersOf(shape));

        assert.ok(events.length > 10);
        events.reduce((before, event) => {
          assert.ok(event.loaded >= before.loaded, 'progress went back');
          return event;
        });
        assert.equal(events.at(-1).loaded, events.at(-1).total);
        assert.ok(events.at(-1).total > 4 * parametersOf(shape));

        const packed = packedBytes(shape, compute);
        const loaded = opened.size();
        assert.ok(loaded <= packed + room, `${megabytes(loaded)} MB for ${megabytes(packed)}`);

        const logits = await logitsBy[shape.model](model);
        const read = opened.size();
        assert.ok(read <= packed + room, `${megabytes(read)} MB for ${megabytes(packed)}`);
        if (compute === 'f32') {
          logitsOf.f32 ??= logits;
          assert.deepEqual(logits, logitsOf.f32, 'shards change an answer');
        } else {
          const mean = logitsOf.f32.reduce((sum, x) => sum + x, 0) / logits.length;
          const squares = logitsOf.f32.map((x) => (x - mean) ** 2);
          const deviation = Math.sqrt(squares.reduce((sum, x) => sum + x, 0) / logits.length);
          const worst = logits.reduce(
            (max, x, i) => Math.max(max, Math.abs(x - logitsOf.f32[i])),
            0,
          );
          assert.ok(worst > 0, 'integers have no error, so they were not used');
          assert.ok(worst <= integerError(name) * deviation, `${worst} of ${deviation}`);
          context.diagnostic(
            `worst logit error ${worst.toFixed(4)} at deviation ${deviation.toFixed(3)}`,
          );
        }
        context.diagnostic(
          `${megabytes(packed)} MB packed, ${megabytes(loaded - packed)} MB more once loaded, ` +
            `${megabytes(read - packed)} MB after 300 tokens; loaded in ${opened.seconds.toFixed(2)} s`,
        );
        model.dispose();
        await assertFreed(memories);
      });
    }

    test(`${name}, ${shards} file(s): aborted loads free their memory`, async () => {
      const { url } = await serve(folder);
      const memories = [];
      for (let i = 0; i < 4; i++) {
        const controller = new AbortController();
        const onProgress = ({ overall: { loaded, total } }) => {
          if (loaded > total / 2) controller.abort();
        };
        const options = { worker: false, signal: controller.signal, onProgress };
        memories.push(
          ...(await memoriesOf(() =>
            assert.rejects(glassformer[shape.model].load(url, options), { name: 'AbortError' }),
          )),
        );
      }
      // V8 may keep one of them until the process ends, but not more.
      const held = () => memories.filter((memory) => memory.deref()).length;
      for (let i = 0; i < 500 && held() > 1; i++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        collectGarbage();
      }
      assert.ok(held() <= 1, `${held()} of ${memories.length} memories are held`);
      if (shards === 3) rmSync(folder, { recursive: true });
    });
  }
}
