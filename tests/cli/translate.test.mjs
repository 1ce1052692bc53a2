// `glassformer translate` and the other commands on translation models.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { glassformer, root } from './run.mjs';

const shared = join(root, 'tests/fixtures/golden/translate_pre_norm_shared');
const separate = join(root, 'tests/fixtures/golden/translate_tutorial_separate');
const classifier = join(root, 'tests/fixtures/golden/pre_norm_mean');
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-translate-'));
after(() => rmSync(scratch, { recursive: true }));

const sentence = (line) => JSON.parse(line).sentences[0];
const idsOf = ({ tokens }) => tokens.map(({ id }) => id);

// Tells whether the last n tokens, for some n up to 4, occur five times in a row.
function loops(ids) {
  return ids.some((_, end) =>
    [1, 2, 3, 4].some((n) => {
      const tail = ids.slice(0, end + 1).slice(-5 * n);
      return tail.length === 5 * n && tail.every((id, i) => i < n || id === tail[i - n]);
    }),
  );
}

test('n input lines give n output lines, each the same as by itself', () => {
  const lines = ['a gripping film', '', 'meh', '  ', 'not good. never again', 'a film\r', 'last'];
  const { status, lines: translations } = glassformer(['translate', shared], lines.join('\n'));
  assert.equal(status, 0);
  assert.equal(translations.length, lines.length);
  assert.equal(translations[1], '');
  assert.equal(translations[3], '');
  for (const [i, line] of lines.entries()) {
    assert.equal(glassformer(['translate', shared], `${line}\n`).lines[0], translations[i]);
  }
  assert.deepEqual(glassformer(['translate', shared], '').lines, []);
  const many = glassformer(['translate', shared, '--beams', '1'], 'a film\nmeh\n'.repeat(700));
  assert.equal(many.lines.length, 1400);
  assert.equal(new Set(many.lines).size, 2);
});

test('a model of many languages translates between those of the options', () => {
  for (const name of ['m2m_100', 'nllb', 'mbart', 'mbart_50']) {
    const folder = join(root, 'tests/fixtures/checkpoints', name);
    const { texts } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
    for (const { text, from, to, output } of texts) {
      const command = ['translate', folder, '--from', from, '--to', to, '--beams', '1', '--json'];
      const { status, lines } = glassformer(command, text);
      assert.equal(status, 0);
      assert.deepEqual(idsOf(sentence(lines[0])).slice(0, output.length), output);
    }
    const { stdout } = glassformer(['inspect', folder], '');
    assert.match(stdout, /\nlanguages: (af am|deu_Latn eng_Latn|ar_AR cs_CZ) /);
  }
  const folder = join(root, 'tests/fixtures/checkpoints/nllb');
  const known = 'expected one of deu_Latn, eng_Latn, fra_Latn, zho_Hans, got';
  for (const [options, message] of [
    [[], `from: ${known} none`],
    [['--from', 'eng_Latn', '--to', 'de'], `to: ${known} "de"`],
  ]) {
    const { status, stderr } = glassformer(['translate', folder, ...options], 'a film\n');
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(message));
  }
});

test('explanations, traces and measurements of such a model have the same options', () => {
  const folder = join(root, 'tests/fixtures/checkpoints/m2m_100');
  const pair = ['--from', 'en', '--to', 'de'];
  for (const method of [
    'rollout',
    'lens',
    'decoder_lens',
    'direct_logit_attribution',
    'relevance',
  ]) {
    const command = ['explain', folder, '--method', method, '--json'];
    const { status, stderr, lines } = glassformer([...command, ...pair], 'the film is good\n');
    assert.equal(status, 0, stderr);
    assert.match(lines[0], /"__de__"/);
    assert.ok(glassformer(command, 'the film\n').status > 0);
  }
  const out = join(scratch, 'trace.safetensors');
  const names = ['--names', 'encoder.layer_norm', '--out', out];
  for (const more of [[], ['--gradients']]) {
    const { status, stderr } = glassformer(
      ['trace', folder, ...names, ...pair, ...more],
      'a film\n',
    );
    assert.equal(status, 0, stderr);
    rmSync(out);
  }
  assert.equal(glassformer(['bench', folder, ...pair, '--lengths', '4'], '').status, 0);
});

test('a converted model of many languages translates the same', () => {
  for (const name of ['m2m_100', 'nllb_suffix']) {
    const folder = join(root, 'tests/fixtures/checkpoints', name);
    const converted = join(scratch, name);
    const { status, stderr } = glassformer(['convert', folder, converted], '');
    assert.equal(status, 0, stderr);
    const pair = name === 'm2m_100' ? ['--from', 'en', '--to', 'de', '--beams', '3'] : [];
    const text = 'the film is good\n';
    const [before, after] = [folder, converted].map(
      (each) => glassformer(['translate', each, '--json', ...pair], text).lines[0],
    );
    assert.equal(after, before);
  }
});

