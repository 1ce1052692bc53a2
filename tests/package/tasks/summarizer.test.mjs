// Summaries: the settings of a folder's task "summarization", compared with the original library.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyOf, folderOf } from '../support/checkpoints.mjs';
import { Generator, Summarizer, assertError, openAny, root } from '../support/helpers.mjs';

const goldens = join(root, 'tests/fixtures/checkpoints/task_options.json');
const { base, config, runs } = JSON.parse(readFileSync(goldens, 'utf8')).folders[0];
const summaries = runs.filter(({ options }) => options.task === 'summarization');

/** Returns a folder with the settings of several tasks. */
function folderWithTasks() {
  const folder = copyOf(base);
  const file = join(folder, 'config.json');
  const own = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...own, ...config }));
  return folder;
}

const idsOf = (tokens) => tokens.map(({ id }) => id);
const collect = async (outcomes) => {
  const all = [];
  for await (const { index, result, error } of outcomes) all[index] = error ?? result;
  return all;
};

test('summaries are those of the original library with the settings of the task', async () => {
  const summarizer = await openAny(folderWithTasks(), { task: 'summarization' });
  assert.ok(summarizer instanceof Summarizer);
  assert.equal(summarizer.task, 'summarization');
  assert.ok(summaries.length >= 24);
  for (const { text, options, ids, prompt } of summaries) {
    const { task: _, ...others } = options;
    const { tokens, promptTokens } = await summarizer.summarize(text, others);
    const message = JSON.stringify({ text, options });
    assert.deepEqual([idsOf(tokens), idsOf(promptTokens)], [ids, prompt], message);
  }
  summarizer.dispose();
});

test('batches, loops and streams of summaries, and another task', async () => {
  const folder = folderWithTasks();
  const summarizer = await Summarizer.load(folder);
  const generator = await Generator.load(folder);
  const texts = summaries.slice(0, 3).map(({ text }) => text);
  const single = [];
  for (const text of texts) single.push(await summarizer.summarize(text));
  assert.deepEqual(await summarizer.summarizeBatch(texts), single);
  assert.deepEqual(await collect(summarizer.summarizeEach(texts)), single);
  const [text] = texts;
  const greedy = await summarizer.summarize(text, { beams: 1 });
  const steps = [];
  for await (const step of summarizer.stream(text)) steps.push(step);
  assert.deepEqual(steps.at(-1).result, greedy);
  assert.equal(steps.at(-2).text, greedy.text);
  assert.ok(steps.slice(0, -1).every(({ promptTokens }) => promptTokens.length > 0));
  const other = { task: 'plain' };
  assert.deepEqual(await summarizer.summarize(text, other), await generator.generate(text, other));
  await assertError(() => summarizer.summarize(text, { topic: 'a' }), 'invalid_option', /topic/);
  summarizer.dispose();
  generator.dispose();
});

test('a folder without settings for summaries uses its own; other models are refused', async () => {
  const folder = copyOf(base);
  const summarizer = await Summarizer.load(folder);
  const generator = await Generator.load(folder);
  const [{ text }] = summaries;
  assert.deepEqual(await summarizer.summarize(text), await generator.generate(text));
  summarizer.dispose();
  generator.dispose();
  const writer = folderOf('gpt2_generate');
  const expected = /for text2text-generation, got one for text-generation; Generator\.load/;
  await assertError(() => Summarizer.load(writer), 'wrong_task', expected);
});
