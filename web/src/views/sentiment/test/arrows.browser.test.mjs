// Cut edges and circuits in the sentiment view have the effects that the package computes.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Classifier } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  read,
  root,
  settled,
  until,
  workersLeft,
} from '../../../../../tests/page/open.mjs';

const onPage = testsOnPage();
// Node may run the other binary, which rounds sums differently.
const tolerance = 2e-3;
const sentence = 'The plot is not good at all.';

let classifier;
before(async () => {
  const options = { compute: 'f32', explain: true };
  classifier = await Classifier.load(join(root, 'weights/sentiment'), options);
});
after(() => classifier?.dispose());

const value = (locator) => locator.getAttribute('data-value').then(Number);
const near = (got, expected, what) =>
  assert.ok(Math.abs(got - expected) <= tolerance, `${what}: ${got}, not ${expected}`);
const cell = (page, query, key) =>
  page.getByTestId('heatmap').locator(`.cell[data-query="${query}"][data-key="${key}"]`);
const head = (page, layer, index) =>
  page.locator(`[data-testid=head][data-layer="${layer}"][data-head="${index}"]`);

/** Pins an attention weight of a head and cuts its edge. */
async function cut(page, { layer, head: index, query, key }) {
  await head(page, layer, index).click();
  // The heat map moves if the text above it takes another line.
  await page.getByRole('heading', { name: `Layer ${layer + 1}, head ${index + 1}` }).waitFor();
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );
  await cell(page, query, key).evaluate((each) => each.scrollIntoView({ block: 'center' }));
  const box = await cell(page, query, key).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.getByRole('button', { name: 'Cut this edge' }).click();
}

/** Returns patches that keep only some edges. */
function alone(tokens, arrows) {
  const patch = [];
  for (let layer = 0; layer < 4; layer++)
    for (let index = 0; index < 8; index++)
      for (const query of tokens.keys())
        for (const key of tokens.keys()) {
          const there = arrows.some(
            (each) =>
              each.layer === layer &&
              each.head === index &&
              each.query === query &&
              each.key === key,
          );
          const name = `encoder.layers.${layer}.self_attn.weights`;
          if (!there) patch.push({ name, heads: [index], tokens: [query], keys: [key], value: 0 });
        }
  return patch;
}

/** Waits until the page shows the package's numbers for these edges. */
async function assertCut(page, text, edges) {
  const options = { method: 'edges', edges, cut: 'weights' };
  const { label, without, alone } = await classifier.explain(text, options);
  const side = label === 'positive' ? 1 : -1;
  await page
    .getByTestId('alone')
    .nth(edges.length - 1)
    .waitFor();
  // The number before stays until this one is measured.
  const told = page.getByTestId('without').locator('b');
  await until(
    page,
    () => value(told),
    (shown) => Math.abs(shown - side * without) <= tolerance,
  );
  const { value: whole } = await classifier.explain(text, options);
  near(await value(page.getByTestId('cut-delta')), side * (without - whole), 'Δ');
  // Each number is an effect on “positive”; the package returns that on its own label.
  for (const [i, each] of alone.entries())
    near(await value(page.getByTestId('alone').nth(i)), side * each, `alone ${i}`);
}

onPage('cutting edges changes the verdict as the package computes', {}, async (page) => {
  await read(page, sentence);
  const arrows = [
    { layer: 1, head: 5, query: 4, key: 3 },
    { layer: 0, head: 1, query: 3, key: 4 },
  ];
  await cut(page, arrows[0]);
  await assertCut(page, sentence, arrows.slice(0, 1));
  await cut(page, arrows[1]);
  await assertCut(page, sentence, arrows);
  await page.getByRole('button', { name: 'Put it back' }).click();
  await page.getByTestId('cut').getByRole('listitem').nth(1).waitFor({ state: 'detached' });
  await assertCut(page, sentence, arrows.slice(0, 1));
  await workersLeft(page, 1); // The model that cuts edges is the view's.
  // An edge stays cut after an edit behind both of its ends.
  await page.getByTestId('input').fill(`${sentence} Really.`);
  await settled(page);
  await page.getByTestId('alone').waitFor();
  await assertCut(page, `${sentence} Really.`, arrows.slice(0, 1));
  await page.getByRole('button', { name: /^Put back/ }).click();
  assert.equal(await page.getByTestId('cut').count(), 0);
});

