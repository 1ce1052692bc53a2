// The circuit between two texts in Writing and Translation; the package in Node finds the same.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Generator, Translator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessible,
  assertFits,
  read,
  root,
  settled,
} from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const onPage = testsOnPage();
const cases = {
  writing: {
    Class: Generator,
    model: 'writer',
    pair: {
      text: 'The hero of the film is a young man, and',
      pair: 'The hero of the film is a young woman, and',
    },
    words: /“he” leads “she”/,
  },
  translation: {
    Class: Translator,
    model: 'en-de',
    pair: { text: 'The dog sleeps.', pair: 'The cat sleeps.' },
    words: /“Der” leads “Die”/,
  },
};
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) < 0.02, `${what}: ${got}, not ${expected}`);
const number = (text) => Number(text.replace('−', '-'));

for (const [view, { Class, model, pair, words }] of Object.entries(cases))
  onPage(`${view} finds a circuit and cuts an edge`, { hash: `#view=${view}` }, async (page) => {
    await read(page, pair.text);
    await page.getByTestId('circuit').click();
    const told = page.getByTestId('circuit-told');
    await told.waitFor();
    assert.equal(await page.getByTestId('corrupt').inputValue(), pair.pair);
    assert.match(await told.textContent(), words);

    const explaining = await Class.load(join(root, 'weights', model), { compute: 'f32' });
    const circuit = await explaining.explain(pair, { method: 'circuit' });
    assert.equal(Number(await told.getAttribute('data-edges')), circuit.edges.length);
    const [ahead, behind] = (await told.textContent()).match(/[+−]\d+\.\d+/g).map(number);
    near(ahead, circuit.value, 'value');
    near(behind, circuit.corrupt, 'corrupt');
    const curve = await page
      .getByTestId('circuit-curve')
      .locator('circle')
      .evaluateAll((list) => list.map(({ dataset }) => Number(dataset.value)));
    assert.equal(curve.length, 7);
    for (const [i, { faithfulness }] of circuit.curve.entries())
      near(curve[i], faithfulness, `curve ${i}`);
    near(
      circuit.faithfulness,
      circuit.curve.find((p) => p.faithfulness >= 0.8).faithfulness,
      'least',
    );

    const edges = page.getByTestId('circuit-edges').getByRole('button');
    const shown = Math.min(30, circuit.edges.length);
    assert.equal(await edges.count(), shown);
    assert.equal(await page.locator('[data-testid=circuit-graph] [data-edge]').count(), shown);
    for (const [i, score] of (await edges.locator('b').allTextContents()).entries())
      near(number(score), circuit.edges[i].score, `edge ${i}`);

    const [{ from, to }] = circuit.edges;
    const cutEdges = [`${from}>${to}`];
    const { kept } = await explaining.explain(pair, { method: 'circuit', cutEdges });
    explaining.dispose();
    assert.ok(Math.abs(kept - circuit.value) > 0.5);
    await edges.first().click();
    const cut = page.locator('[data-testid=circuit-cut][data-value]');
    await cut.waitFor();
    near(Number(await cut.getAttribute('data-value')), kept, 'without the edge');
    assert.equal(await edges.first().getAttribute('aria-pressed'), 'true');
    await assertAccessible(page);
    await assertFits(page);
    await edges.first().click();
    await page.getByText('Press an edge to cut it.').waitFor();
  });

onPage(
  'texts of different lengths are refused by name',
  { hash: '#view=writing' },
  async (page) => {
    await page.getByTestId('input').fill('This film is');
    await settled(page);
    await page.getByTestId('circuit').click();
    await page.getByText('Change a word of the second text').waitFor();
    await page.getByTestId('corrupt').fill('This film is not');
    await page.getByText(/expected a corrupt text of as many tokens/).waitFor();
  },
);

onPage('parts have names and places', {}, async () => {
  const { drawn, ledTo, named, partOf } = await source('panels/circuit/circuit');
  assert.equal(
    ledTo('decoder.layers.1.self_attn.head.2.k', false),
    'head 2.3, by what it is found',
  );
  assert.equal(named(partOf('encoder.layers.3.fc2'), true), 'encoder feed-forward 4');
  assert.equal(named(partOf('logits'), true), 'answer');
  const edges = [
    { from: 'decoder.embed_tokens', to: 'decoder.layers.0.fc1', score: -2 },
    { from: 'decoder.layers.0.fc2', to: 'logits', score: 1 },
  ];
  const nodes = [
    'decoder.embed_tokens',
    'decoder.layers.0.self_attn.head.0',
    'decoder.layers.0.fc2',
  ];
  const picture = drawn({ nodes, edges }, 30);
  assert.deepEqual(
    picture.parts.map(({ label }) => label),
    ['words', 'F1', 'answer'],
  );
  const heights = picture.parts.map(({ y }) => y);
  assert.ok(heights[0] > heights[1] && heights[1] > heights[2]);
  assert.ok(picture.edges[0].width > picture.edges[1].width);
  assert.equal(drawn({ nodes, edges }, 1).edges.length, 1);
});