test('translations with a shortlist use only its tokens, one line each', () => {
  const model = join(root, 'weights/en-de');
  const lines = 'How are you?\nTwo dogs are running through the snow.\n\nZyrquof 日本 🎬\n';
  const command = ['translate', model, '--beams', '1'];
  const whole = glassformer(command, lines);
  const listed = glassformer([...command, '--shortlist', '--json'], lines);
  assert.deepEqual([whole.status, whole.lines.length], [0, 4]);
  assert.equal(listed.lines.length, 4);
  const texts = listed.lines.map((line) => JSON.parse(line).text ?? '');
  assert.deepEqual(texts.slice(0, 3), whole.lines.slice(0, 3)); // common words are offered
  // Fewer tokens share the probability, so none is smaller.
  const everyone = glassformer([...command, '--json'], lines);
  const [a, b] = [listed, everyone].map(({ lines: [line] }) => sentence(line).tokens);
  a.forEach(({ id, logprob }, i) => assert.ok(id === b[i].id && logprob >= b[i].logprob));
});

test('a missing shortlist is named', () => {
  const { status, stderr, stdout } = glassformer(['translate', shared, '--shortlist'], 'a film\n');
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /shortlist\.bin: cannot be read/);
});

test('one beam gives the tokens of PyTorch, until they repeat', () => {
  for (const folder of [
    'translate_pre_norm_shared',
    'translate_post_norm_tied',
    'translate_tutorial_separate',
    'translate_odd_local',
  ]) {
    const model = join(root, 'tests/fixtures/golden', folder);
    const golden = JSON.parse(readFileSync(join(model, 'golden.json'), 'utf8'));
    const { lines } = glassformer(
      ['translate', model, '--beams', '1', '--json'],
      golden.texts.join('\n') + '\n',
    );
    golden.texts.forEach((_, i) => {
      const { ids } = golden.greedy[i];
      const got = sentence(lines[i]);
      assert.deepEqual(
        got.sourceTokens.map(({ id }) => id),
        golden.ids[i],
      );
      let same = 0;
      while (same < ids.length && !loops(ids.slice(0, same + 1))) same++;
      const known = ids.findIndex((id) => id < 2); // <unk> and <s> are never written
      const compared = known < 0 ? same : Math.min(same, known);
      assert.deepEqual(idsOf(got).slice(0, compared), ids.slice(0, compared));
    });
  }
});

test('--json prints the same result as JavaScript', () => {
  const text = 'A film. Never again!';
  const { status, lines } = glassformer(
    ['translate', shared, '--json', '--attention', '--hypotheses'],
    `${text}\n\n`,
  );
  assert.equal(status, 1);
  assert.equal(JSON.parse(lines[1]).error.code, 'empty_input');
  const result = JSON.parse(lines[0]);
  assert.equal(result.sentences.length, 2);
  for (const part of result.sentences) {
    assert.equal(result.text.slice(part.targetStart, part.targetEnd), part.text);
    assert.match(text.slice(part.start, part.end), /^(A film\.|Never again!)$/);
    const sizes = { encoder: 'SS', decoder: 'TT', cross: 'TS' };
    const length = { S: part.sourceTokens.length, T: part.tokens.length };
    for (const [name, { layers, heads, queries, keys, data }] of Object.entries(part.attention)) {
      assert.equal(queries, length[sizes[name][0]]);
      assert.equal(keys, length[sizes[name][1]]);
      const bytes = Buffer.from(data, 'base64');
      assert.equal(bytes.length, 4 * layers * heads * queries * keys);
      let sum = 0;
      for (let i = 0; i < bytes.length; i += 4) sum += bytes.readFloatLE(i);
      assert.ok(Math.abs(sum / (layers * heads * queries) - 1) < 1e-5);
    }
    for (const { target, source, weight } of part.alignment) {
      assert.notEqual(result.text.slice(target.start, target.end).trim(), '');
      assert.ok(part.targetStart <= target.start && target.end <= part.targetEnd);
      assert.match(text.slice(source.start, source.end), /^(A|film|\.|Never|again|!)$/);
      assert.ok(weight > 0 && weight <= 1);
    }
    assert.equal(part.tokens.at(-1).end, part.targetEnd);
    assert.equal(part.hypotheses[0].text, part.text);
    assert.deepEqual(part.hypotheses[0].tokens, part.tokens);
    assert.ok(part.hypotheses.length <= 4);
    part.hypotheses.forEach(({ score }, i) =>
      assert.ok(i === 0 || score <= part.hypotheses[i - 1].score),
    );
    part.tree.slice(1).forEach(({ parent }, i) => assert.ok(parent <= i));
  }
  const plain = glassformer(['translate', shared, '--json'], `${text}\n`);
  assert.equal(JSON.parse(plain.lines[0]).text, result.text);
  assert.equal(JSON.parse(plain.lines[0]).score, result.score);
});