onPage('the smallest circuit matches the package and is marked on the heads', {}, async (page) => {
  await read(page, sentence);
  await page.getByRole('button', { name: 'Find the smallest circuit' }).click();
  const told = page.getByTestId('circuit-told');
  await told.waitFor();
  const circuit = await classifier.explain(sentence, { method: 'circuit' });
  assert.ok(circuit.heads.length > 0 && circuit.heads.length < 32);
  near(await value(told), circuit.faithfulness, 'faithfulness');
  assert.equal(circuit.label, 'negative');
  near(await value(page.getByTestId('circuit-delta')), circuit.value - circuit.kept, 'Δ');
  assert.match(await told.textContent(), /keep\s+“negative”.*log-odds of “positive”/s);
  assert.match(
    (await told.textContent()).trim(),
    new RegExp(
      `^${circuit.heads.length} of 32 heads and\\s+${circuit.edges.length} of 2,048 edges`,
    ),
  );
  const kept = new Set(circuit.heads.map(({ layer, head }) => `${layer}.${head}`));
  for (const each of await page.getByTestId('head').all()) {
    const [layer, index] = await Promise.all(
      ['data-layer', 'data-head'].map((name) => each.getAttribute(name)),
    );
    const label = await each.getAttribute('aria-label');
    const inside = kept.has(`${layer}.${index}`);
    assert.match(label, inside ? /, in the circuit(;|$)/ : /, not in the circuit(;|$)/);
    assert.equal(await each.locator('xpath=..').evaluate((e) => e.matches('.pale')), !inside);
  }
  const [first] = circuit.heads;
  await page.getByTestId('circuit-head').first().click();
  const own = circuit.edges.filter(
    ({ layer, head }) => layer === first.layer && head === first.head,
  );
  assert.equal(await page.getByTestId('circuit-arrow').count(), own.length);
  // Pressing an edge selects it, so that it can be cut at once.
  await page.getByTestId('circuit-arrow').first().click();
  await page.getByRole('button', { name: 'Cut this edge' }).click();
  await assertCut(page, sentence, own.slice(0, 1));
  // The circuit without this edge has the value that the package computes for the remaining edges.
  const left = page.getByTestId('circuit-cut');
  await left.locator('b').waitFor();
  assert.match(await left.textContent(), /^\s*1 of its edges\s+is cut above/);
  const logOdds = async (arrows) => {
    const { scores } = await classifier.classify(sentence, {
      patch: alone(circuit.tokens, arrows),
    });
    return scores[1].logit - scores[0].logit;
  };
  near(await logOdds(circuit.edges), -circuit.kept, 'the circuit by patches');
  const without = circuit.edges.filter((edge) => edge !== own[0]);
  near(await value(left.locator('b')), await logOdds(without), 'the circuit without the edge');
  assert.match(await page.getByTestId('circuit-arrow').first().textContent(), /, cut$/);
  await page.getByRole('button', { name: /^Put back/ }).click();
  await left.waitFor({ state: 'detached' });

  await page.getByTestId('input').fill('It is not bad.');
  await settled(page);
  await told.waitFor();
  const other = await classifier.explain('It is not bad.', { method: 'circuit' });
  near(await value(told), other.faithfulness, 'faithfulness of another text');
  await page.getByRole('button', { name: 'Find the smallest circuit' }).click();
  assert.equal(await page.locator('.pale').count(), 0);
});

onPage('axe finds no violations', {}, async (page) => {
  await read(page, sentence);
  await page.getByRole('button', { name: 'Find the smallest circuit' }).click();
  await page.getByTestId('circuit-head').first().click();
  await page.getByRole('button', { name: 'Cut this edge' }).click();
  await page.getByTestId('alone').waitFor();
  await assertAccessibleToAll(page);
});

onPage('the panel fits a phone', { viewport: { width: 320, height: 800 } }, async (page) => {
  await page.getByRole('button', { name: 'Find the smallest circuit' }).click();
  await page.getByTestId('circuit-told').waitFor();
  await page.getByRole('button', { name: 'Cut this edge' }).click();
  await page.getByTestId('alone').waitFor();
  await assertFits(page);
});
