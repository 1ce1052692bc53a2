// The folders that are compared, and the texts for each.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const english = [
  'The film is neither funny nor dull, but it is far too long.',
  'A gripping, beautifully shot film! I would watch it again.',
  'My name is Sarah and I live in London.',
];

/** The commands for the tasks of expected.json. */
const commands = {
  sequence: 'classify',
  tokens: 'ner',
  answer: 'answer',
  embed: 'embed',
  masks: 'fill',
  translate: 'translate',
  generate: 'generate',
  text2text: 'generate',
};

const ours = [
  { name: 'sentiment', command: 'classify' },
  { name: 'en-de', command: 'translate' },
  { name: 'en-fr', command: 'translate' },
  { name: 'writer', command: 'generate' },
];

function expectedOf(folder) {
  const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  return expected.same_as ? expectedOf(join(folder, '..', expected.same_as)) : expected;
}

const isLine = ({ text }) => !/[\n\r\t]/.test(text) && text.length < 400;

function published(name) {
  const folder = join(root, 'tests/fixtures/checkpoints', name);
  const { task, texts } = expectedOf(folder);
  const command = commands[task];
  const usable = texts.filter((text) => text.text !== undefined && isLine(text));
  const inputs =
    command === 'answer'
      ? texts.filter(({ question, context }) => question && context && context.length < 400)
      : usable;
  const lines = inputs
    .slice(0, 3)
    .map(({ text, question, context }) =>
      command === 'answer' ? `${question}\t${context}` : text,
    );
  return { name, folder, command, lines };
}

/** A line that fits every model: only texts that are read completely can be traced. */
export const shortest = (lines) => lines.toSorted((a, b) => a.length - b.length)[0];

/** Returns the model folders: those of weights, and all of tests/fixtures/checkpoints. */
export function models() {
  const checkpoints = readdirSync(join(root, 'tests/fixtures/checkpoints'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => existsSync(join(root, 'tests/fixtures/checkpoints', name, 'expected.json')));
  return [
    ...ours.map(({ name, command }) => ({
      name,
      folder: join(root, 'weights', name),
      command,
      lines: english,
    })),
    ...checkpoints.map(published),
  ];
}
