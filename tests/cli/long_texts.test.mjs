// The `glassformer` command with texts of more tokens than a model reads at once, with generation
// options, and with heads that it does not run.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { glassformer, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-long-'));
after(() => rmSync(scratch, { recursive: true }));
const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);
const goldens = JSON.parse(readFileSync(join(checkpoint('.'), 'long_texts.json'), 'utf8'));
const long = goldens.sequence.bert_sequence[0].text;

test('a cut text gives a warning on standard error, a text in windows does not', () => {
  const cut = glassformer(['classify', checkpoint('bert_sequence')], `a film\n${long}\n`);
  assert.equal(cut.status, 0);
  assert.equal(cut.lines.length, 2);
  assert.match(
    cut.stderr,
    /^glassformer: line 2: warning: it has more tokens .* --window mean.*\n$/,
  );
  assert.equal(glassformer(['classify', checkpoint('bert_sequence')], 'a film\n').stderr, '');
  // Of several, the first is named, and all are counted.
  const input = `${long}\na film\n${long}\n`;
  const several = glassformer(['classify', checkpoint('bert_sequence')], input).stderr.split('\n');
  assert.match(several[0], /line 1: warning: it has more tokens/);
  assert.match(
    several[1],
    /warning: 2 of 3 lines had more tokens than the model reads, and were cut$/,
  );
  assert.equal(several.length, 3);
  const quiet = glassformer(['classify', checkpoint('bert_sequence'), '--quiet'], input);
  assert.deepEqual([quiet.status, quiet.stderr], [0, '']);
  for (const window of ['mean', 'max']) {
    for (const { stride, ...expected } of goldens.sequence.bert_sequence) {
      const given = stride === undefined ? [] : ['--stride', String(stride)];
      const args = [
        'classify',
        checkpoint('bert_sequence'),
        '--window',
        window,
        '--json',
        ...given,
      ];
      const { stdout, stderr } = glassformer(args, `${long}\n`);
      assert.equal(stderr, '');
      const result = JSON.parse(stdout);
      assert.equal(result.windows, expected.windows);
      assert.equal(result.clipped, false);
      const scores = result.scores.map(({ score }) => score);
      scores.forEach((score, i) => assert.ok(Math.abs(score - expected[window][i]) < 1e-4));
    }
  }
});

test('names are found in a whole long text', () => {
  const [first] = goldens.tokens.bert_tokens;
  const args = ['ner', checkpoint('bert_tokens'), '--aggregation', 'simple'];
  const { stdout, stderr } = glassformer(args, `${first.text}\n`);
  assert.equal(stderr, '');
  assert.equal(stdout.trimEnd().split('\t').length, 3 * first.entities.simple.length);
  const cut = glassformer([...args, '--window', 'first'], `${first.text}\n`);
  assert.match(cut.stderr, /line 1: warning/);
  assert.ok(cut.stdout.length < stdout.length);
  const attention = glassformer([...args, '--json', '--attention'], `${first.text}\n`);
  assert.equal(attention.status, 1);
  assert.match(attention.stderr, /attention: expected a text of at most 20 tokens, got \d+/);
});

test('a stride that does not fit is refused before any line', () => {
  for (const [command, folder, ...args] of [
    ['ner', 'bert_tokens', '--stride', '18'],
    ['ner', 'bert_tokens', '--window', 'first', '--stride', '2'],
    ['classify', 'bert_sequence', '--stride', '2'],
  ]) {
    const { status, stderr, stdout } = glassformer([command, checkpoint(folder), ...args], 'a\n');
    assert.equal(status, 1);
    assert.match(stderr, /invalid_option: --stride: expected/);
    assert.equal(stdout, '');
  }
});

test('stop strings, bad words and suppressed tokens', () => {
  const run = (...args) =>
    JSON.parse(
      glassformer(
        ['generate', checkpoint('gpt2_generate'), '--json', '--max-new-tokens', '8', ...args],
        'The film is\n',
      ).stdout,
    );
  const plain = run();
  const [first] = plain.tokens;
  const [word] = plain.text.match(/[a-z]{2,}/);
  const stopped = run('--stop-strings', 'zebra', '--stop-strings', word);
  assert.ok(stopped.ended && stopped.text.endsWith(word));
  assert.ok(stopped.tokens.length < plain.tokens.length);
  const suppressed = run('--suppress-tokens', String(first.id));
  assert.ok(suppressed.tokens.every(({ id }) => id !== first.id));
  assert.notEqual(run('--begin-suppress-tokens', String(first.id)).tokens[0].id, first.id);
  assert.notEqual(run('--bad-words', word).text, plain.text);
});

test('an empty line begins with the bos token if the model has one', () => {
  const written = glassformer(['generate', checkpoint('gpt2_generate'), '--json'], '\n');
  assert.equal(written.status, 0, written.stderr);
  assert.deepEqual(
    JSON.parse(written.stdout).promptTokens.map(({ id, start, end }) => [id, start, end]),
    [[0, 0, 0]],
  );
});

test('a head that does not run is named', () => {
  const folder = join(scratch, 'masked');
  cpSync(checkpoint('bert_sequence'), folder, { recursive: true });
  const file = join(folder, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...config, architectures: ['BertForMaskedLM'] }));
  const note = 'config.json names BertForMaskedLM, whose head is not run';
  assert.ok(glassformer(['inspect', folder]).stdout.includes(note));
  const { status, stderr } = glassformer(['embed', folder], 'a film\n');
  assert.equal(status, 0);
  assert.ok(stderr.includes(`warning: ${note}`), stderr);
  assert.equal(glassformer(['embed', checkpoint('bert_embed')], 'a film\n').stderr, '');
});
