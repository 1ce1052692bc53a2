// The next token read from each layer of the writer.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Generator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertFits,
  read,
  root,
  settled,
  until,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage('#view=writing');
const tolerance = 0.01;
const text = 'This film was one of the';

let generator;
before(async () => {
  generator = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
});
after(() => generator?.dispose());

const shown = (page) =>
  page.getByTestId('next-so-far').evaluateAll((list) =>
    list.map((line) =>
      [...line.querySelectorAll('.guess')].map((guess) => ({
        text: guess.firstElementChild.textContent,
        logprob: Number(guess.dataset.value),
      })),
    ),
  );

/** Converts a float16: 1 sign bit, 5 exponent bits, 10 fraction bits. */
function fromHalf(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits >> 15 === 1 ? -size : size;
}

/** Returns a function that reads tensors of a safetensors file as floats: F16, or 4 bits in groups. */
function tensorsOf(path) {
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
  const part = (name) => {
    const [first, last] = header[name].data_offsets.map((offset) => 8 + length + offset);
    return bytes.subarray(first, last);
  };
  const halves = (data, number) =>
    Float32Array.from({ length: data.length / 2 }, (_, i) => number(data.readUInt16LE(2 * i)));
  const fromBrain = (bits) => new Float32Array(Uint32Array.of(bits << 16).buffer)[0];
  return (name) => {
    const data = part(name);
    if (header[name].dtype === 'F16') return halves(data, fromHalf);
    assert.equal(header[name].dtype, 'U8', name);
    const scales = halves(part(`${name}_scale`), fromBrain);
    return Float32Array.from({ length: 2 * data.length }, (_, i) => {
      const integer = ((data[i >> 1] >> (4 * (i % 2))) & 15) - 8;
      return integer * scales[Math.floor(i / 32)];
    });
  };
}

onPage('each layer’s tokens come from its stream, normalized and projected', {}, async (page) => {
  await read(page, text);
  await page.getByRole('button', { name: 'Read every layer' }).click();
  await page.getByTestId('next-so-far').nth(5).waitFor();
  const lines = await shown(page);
  const { next, trace } = await generator.next(text, {
    ...{ count: 3, temperature: 1, topK: 0, topP: 1, trace: ['decoder.layers.*.input'] },
  });
  next.forEach(({ text, logprob }, i) => {
    assert.equal(lines.at(-1)[i].text, text.trim());
    assert.ok(Math.abs(lines.at(-1)[i].logprob - logprob) < tolerance);
  });
  const tensor = tensorsOf(join(root, 'weights/writer/model.safetensors'));
  const [scale, shift, table] = ['layer_norm.weight', 'layer_norm.bias', 'embed_tokens.weight'].map(
    (name) => tensor(`decoder.${name}`),
  );
  const width = scale.length;
  for (const [layer, line] of lines.slice(0, -1).entries()) {
    const { data } = trace[`decoder.layers.${layer}.input`];
    const row = data.subarray(data.length - width);
    const mean = row.reduce((a, b) => a + b, 0) / width;
    const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / width;
    const state = row.map(
      (x, i) => ((x - mean) / Math.sqrt(variance + 1e-5)) * scale[i] + shift[i],
    );
    const logits = Array.from({ length: table.length / width }, (_, id) =>
      state.reduce((sum, x, i) => sum + x * table[id * width + i], 0),
    );
    const most = Math.max(...logits);
    const total = most + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - most), 0));
    const best = logits.toSorted((a, b) => b - a).slice(0, 3);
    line.forEach(({ logprob }, i) =>
      assert.ok(
        Math.abs(logprob - (best[i] - total)) < tolerance,
        `layer ${layer}: ${logprob}, not ${best[i] - total}`,
      ),
    );
  }
});

onPage('the layers follow the text and the heads', {}, async (page) => {
  await read(page, text);
  await page.getByRole('button', { name: 'Read every layer' }).click();
  await page.getByTestId('next-so-far').nth(5).waitFor();
  const before = JSON.stringify(await shown(page));
  await page.getByRole('switch', { name: 'Layer 1, all heads' }).click();
  await settled(page);
  await until(
    page,
    () => shown(page),
    (lines) => JSON.stringify(lines.slice(1)) !== JSON.stringify(JSON.parse(before).slice(1)),
  );
  await read(page, 'I did not');
  const { next } = await generator.next('I did not', {
    ...{ count: 1, temperature: 1, topK: 0, topP: 1 },
    ablate: Array.from({ length: 4 }, (_, head) => ({ attention: 'decoder', layer: 0, head })),
  });
  await until(
    page,
    () => shown(page),
    (lines) => Math.abs(lines.at(-1)[0].logprob - next[0].logprob) < tolerance,
  );
});

onPage(
  'the layers fit a phone and pass axe',
  { viewport: { width: 320, height: 800 } },
  async (page) => {
    await page.getByRole('button', { name: 'Read every layer' }).click();
    await page.getByTestId('next-so-far').nth(5).waitFor();
    await assertFits(page);
    await assertAccessible(page);
  },
);
