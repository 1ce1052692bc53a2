// Conversations: the texts of chat templates and their tokens, compared with those of the original
// library (tests/fixtures/checkpoints/chats.json), and turns.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { copyOf, folderOf } from '../support/checkpoints.mjs';
import { Generator, assertError, dist, load, root } from '../support/helpers.mjs';

const { Chat, chatPrompt } = await import(join(dist, 'chat.js'));
const cases = JSON.parse(readFileSync(join(root, 'tests/fixtures/checkpoints/chats.json'), 'utf8'));

/** Returns a copy of a checkpoint with a template: in tokenizer_config.json, a list there, or a file. */
function withTemplate(name, template, place = 'config') {
  const folder = copyOf(name);
  const file = join(folder, 'tokenizer_config.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  if (place === 'file') {
    writeFileSync(join(folder, 'chat_template.jinja'), template);
  } else {
    const several = [
      { name: 'tool_use', template: 'another' },
      { name: 'default', template },
    ];
    const chat_template = place === 'list' ? several : template;
    writeFileSync(file, JSON.stringify({ ...config, chat_template }));
  }
  return folder;
}

for (const [i, { folder, template, messages, options, ...expected }] of cases.entries()) {
  test(`conversation ${i}: the library's text and tokens`, async () => {
    const place = ['config', 'list', 'file'][i % 3];
    const generator = await load(withTemplate(folder, template, place), {}, Generator);
    assert.equal(generator.info.chatTemplate, template);
    const { add_generation_prompt: addGenerationPrompt, ...variables } = options;
    const prompt = () => chatPrompt(generator, messages, { addGenerationPrompt, variables });
    if (expected.error !== undefined) {
      await assertError(
        prompt,
        'invalid_option',
        new RegExp(`^chat_template: .*${expected.error}`),
      );
      return;
    }
    const text = await prompt();
    assert.equal(text, expected.text);
    const ids = async (more) => {
      const { promptTokens } = await generator.next(text, { count: 1, ...more });
      return promptTokens.map(({ id }) => id);
    };
    const length = generator.info.maxSourceLength;
    assert.deepEqual(await ids({ specialTokens: false }), expected.ids.slice(-length));
    if (folder === 'llama_scaled')
      assert.equal((await ids()).length, Math.min(expected.ids.length + 1, length));
  });
}

const folders = JSON.parse(
  readFileSync(join(root, 'tests/fixtures/checkpoints/chat_folders.json'), 'utf8'),
);

/** Returns a copy of a checkpoint, changed as tests/fixtures/checkpoints/chat_folders.py says. */
function changed({ folder: name, files, settings }) {
  const folder = copyOf(name);
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    if (text === null) rmSync(path, { force: true });
    else writeFileSync(path, text);
  }
  const file = join(folder, 'tokenizer_config.json');
  const config = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const [key, value] of Object.entries(settings)) {
    if (value === 'removed') delete config[key];
    else config[key] = value;
  }
  writeFileSync(file, JSON.stringify(config));
  return folder;
}

for (const [i, { messages, options, text, error, ...files }] of folders.entries()) {
  test(`folder ${i} with templates: the library's text`, async () => {
    const generator = await load(changed(files), {}, Generator);
    const {
      add_generation_prompt: addGenerationPrompt,
      continue_final_message: continueFinalMessage,
      chat_template: chatTemplate,
      ...variables
    } = options;
    const given = { addGenerationPrompt, continueFinalMessage, chatTemplate, variables };
    if (error) await assertError(() => chatPrompt(generator, messages, given), 'invalid_option');
    else assert.equal(await chatPrompt(generator, messages, given), text);
  });
}

test('what JSON lacks is refused in messages and variables', async () => {
  const generator = await load(chatty(), {}, Generator);
  const cyclic = {};
  cyclic.self = cyclic;
  const said = { role: 'user', content: 'a' };
  for (const wrong of [NaN, 1n, () => {}, Symbol('a'), cyclic, 2 ** 64, '\ud83d'])
    for (const [messages, variables] of [
      [[{ ...said, more: wrong }], {}],
      [[said], { wrong }],
    ])
      await assertError(() => chatPrompt(generator, messages, { variables }), 'invalid_option');
  for (const name of ['messages', 'add_generation_prompt']) {
    const variables = { [name]: true };
    await assertError(
      () => chatPrompt(generator, [said], { variables }),
      'invalid_option',
      new RegExp(name),
    );
  }
});

