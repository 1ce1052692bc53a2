// A model of Hugging Face by its name. Its server is played by the fixtures: nothing of the page knows.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import { assertAccessible, assertFitsAt, root, settled } from '../../../../../tests/page/open.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { licenseIn, nameIn } = await source('views/model/hub');

const folder = join(root, 'tests/fixtures/checkpoints/bert_sequence');
const name = 'glassformer/bert-tiny';
const card = '---\nlanguage: en\nlicense: apache-2.0\n---\n# A tiny model\n';
const cors = { 'access-control-allow-origin': '*' };

/** Answers for huggingface.co. Returns the files that were asked for. */
async function playHub(context) {
  const asked = [];
  await context.route(/^https:\/\/huggingface\.co\//, async (route) => {
    const { pathname } = new URL(route.request().url());
    const file = pathname.split('/').at(-1);
    asked.push(file);
    const path = join(folder, file);
    const known = pathname.startsWith(`/${name}/resolve/main/`);
    if (!known) return route.fulfill({ status: 401, headers: cors, body: 'no such model' });
    if (file === 'README.md') return route.fulfill({ headers: cors, body: card });
    if (!existsSync(path)) return route.fulfill({ status: 404, headers: cors, body: 'none' });
    await route.fulfill({ headers: cors, body: readFileSync(path) });
  });
  return asked;
}

/** Removes the requests to the hub from what must not happen. */
const allowHub = (complaints) => {
  const others = complaints.filter((each) => !/^request https:\/\/huggingface\.co\//.test(each)); // prettier-ignore
  complaints.splice(0, complaints.length, ...others);
};

const onPage = testsOnPage('#view=model');

onPage(
  'a model is looked up, then fetched, and opens again without a network',
  {},
  async (page, { context, complaints }) => {
    const asked = await playHub(context);
    await page.getByTestId('hub-name').fill(`https://huggingface.co/${name}`);
    assert.deepEqual(asked, []);
    await assertAccessible(page, 'before');
    await page.getByRole('button', { name: 'Look it up' }).click();
    assert.equal(await page.getByTestId('hub-license').textContent(), 'apache-2.0');
    assert.match(await page.getByTestId('hub-from').textContent(), new RegExp(`${name}$`));
    assert.match(await page.getByTestId('hub-size').textContent(), /^[\d.]+ (kB|MB)$/);
    assert.equal(await page.getByTestId('answer').count(), 0);
    await assertFitsAt(page, [320, 1280]);
    await assertAccessible(page, 'found');
    await page.getByTestId('load').click();
    await page.getByTestId('answer').waitFor();
    await settled(page);
    assert.ok(asked.includes('model.safetensors'), asked.join());
    const text = 'A text of my own.';
    await page.getByTestId('input').fill(text);
    await settled(page);
    const model = await load(folder);
    const { label } = await model.classify(text);
    model.dispose();
    assert.match(await page.getByTestId('answer').textContent(), new RegExp(label));
    await page.getByText('The same in JavaScript').click();
    await page.getByText(`load('hf:${name}', { cache: true })`).waitFor();
    // The link names the model. Nothing is asked for before the press.
    await page.waitForURL(/hub=glassformer(\/|%2F)bert-tiny/);
    await context.unroute(/^https:\/\/huggingface\.co\//);
    await context.route(/^https:\/\/huggingface\.co\//, (route) => route.abort());
    await page.reload();
    assert.equal(await page.getByTestId('hub-name').inputValue(), name);
    await page.getByRole('button', { name: 'Look it up' }).click();
    await page
      .getByTestId('hub-license')
      .filter({ hasText: 'unknown without a network' })
      .waitFor();
    await page.getByTestId('load').click();
    await page.getByTestId('answer').waitFor();
    await settled(page);
    const refused = complaints.filter((each) => !/ERR_FAILED/.test(each));
    complaints.splice(0, complaints.length, ...refused);
    allowHub(complaints);
  },
);

onPage('a name without a model is said to have none', {}, async (page, { context, complaints }) => {
  await playHub(context);
  const press = page.getByRole('button', { name: 'Look it up' });
  await page.getByTestId('hub-name').fill('no name');
  assert.equal(await press.isDisabled(), true);
  await page.getByTestId('hub-name').fill('nobody/nothing');
  await press.click();
  await page.getByText('nobody/nothing cannot be opened.').waitFor();
  // Chromium logs the status 401.
  complaints.splice(0, complaints.length, ...complaints.filter((each) => !/401/.test(each)));
  allowHub(complaints);
});

test('names and licenses are read as a hub writes them', () => {
  assert.equal(nameIn(' google-bert/bert-base-uncased '), 'google-bert/bert-base-uncased');
  assert.equal(nameIn('https://huggingface.co/a/b.c_d-1/'), 'a/b.c_d-1');
  assert.equal(nameIn('hf:a/b'), 'a/b');
  for (const other of ['', 'a', 'a/b/c', 'https://example.org/a/b', 'a b/c', '../x', 'x/..'])
    assert.equal(nameIn(other), undefined, other);
  assert.equal(licenseIn(card), 'apache-2.0');
  assert.equal(licenseIn('---\r\nlicense: "mit"\r\n---\r\n'), 'mit');
  assert.equal(licenseIn('---\nlicense:\n- mit\n---'), undefined);
  assert.equal(licenseIn('license: mit'), undefined);
});
