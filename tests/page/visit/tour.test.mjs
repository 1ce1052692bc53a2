// Checks the claim of every stop of the tour against the model.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Classifier, Generator, Translator } from '../../../dist/index.js';
import { root } from '../../../tools/build.mjs';
import { source } from '../source.mjs';

const { fromTransplantLink, tourIn, linkIn } = await source('views/transplant/link', 'app/address');
const { stops } = await source('app/tour');

const folder = (name) => join(root, 'weights', name);
const odds = ({ scores }) => scores[1].logit - scores[0].logit;
const head = (layer, head) => ({ attention: 'encoder', layer: layer - 1, head: head - 1 });

async function withModel(kind, name, options, body) {
  const model = await kind.load(folder(name), { compute: 'f32', ...options });
  try {
    await body(model);
  } finally {
    model.dispose();
  }
}

const checks = new Map([
  [
    'Without “not”, the model calls this review positive.',
    ({ text }) =>
      withModel(Classifier, 'sentiment', {}, async (model) => {
        const whole = await model.classify(text);
        assert.equal(whole.label, 'negative');
        const { start, end } = whole.tokens[3];
        assert.equal(text.slice(start, end), 'not');
        assert.equal((await model.classify(text, { maskTokens: [3] })).label, 'positive');
      }),
  ],
  [
    'In any text, layer 1, head 1 mostly attends to the previous token: it was set so before training. Without this head, “positive” changes by less than one percentage point.',
    ({ text }) =>
      withModel(Classifier, 'sentiment', {}, async (model) => {
        for (const each of [text, 'The plot is not good.', 'A great cast, but a dull film.']) {
          const { attention } = await model.classify(each, { attention: true });
          const { queries } = attention.encoder;
          const map = attention.encoder.at(0, 0);
          let before = 0;
          for (let i = 1; i < queries; i++) {
            const row = map.subarray(i * queries, (i + 1) * queries);
            if (row.indexOf(Math.max(...row)) === i - 1) before++;
          }
          assert.ok(before >= 0.6 * (queries - 1), `${each}: ${before} of ${queries - 1}`);
        }
        const { scores } = await model.classify(text);
        const without = await model.classify(text, { ablate: [head(1, 1)] });
        assert.ok(Math.abs(without.scores[1].score - scores[1].score) < 0.01);
      }),
  ],
  [
    'Of all 32 heads, layer 4, head 3 has the largest effect here. It works against the verdict: without it, “positive” becomes more likely.',
    ({ text }) =>
      withModel(Classifier, 'sentiment', {}, async (model) => {
        const { layers, heads } = model.info;
        assert.equal(layers * heads, 32);
        const whole = odds(await model.classify(text));
        const effects = [];
        for (let layer = 1; layer <= layers; layer++)
          for (let each = 1; each <= heads; each++) {
            const without = await model.classify(text, { ablate: [head(layer, each)] });
            effects.push({ name: `${layer}.${each}`, lost: whole - odds(without) });
          }
        effects.sort((a, b) => Math.abs(b.lost) - Math.abs(a.lost));
        assert.equal(effects[0].name, '4.3');
        assert.ok(effects[0].lost < 0);
      }),
  ],
  [
    'Before layer 1, the vector of “not” holds the whole difference. After layer 2, patching it no longer flips the verdict: other tokens have read it.',
    (link) =>
      withModel(Classifier, 'sentiment', { compute: 'f32', explain: true }, async (model) => {
        const { base, donor } = fromTransplantLink(link);
        const pair = { text: base, pair: donor };
        const table = await model.explain(pair, {
          method: 'activation_patching',
          label: 'positive',
        });
        const cells = table.delta.shape[1];
        const not = table.cells.findIndex(({ tokens }) => {
          const { start, end } = table.tokens[tokens[0]];
          return base.slice(start, end) === 'not';
        });
        const delta = (row) => table.delta.data[row * cells + not];
        assert.ok(Math.abs(table.base + delta(0) - table.donor) < 1e-2);
        assert.ok(table.base < 0 && table.base + delta(0) > 0);
        assert.ok(table.base + delta(2) < 0, `${table.base} ${delta(2)}`);
      }),
  ],
  [
    'In layer 2, head 6, “good” gives more than 90% of its attention to “not”.',
    ({ text, token, head: at }) =>
      withModel(Classifier, 'sentiment', { compute: 'f32' }, async (model) => {
        assert.equal(at, '1.5');
        const { attention, tokens } = await model.classify(text, { attention: true });
        const query = Number(token.split('.')[1]);
        assert.equal(tokens[query].text.trim(), 'good');
        const not = tokens.findIndex((each) => each.text.trim() === 'not');
        const { keys } = attention.encoder;
        assert.ok(attention.encoder.at(1, 5)[query * keys + not] > 0.9);
      }),
  ],
  [
    'With four beams, the German is right. With one beam, “seen” is lost: “Er war gestern auf der Bank.”',
    ({ text }) =>
      withModel(Translator, 'en-de', {}, async (model) => {
        const four = await model.translate(text, { beams: 4 });
        assert.equal(four.text, 'Er wurde gestern auf der Bank gesehen.');
        const one = await model.translate(text, { beams: 1 });
        assert.equal(one.text, 'Er war gestern auf der Bank.');
      }),
  ],
  [
    'Forced to begin with “Gestern”, the model puts the verb second, as German requires: “Gestern wurde er”.',
    ({ text }) =>
      withModel(Translator, 'en-de', {}, async (model) => {
        const { sentences } = await model.translate(text, { beams: 4, hypotheses: true });
        const { tree } = sentences[0];
        const first = tree.find((node) => node.parent === 0 && node.text.trim() === 'Gestern');
        const forced = await model.translate(text, { beams: 4, prefixes: [[first.id]] });
        assert.match(forced.text, /^Gestern wurde er /);
      }),
  ],
  [
    'At temperature 0, this model repeats “the music” until it reaches its length limit.',
    ({ text, temperature }) =>
      withModel(Generator, 'writer', {}, async (model) => {
        assert.equal(temperature, '0');
        const { promptTokens } = await model.next(text, { count: 1 });
        const maxNewTokens = model.info.maxSourceLength - promptTokens.length;
        const written = await model.generate(text, { sample: false, maxNewTokens });
        assert.match(written.text, /^ music(, the music)+(, the|,)?$/);
      }),
  ],
]);

test('the tour has eight stops, over five views, whose claims hold', async () => {
  assert.equal(stops.length, 8);
  assert.equal(new Set(stops.map(({ view }) => view)).size, 5);
  assert.deepEqual(
    stops.map(({ claim }) => claim),
    [...checks.keys()],
  );
  for (const { claim, link } of stops) await checks.get(claim)(link);
});

test('an address can name a stop, which does not belong to a view’s link', () => {
  assert.equal(tourIn('#tour=3'), 3);
  assert.equal(tourIn('#text=a&tour=8'), 8);
  for (const other of ['', '#tour=', '#tour=x', '#tour=12', '#view=tour'])
    assert.equal(tourIn(other), undefined, other);
  assert.deepEqual(linkIn('#view=writing&text=a&tour=2'), { text: 'a' });
});
