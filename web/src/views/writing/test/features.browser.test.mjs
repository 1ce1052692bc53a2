// The graph of features in Writing; the package in Node finds the same.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Generator } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessible, assertFits, read, root } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const onPage = testsOnPage();
const text = 'This film is one of the best films I have ever';
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) < 0.02, `${what}: ${got}, not ${expected}`);

onPage(
  'a writer shows the features that lead to a token',
  { hash: '#view=writing' },
  async (page) => {
    await read(page, text);
    await page.getByTestId('features').click();
    const told = page.getByTestId('features-told');
    await told.waitFor();
    const writer = await Generator.load(join(root, 'weights/writer'), { compute: 'f32' });
    await writer.loadDictionaries(join(root, 'weights/writer/features'));
    const graph = await writer.explain(text, { method: 'attribution_graph' });
    assert.equal(Number(await told.getAttribute('data-nodes')), graph.nodes.length);
    const said = await told.textContent();
    assert.match(
      said,
      new RegExp(`“${graph.token.text.trim()}” leads “${graph.against.text.trim()}”`),
    );
    near(
      Number(/[+−]\d+\.\d+/.exec(said)[0].replace('−', '-')),
      graph.nodes.at(-1).activation,
      'lead',
    );
    near(Number(/(\d+)%/.exec(said)[1]) / 100, graph.replacement, 'replacement');

    const shown = page.locator('[data-testid=feature-graph] [data-node]');
    assert.ok((await shown.count()) <= 30);
    const more = page.getByTestId('features-more');
    const few = await shown.count();
    await more.check();
    await page.waitForFunction(
      (before) =>
        document.querySelectorAll('[data-testid=feature-graph] [data-node]').length > before,
      few,
    );
    await more.uncheck();

    // The feature with the most influence: its texts, and the next token without it.
    const strongest = graph.nodes
      .filter(({ kind }) => kind === 'feature')
      .toSorted((a, b) => b.influence - a.influence)[0];
    await page.getByTestId('features-list').getByRole('button').first().click();
    const card = page.getByTestId('feature-card');
    assert.equal(Number(await card.getAttribute('data-feature')), strongest.feature);
    const texts = card.getByTestId('feature-texts').locator('li');
    await texts.first().waitFor();
    assert.ok((await texts.count()) <= 8);
    assert.equal(await texts.locator('mark').count(), await texts.count());

    const { name, row, feature, activation } = strongest;
    const add = await writer.weights.row(`${name}.decoder.weight`, feature);
    const patch = [{ name, tokens: [row], add, scale: -activation }];
    const [likeliest] = (await writer.next(text, { patch, count: 1 })).next;
    writer.dispose();
    await page.getByTestId('feature-off').check();
    const changed = page.getByTestId('feature-changed');
    await changed.getByText('Changed:').waitFor();
    const [, word, percent] = /Changed: “(.+?)” ([\d.]+) ?%/.exec(await changed.textContent());
    assert.equal(word, likeliest.text.trim());
    near(Number(percent) / 100, Math.exp(likeliest.logprob), 'without the feature');
    await assertAccessible(page);
    await assertFits(page);
  },
);

onPage(
  'a page without the measurements shows the graph alone',
  { hash: '#view=writing' },
  async (page) => {
    await page.route(/features-\d\.json|report\.json|texts\.json/, (route) =>
      route.fulfill({ contentType: 'application/json', body: 'null' }),
    );
    await read(page, text);
    await page.getByTestId('features').click();
    await page.getByTestId('features-told').waitFor();
    await page.getByTestId('features-list').getByRole('button').first().click();
    await page.getByTestId('feature-card').waitFor();
  },
);

onPage('nodes have places and short names', {}, async () => {
  const { drawn, shortName } = await source('panels/features/features');
  const feature = (layer, row, influence) => ({
    kind: 'feature',
    name: `decoder.layers.${layer}.fc2`,
    row,
    feature: 3,
    influence,
  });
  const nodes = [
    { kind: 'embedding', name: 'decoder.layers.0.input', row: 0, influence: 0.5 },
    feature(0, 0, 0.4),
    feature(1, 1, 0.3),
    feature(1, 1, 0.01),
    { kind: 'answer', name: 'logits', row: 1, influence: 1 },
  ];
  const edges = [
    { from: 0, to: 1, weight: 1, influence: 0.4 },
    { from: 1, to: 4, weight: -1, influence: 0.3 },
    { from: 3, to: 4, weight: 1, influence: 0.01 },
  ];
  const picture = drawn({ nodes, edges }, 2);
  assert.deepEqual(picture.nodes.map(({ index }) => index).sort(), [0, 1, 2, 4]);
  const at = (index) => picture.nodes.find((each) => each.index === index);
  assert.ok(at(0).y > at(1).y && at(1).y > at(2).y && at(2).y > at(4).y);
  assert.ok(at(1).x < at(2).x);
  assert.equal(picture.edges.length, 2);
  const facts = (share) => ({ density: 0, token: ' film', share, promotes: [' seen'] });
  assert.equal(shortName(facts(0.7), true), 'film');
  assert.equal(shortName(facts(0.2), true), '→ seen');
  assert.equal(shortName(facts(0.2), false), 'film, …');
  assert.equal(shortName(undefined, true), '');
});