test('each option has its effect', () => {
  const score = (...options) =>
    JSON.parse(glassformer(['translate', shared, '--json', ...options], 'a film\n').lines[0]).score;
  const plain = score();
  assert.equal(score('--beams', '4'), plain);
  for (const options of [
    ['--length-penalty', '0'],
    ['--ablate', 'encoder.1.2'],
    ['--ablate', '1.2'],
    ['--ablate', 'decoder.0.1'],
    ['--ablate', 'cross.1.3,cross.0.0'],
  ]) {
    assert.notEqual(score(...options), plain, options.join(' '));
  }
  assert.equal(score('--ablate', 'encoder.1.2'), score('--ablate', '1.2'));
});

test('tokenize uses the source tokenizer of a translation model', () => {
  for (const folder of [shared, separate]) {
    const golden = JSON.parse(readFileSync(join(folder, 'golden.json'), 'utf8'));
    const { lines } = glassformer(['tokenize', folder], golden.texts.join('\n') + '\n');
    lines.forEach((line, i) => {
      assert.ok(`,${golden.ids[i]},`.includes(`,${line.replaceAll(' ', ',')},`));
      assert.ok(golden.ids[i].length - line.split(' ').length <= 2); // special tokens
    });
  }
});

test('bench reports greedy and four beams', () => {
  const { status, stdout } = glassformer(['bench', shared, '--lengths', '8', '--json']);
  assert.equal(status, 0);
  const rows = JSON.parse(stdout);
  assert.deepEqual(
    rows.map(({ beams }) => beams),
    [1, 4],
  );
  for (const row of rows) {
    assert.equal(row.task, 'translate');
    assert.ok(row.ms_median >= row.ms_first_token / 2 && row.ms_first_token > 0);
    assert.ok(row.tokens_per_second > 0 && row.output_tokens > 0);
  }
});

test('bench translates into the requested number of tokens', () => {
  const args = ['bench', shared, '--text', 'the plot', '--output-tokens', '2', '--json'];
  const { status, stdout } = glassformer(args);
  assert.equal(status, 0);
  for (const row of JSON.parse(stdout)) assert.ok(row.output_tokens <= 2);
});

test('long lines are translated in parts', () => {
  const text = 'the plot makes no sense, '.repeat(40);
  const { status, lines } = glassformer(
    ['translate', shared, '--json', '--beams', '1'],
    text + '\n',
  );
  assert.equal(status, 0);
  const { sentences } = JSON.parse(lines[0]);
  assert.ok(sentences.length > 3);
  assert.ok(sentences.every(({ clipped }) => !clipped));
  const word = glassformer(
    ['translate', shared, '--json', '--beams', '1'],
    'meh'.repeat(2000) + '\n',
  );
  assert.equal(sentence(word.lines[0]).clipped, true);
});

test('wrong requests are refused by name', () => {
  const fails = (args, status, pattern) => {
    const result = glassformer(args, 'a film\n');
    assert.equal(result.status, status, args.join(' '));
    assert.equal(result.stdout, '');
    assert.match(result.stderr, pattern);
  };
  fails(
    ['translate', shared, '--beams', '0'],
    1,
    /invalid_option: --beams: expected 1 to 64, got 0/,
  );
  fails(['translate', shared, '--beams', '1000'], 1, /invalid_option: --beams/);
  fails(['translate', shared, '--beams', 'four'], 2, /beams/);
  fails(['translate', shared, '--length-penalty', '-1'], 1, /invalid_option: --length-penalty/);
  fails(['translate', shared, '--ablate', 'cross.9.0'], 1, /invalid_option: --ablate/);
  fails(['translate', shared, '--ablate', 'self.0.0'], 2, /--ablate/);
  fails(['translate', classifier], 1, /wrong_task/);
  fails(['classify', classifier, '--ablate', 'cross.0.0'], 1, /ablate: expected heads of the enc/);
  fails(['classify', shared], 1, /wrong_task/);
  fails(['translate', join(scratch, 'nowhere')], 1, /nowhere: expected a model folder/);

  const lacking = join(scratch, 'lacking');
  cpSync(separate, lacking, { recursive: true });
  rmSync(join(lacking, 'target.model'));
  fails(['translate', lacking], 1, /missing_file: .*target\.model: expected it with source\.model/);
});

test('a text of only unknown characters has a translation', () => {
  const { status, lines } = glassformer(['translate', shared], '\u6f22\u5b57\n\u{1f600}\n');
  assert.equal(status, 0);
  assert.equal(lines.length, 2);
});