const chatty = () => withTemplate('llama_scaled', cases[4].template);

test('a conversation grows by two messages per turn', async () => {
  const generator = await load(chatty(), {}, Generator);
  const chat = new Chat(generator);
  const first = await chat.send('The film', { maxNewTokens: 3, attention: true });
  assert.deepEqual(chat.messages, [
    { role: 'user', content: 'The film' },
    { role: 'assistant', content: first.text },
  ]);
  assert.ok(first.attention.decoder.queries > 0);
  const prompt = await chatPrompt(generator, [...chat.messages, { role: 'user', content: 'good' }]);
  const options = { maxNewTokens: 3, specialTokens: false };
  const expected = await generator.generate(prompt, options);
  const steps = [];
  for await (const step of chat.stream('good', { maxNewTokens: 3 })) steps.push(step);
  assert.equal(steps.at(-1).result.text, expected.text);
  assert.equal(steps.filter(({ done }) => !done).length, expected.tokens.length);
  assert.equal(chat.messages.length, 4);
  assert.equal(chat.messages[3].content, expected.text);
  // Only what is new was read; the first turn had its attention kept, which the second did not ask for.
  const third = await chat.send('more', { maxNewTokens: 3 });
  assert.ok(third.reused > expected.promptTokens.length / 2, `${third.reused}`);
  assert.equal(steps.at(-1).result.reused, 0);
});

test('a turn that fails, is aborted or left changes nothing', async () => {
  const generator = await load(chatty(), {}, Generator);
  const chat = new Chat(generator);
  const aborted = AbortSignal.abort();
  await assertError(() => chat.send('a', { signal: aborted }), 'aborted');
  await assertError(() => chat.send('a', { specialToken: true }), 'invalid_option');
  await assertError(() => chat.send(7), 'invalid_option', /content/);
  for await (const step of chat.stream('The film', { maxNewTokens: 4 })) {
    assert.equal(step.done, false);
    await assertError(() => chat.send('again'), 'invalid_option', /turn/);
    break;
  }
  assert.deepEqual(chat.messages, []);
  await chat.send('The film', { maxNewTokens: 1 });
  assert.equal(chat.messages.length, 2);
});

test('models without a template, and wrong messages, are refused', async () => {
  const plain = await load(folderOf('llama_scaled'), {}, Generator);
  assert.equal('chatTemplate' in plain.info, false);
  await assertError(async () => new Chat(plain), 'unsupported', /chat_template/);
  const broken = await load(withTemplate('qwen2', '{% if %}'), {}, Generator);
  await assertError(() => new Chat(broken).send('a'), 'unsupported', /chat_template: line 1/);
  const leftEarly =
    '{% for m in messages %}{{ m.content }}{% if true %}{% break %}{% endif %}{% endfor %}';
  const breaks = await load(withTemplate('qwen2', leftEarly), {}, Generator);
  assert.equal(await chatPrompt(breaks, [{ role: 'user', content: 'a' }]), 'a');
  const generator = await load(chatty(), {}, Generator);
  for (const messages of [undefined, [], ['a'], [{ role: 3 }], [{ content: 'a' }]])
    await assertError(() => chatPrompt(generator, messages), 'invalid_option', /messages/);
  await assertError(async () => new Chat(generator, { system: 7 }), 'invalid_option', /system/);
  const system = new Chat(generator, { system: 'a' });
  await assertError(() => system.send('b'), 'invalid_option', /Roles must alternate: system/);
  const answers = await load(folderOf('t5'), {}, Generator);
  await assertError(
    () => answers.generate('a', { specialTokens: false }),
    'invalid_option',
    /specialTokens/,
  );
});
