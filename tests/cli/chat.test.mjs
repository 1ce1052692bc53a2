// `glassformer chat`: each line of standard input is a message.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command } from '../native_build.mjs';
import { glassformer, root } from './run.mjs';

const checkpoint = join(root, 'tests/fixtures/checkpoints/llama_scaled');
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-chat-'));
after(() => rmSync(scratch, { recursive: true }));
const chats = JSON.parse(readFileSync(join(root, 'tests/fixtures/checkpoints/chats.json'), 'utf8'));
const model = join(scratch, 'chatty');
cpSync(checkpoint, model, { recursive: true });
writeFileSync(join(model, 'chat_template.jinja'), chats[4].template);

const chat = (args, input) => glassformer(['chat', model, '--max-new-tokens', '5', ...args], input);

test('each line is answered, with the lines before it', () => {
  const { status, lines } = chat(['--json'], 'The film\ngood\n');
  assert.equal(status, 0);
  const [first, second] = lines.map((line) => JSON.parse(line));
  assert.equal(first.reused, 0);
  assert.ok(second.reused > 8, `${second.reused}`);
  const read = second.promptTokens.map(({ text }) => text).join('');
  assert.match(read, /The film.*good now:$/s);
  const alone = JSON.parse(chat(['--json'], 'good\n').lines[0]);
  assert.notDeepEqual(second.tokens, alone.tokens);
  const plain = chat([], 'The film\ngood\n').lines;
  assert.equal(plain.length, 2);
});

test('the options of generate apply', () => {
  const drawn = (seed) => chat(['--temperature', '1', '--seed', seed], 'The film\n').lines[0];
  assert.equal(drawn('3'), drawn('3'));
  assert.notEqual(drawn('3'), drawn('4'));
  const [json] = chat(['--json', '--attention'], 'The film\n').lines;
  const { attention, promptTokens, tokens } = JSON.parse(json);
  assert.equal(attention.decoder.keys, promptTokens.length + tokens.length - 1);
});

test('a message that fails gets an error in its place, and the chat goes on without it', () => {
  const { status, lines, stderr } = chat([], Buffer.from('The film\n\xff\ngood\n', 'latin1'));
  assert.equal(status, 1);
  assert.equal(lines[1], 'error\tinvalid_option');
  assert.match(stderr, /line 2: expected UTF-8/);
  const good = chat([], 'The film\ngood\n').lines;
  assert.deepEqual([lines[0], lines[2]], good);
  const refused = chat(['--system', 'Be kind.'], 'The film\n');
  assert.match(refused.stderr, /line 1: chat_template: line \d: Roles must alternate: system$/m);
});

test('without a template, and with bad options, it ends at once', () => {
  const plain = glassformer(['chat', checkpoint], 'The film\n');
  assert.equal(plain.status, 1);
  assert.match(plain.stderr, /unsupported: expected a model with a chat_template/);
  assert.match(chat(['--variables', '7'], 'a\n').stderr, /variables: expected an object, got 7/);
  assert.match(chat(['--ablate', 'decoder.9.0'], 'a\n').stderr, /ablate/);
});

test('in a terminal an answer appears as it is written, and Ctrl-C stops it', async () => {
  // `script` gives the command a terminal.
  const terminal = spawn(
    'script',
    ['-qec', `'${command}' chat '${model}' --max-new-tokens 9999`, '/dev/null'],
    { env: { ...process.env, TERM: 'dumb' } },
  );
  let shown = '';
  const until = (pattern) =>
    new Promise((resolve) => {
      const look = (part = '') => {
        shown += part;
        if (!pattern.test(shown)) return;
        terminal.stdout.off('data', look);
        resolve();
      };
      terminal.stdout.on('data', look);
      look();
    });
  await until(/> $/);
  terminal.stdin.write('The film\n');
  await until(/The film\r\n[^>]*> $/s);
  terminal.stdin.write('\x04');
  const status = await new Promise((resolve) => terminal.on('close', resolve));
  assert.equal(status, 0);
});
