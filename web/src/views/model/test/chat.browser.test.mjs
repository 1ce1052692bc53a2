// A conversation in the “Your model” view, compared with that of the package in Node.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Chat, chatPrompt } from '../../../../../dist/chat.js';
import { load } from '../../../../../dist/index.js';
import { testsOnPage } from '../../../../../tests/page/on_page.mjs';
import {
  assertAccessibleToAll,
  assertFits,
  root,
  settled,
} from '../../../../../tests/page/open.mjs';

const checkpoints = join(root, 'tests/fixtures/checkpoints');
const longest = 512;

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'glassformer-chat-'));
  await cp(join(checkpoints, 'qwen2'), folder, { recursive: true });
  const [{ template }] = JSON.parse(await readFile(join(checkpoints, 'chats.json'), 'utf8'));
  await writeFile(join(folder, 'chat_template.jinja'), template);
});
after(() => rm(folder, { recursive: true }));

const onModelPage = testsOnPage('#view=model');
const onPage = (name, options, body) =>
  onModelPage(name, options, async (page) => {
    await page.getByTestId('folder').setInputFiles(folder);
    await page.getByTestId('say').waitFor();
    await body(page);
  });

async function say(page, text) {
  const count = await page.getByTestId('message').count();
  await page.getByTestId('say').fill(text);
  await page.getByTestId('say').press('Enter');
  await page
    .getByTestId('message')
    .nth(count + 1)
    .waitFor();
  await page.getByTestId('send').waitFor();
  await settled(page);
}

const messages = (page) =>
  page
    .getByTestId('message')
    .evaluateAll((list) =>
      list.map(({ dataset, textContent }) => ({ role: dataset.role, content: textContent })),
    );

onPage(
  'answers are those of the package, with the attention over all messages',
  {},
  async (page) => {
    await page.getByText('This model has conversations, and continues texts.').waitFor();
    await page.getByTestId('instructions').fill('Be kind.');
    await say(page, 'The film');
    assert.match(await page.getByTestId('facts').innerText(), / so far, 0 of them not read again/);
    await say(page, 'good');
    assert.match(await page.getByTestId('facts').innerText(), / so far, [1-9]\d* of them not read/);

    const model = await load(folder);
    const chat = new Chat(model, { system: 'Be kind.' });
    for (const text of ['The film', 'good']) await chat.send(text, { maxNewTokens: longest });
    assert.deepEqual(await messages(page), chat.messages.slice(1));
    const text = await chatPrompt(model, chat.messages, { addGenerationPrompt: false });
    const { attention } = await model.next(text, { specialTokens: false, attention: true });
    model.dispose();
    const { layers, heads, queries, keys } = attention.decoder;
    assert.equal(await page.getByTestId('head').count(), layers * heads);
    await page.getByTestId('head').last().click();
    const weights = attention.decoder.at(layers - 1, heads - 1);
    const cells = await page
      .locator('[data-testid=heatmap] [data-value]')
      .evaluateAll((list) =>
        list.map(({ dataset }) => [dataset.query, dataset.key, dataset.value].map(Number)),
      );
    assert.ok(cells.length > 0 && cells.length <= queries * keys);
    for (const [query, key, got] of cells)
      assert.ok(Math.abs(got - weights[query * keys + key]) < 2e-3, `${query}, ${key}: ${got}`);
  },
);

onPage('a stopped answer is no part of the conversation', {}, async (page) => {
  await say(page, 'The film');
  const before = await messages(page);
  await page.getByTestId('say').fill('good');
  await page.evaluate(async () => {
    const press = (name) => document.querySelector(`[data-testid=${name}]`).click();
    press('send');
    while (!document.querySelector('[data-testid=stop]')) await Promise.resolve();
    press('stop');
  });
  await page.getByTestId('send').waitFor();
  assert.deepEqual(await messages(page), before);
  assert.equal(await page.getByTestId('say').inputValue(), 'good');
  await page.getByTestId('restart').click();
  await settled(page);
  assert.deepEqual(await messages(page), []);
  assert.equal(await page.getByTestId('head').count(), 0);
});

onPage('an answer is written without the heads that are off', {}, async (page) => {
  await say(page, 'The film');
  const first = await messages(page);
  await page.getByTestId('layer-switch').first().click();
  await settled(page);
  assert.match(await page.getByTestId('change').innerText(), /next answer .* with \d+ heads off/);
  await say(page, 'good');
  const model = await load(folder);
  const chat = new Chat(model);
  await chat.send('The film', { maxNewTokens: longest });
  const ablate = Array.from({ length: model.info.heads }, (_, head) => {
    return { attention: 'decoder', layer: 0, head };
  });
  await chat.send('good', { maxNewTokens: longest, ablate });
  model.dispose();
  assert.deepEqual(await messages(page), chat.messages);
  assert.deepEqual((await messages(page)).slice(0, 2), first);
  await page.getByTestId('reset').click();
  assert.equal(await page.getByTestId('change').count(), 0);
});

onPage('the model of a conversation still continues texts', {}, async (page) => {
  await say(page, 'The film');
  const [, { content }] = await messages(page);
  await page.getByTestId('continue').check();
  await settled(page);
  assert.equal(await page.getByTestId('input').inputValue(), 'This film is');
  await page.getByTestId('written').waitFor();
  await page.getByTestId('chat').check();
  await settled(page);
  assert.equal((await messages(page))[1].content, content);
  assert.ok((await page.getByTestId('head').count()) > 0);
});

onPage('Shift+Enter begins a line; nothing is sent without text', {}, async (page) => {
  const box = page.getByTestId('say');
  assert.ok(await page.getByTestId('send').isDisabled());
  await box.press('Enter');
  await box.fill('The film');
  await box.press('Shift+Enter');
  await box.pressSequentially('good');
  assert.equal(await box.inputValue(), 'The film\ngood');
  assert.deepEqual(await messages(page), []);
});

onPage('what the template refuses is said', {}, async (page) => {
  await page.getByTestId('another').click();
  const name = join(folder, 'chat_template.jinja');
  const template = await readFile(name, 'utf8');
  await writeFile(name, "{{ raise_exception('No messages today') }}");
  await page.getByTestId('folder').setInputFiles(folder);
  await page.getByTestId('say').fill('The film');
  await page.getByTestId('send').click();
  await page.getByText('No messages today').waitFor();
  assert.equal(await page.getByTestId('say').inputValue(), 'The film');
  await writeFile(name, template);
});

for (const width of [320, 390, 1280]) {
  onPage(`a conversation fits at ${width}`, { viewport: { width, height: 800 } }, async (page) => {
    await say(page, 'The film is a long one, and '.repeat(4).trim());
    await assertFits(page, 'conversation');
  });
}

onPage('axe finds no violations', {}, async (page) => {
  await assertAccessibleToAll(page, 'empty');
  await say(page, 'The film');
  await assertAccessibleToAll(page, 'conversation');
});
