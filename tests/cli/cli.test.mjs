// The `glassformer` command in a shell: input lines, output lines, exit codes.
import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { glassformer, root } from './run.mjs';

const golden = join(root, 'tests/fixtures/golden/pre_norm_mean');
const expected = JSON.parse(readFileSync(join(golden, 'golden.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-cli-'));
after(() => rmSync(scratch, { recursive: true }));

function copyOfModel(name) {
  const folder = join(scratch, name);
  cpSync(golden, folder, { recursive: true });
  return folder;
}

test('classify prints a label and its probability for each line', () => {
  const { status, lines } = glassformer(['classify', golden], expected.texts.join('\n') + '\n');
  assert.equal(status, 0);
  assert.equal(lines.length, expected.texts.length);
  lines.forEach((line, i) => {
    const [label, score] = line.split('\t');
    assert.equal(label, expected.labels[i]);
    assert.match(score, /^\d\.\d{6,}$/);
    assert.ok(Math.abs(Number(score) - Math.max(...expected.scores[i])) < 1e-5);
  });
});

test('n input lines give n output lines, also empty ones and a last one without a line break', () => {
  const { status, lines, stderr } = glassformer(['classify', golden], '\na film\n  \nnot good');
  assert.equal(status, 1);
  assert.equal(lines.length, 4);
  assert.equal(lines[0], 'error\tempty_input');
  assert.equal(lines[2], 'error\tempty_input');
  assert.match(lines[1], /^(positive|negative)\t/);
  assert.match(stderr, /expected at least one token/);
  assert.deepEqual(glassformer(['classify', golden], '').lines, []);
  const many = glassformer(['classify', golden], 'the plot makes no sense\n'.repeat(1000));
  assert.equal(many.lines.length, 1000);
  assert.equal(new Set(many.lines).size, 1);
});

test('threads change neither answers nor their order', () => {
  const lines = Array.from({ length: 301 }, (_, i) => 'a good film '.repeat(i % 7));
  const input = lines.join('\n');
  const alone = glassformer(['classify', golden], input);
  assert.equal(alone.lines.length, 301);
  for (const threads of [2, 3]) {
    const { lines: answers, status } = glassformer(
      ['classify', golden, '--threads', String(threads)],
      input,
    );
    assert.deepEqual(answers, alone.lines);
    assert.equal(status, alone.status);
  }
});

test('--json prints the same result as JavaScript, with attention in base64', () => {
  const text = expected.texts[0];
  const { status, lines } = glassformer(
    ['classify', golden, '--json', '--attention', '--contributions'],
    `${text}\n\n`,
  );
  assert.equal(status, 1);
  const result = JSON.parse(lines[0]);
  assert.equal(result.label, expected.labels[0]);
  const { id, ...best } = result.scores.reduce((a, b) => (b.logit > a.logit ? b : a));
  assert.deepEqual([best.label, best.score], [result.label, result.score]);
  assert.equal(result.scores[id].id, id);
  assert.deepEqual(
    result.tokens.map(({ id }) => id),
    expected.ids[0],
  );
  assert.equal(text.slice(result.tokens.at(-1).start, result.tokens.at(-1).end).length > 0, true);
  const { layers, heads, queries, keys, data } = result.attention.encoder;
  const bytes = Buffer.from(data, 'base64');
  assert.equal(bytes.length, 4 * layers * heads * queries * keys);
  for (let row = 0; row < layers * heads * queries; ++row) {
    let sum = 0;
    for (let key = 0; key < keys; ++key) sum += bytes.readFloatLE(4 * (row * keys + key));
    assert.ok(Math.abs(sum - 1) < 1e-5);
  }
  const error = JSON.parse(lines[1]);
  assert.equal(error.error.code, 'empty_input');
});

test('--ablate and --mask-tokens give the same as PyTorch', () => {
  for (const { text, options, logits } of expected.interventions) {
    const args = ['classify', golden, '--json'];
    if (options.ablate) {
      args.push('--ablate', options.ablate.map((head) => `${head.layer}.${head.head}`).join(','));
    }
    if (options.maskTokens) args.push('--mask-tokens', options.maskTokens.join(','));
    const { status, lines } = glassformer(args, expected.texts[text] + '\n');
    assert.equal(status, 0);
    JSON.parse(lines[0]).scores.forEach(({ logit }, i) =>
      assert.ok(Math.abs(logit - logits[i]) < 1e-4),
    );
  }
});

test('tokenize prints ids, unclipped', () => {
  const { status, lines } = glassformer(['tokenize', golden], expected.texts.join('\n') + '\n\n');
  assert.equal(status, 0);
  assert.deepEqual(lines, [...expected.ids.map((ids) => ids.join(' ')), '']);
  const long = glassformer(['tokenize', golden], 'a film '.repeat(5000) + '\n');
  assert.ok(long.lines[0].split(' ').length > 5000);
});

test('tokenize --json gives texts, places, pairs and lengths', () => {
  const folder = join(root, 'tests/fixtures/checkpoints/bert_sequence');
  const { texts, max_length: most } = JSON.parse(
    readFileSync(join(folder, 'expected.json'), 'utf8'),
  );
  const pairs = texts.filter(({ pair }) => pair !== undefined);
  assert.ok(pairs.length > 1 && pairs.some(({ truncated }) => truncated));
  const input = pairs.map(({ text, pair }) => `${text}\t${pair}\n`).join('');
  const args = ['tokenize', folder, '--json', '--special', '--pairs', '--max-length', String(most)];
  const { status, lines } = glassformer(args, input);
  assert.equal(status, 0);
  for (const [i, { ids, offsets, sequences, truncated }] of pairs.entries()) {
    const result = JSON.parse(lines[i]);
    assert.deepEqual(result.ids, ids);
    assert.equal(result.clipped, truncated);
    for (const [at, { start, end, sequence }] of result.tokens.entries()) {
      if (offsets[at]) assert.deepEqual([start, end], offsets[at]);
      assert.equal(sequence, sequences[at] ?? 0);
    }
  }
  const { status: bad, stderr } = glassformer([...args.slice(0, -1), '1'], input);
  assert.equal(bad, 1);
  assert.match(stderr, /line 1: --max-length: expected at least the 3 special tokens, got 1/);
});

test('inspect shows configuration, tensors and parameters', () => {
  const { status, stdout } = glassformer(['inspect', golden]);
  assert.equal(status, 0);
  assert.match(stdout, /"d_model": ?16/);
  assert.match(stdout, /encoder\.layers\.1\.fc2\.weight +F32 +\[16, \d+\]/);
  assert.match(stdout, /\d+ tensors, \d+ parameters/);
});

test('init writes a model that depends only on the seed, and never overwrites one', () => {
  const config = join(golden, 'config.json');
  const [one, same, other] = ['one', 'same', 'other'].map((name) => join(scratch, name));
  assert.equal(glassformer(['init', config, one, '--seed', '7']).status, 0);
  assert.equal(glassformer(['init', config, same, '--seed', '7']).status, 0);
  assert.equal(glassformer(['init', config, other, '--seed', '8']).status, 0);
  const weights = (folder) => readFileSync(join(folder, 'model.safetensors'));
  assert.ok(weights(one).equals(weights(same)));
  assert.ok(!weights(one).equals(weights(other)));
  assert.equal(glassformer(['classify', one], 'a film\n').status, 0);
  const again = glassformer(['init', config, one, '--seed', '9']);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /exists already/);
  assert.ok(weights(one).equals(weights(same)));
});

test('quantize writes the same model in fewer bytes, with its card and license', () => {
  const [whole, small] = ['whole', 'small'].map((name) => join(scratch, name));
  assert.equal(glassformer(['init', join(golden, 'config.json'), whole, '--seed', '7']).status, 0);
  writeFileSync(join(whole, 'README.md'), 'card');
  writeFileSync(join(whole, 'LICENSE'), 'terms');
  assert.equal(glassformer(['quantize', whole, small]).status, 0);
  for (const name of ['config.json', 'tokenizer.model', 'README.md', 'LICENSE']) {
    assert.ok(readFileSync(join(small, name)).equals(readFileSync(join(whole, name))), name);
  }
  const bytes = (folder) => readFileSync(join(folder, 'model.safetensors')).length;
  assert.ok(bytes(small) < 0.6 * bytes(whole), `${bytes(small)} of ${bytes(whole)}`);

  const { stdout } = glassformer(['inspect', small]);
  assert.match(stdout, /encoder\.embed_tokens\.weight +I8 +\[80, 16\]/);
  assert.match(stdout, /encoder\.layers\.1\.fc2\.weight_scale +F32 +\[16\]/);
  assert.match(stdout, /encoder\.layers\.1\.fc2\.bias +F32/);
  const verdicts = (folder) => glassformer(['classify', folder], 'a film\n').lines[0].split('\t');
  const [[label, score], [same, near]] = [verdicts(whole), verdicts(small)];
  assert.equal(label, same);
  assert.ok(Math.abs(score - near) < 0.02, `${score}, quantized ${near}`);
  assert.equal(glassformer(['quantize', whole, small]).status, 1); // exists already
});

test('quantize writes the matrices of blocks with 4 bits', () => {
  const [whole, small, same, larger] = ['whole4', 'small4', 'same4', 'larger4'].map((name) =>
    join(scratch, name),
  );
  assert.equal(glassformer(['init', join(golden, 'config.json'), whole, '--seed', '7']).status, 0);
  assert.equal(glassformer(['quantize', whole, small, '--weights', '4']).status, 0);
  const { stdout } = glassformer(['inspect', small]);
  assert.match(stdout, /encoder\.embed_tokens\.weight +I8 +\[80, 16\]/);
  assert.match(stdout, /encoder\.layers\.1\.fc1\.weight +U8 +\[\d+, 8\]/);
  assert.match(stdout, /encoder\.layers\.1\.fc1\.weight_scale +BF16 +\[\d+, 1\]/);
  const classify = (folder, ...args) =>
    glassformer(['classify', folder, '--json', ...args], 'a film\n').stdout;
  assert.equal(classify(small), classify(whole, '--compute', 'int4'));
  assert.notEqual(classify(small), classify(whole));
  const [{ score }, { score: near }] = [whole, small].map((folder) => JSON.parse(classify(folder)));
  assert.ok(Math.abs(score - near) < 0.1, `${score}, quantized ${near}`);

  // Once more: the same integers. With 8 bits or as floats: their values.
  assert.equal(glassformer(['quantize', small, same, '--weights', '4']).status, 0);
  const weights = (folder) => readFileSync(join(folder, 'model.safetensors'));
  assert.ok(weights(same).equals(weights(small)));
  assert.equal(glassformer(['quantize', small, larger, '--weights', '8']).status, 0);
  assert.equal(classify(larger), classify(small, '--compute', 'int8'));
  const floats = JSON.parse(classify(small, '--compute', 'f32'));
  assert.ok(Math.abs(floats.score - near) < 0.01, `${near}, in floats ${floats.score}`);

  const { status, stderr } = glassformer([
    'quantize',
    whole,
    join(scratch, 'five'),
    '--weights',
    '5',
  ]);
  assert.equal(status, 2);
  assert.match(stderr, /--weights/);
});

test('init, inspect and quantize work with translators that have a tokenizer per side', () => {
  const config = join(root, 'tests/fixtures/golden/translate_tutorial_separate/config.json');
  const [whole, small] = ['translator', 'small-translator'].map((name) => join(scratch, name));
  assert.equal(glassformer(['init', config, whole, '--seed', '7']).status, 0);
  assert.equal(glassformer(['quantize', whole, small]).status, 0);
  const { status, stdout } = glassformer(['inspect', small]);
  assert.equal(status, 0);
  assert.match(stdout, /"model_type": "encoder_decoder"/);
  assert.match(stdout, /decoder\.layers\.1\.encoder_attn\.q_proj\.weight +I8 +\[12, 12\]/);
  assert.match(stdout, /lm_head\.weight_scale +F32 +\[72\]/);
  assert.match(stdout, /80 source pieces, 72 target pieces/);
  assert.equal(glassformer(['classify', small], 'a film\n').status, 1);
});

test('bench reports medians for the given lengths', () => {
  const { status, stdout } = glassformer(['bench', golden, '--lengths', '8,16', '--json']);
  assert.equal(status, 0);
  const rows = JSON.parse(stdout);
  assert.equal(rows.length, 2);
  for (const row of rows) {
    assert.equal(row.engine, 'glassformer');
    assert.match(row.build, /^native-/);
    assert.ok(row.ms_median > 0 && row.tokens > 0);
  }
});

test('wrong usage exits with 2 and a reason', () => {
  for (const args of [
    [],
    ['translat'],
    ['classify'],
    ['classify', golden, '--atention'],
    ['classify', golden, '--ablate', '1'],
    ['classify', golden, '--ablate', '1.x'],
    ['classify', golden, '--mask-tokens', '-1'],
    ['classify', golden, '--compute', 'f64'],
    ['classify', golden, '--threads', '0'],
    ['init', 'config.json', 'folder'],
    ['bench', golden, '--lengths', '0'],
  ]) {
    const { status, stderr, stdout } = glassformer(args);
    assert.equal(status, 2, args.join(' '));
    assert.equal(stdout, '');
    assert.notEqual(stderr, '');
  }
  assert.equal(glassformer(['--help']).status, 0);
  const lines = join(golden, 'config.json');
  const { stderr } = glassformer(['classify', golden, lines]);
  assert.match(stderr, /lines are read from standard input: < .*config\.json\n/);
  assert.match(
    glassformer(['trace', golden, '--names', 'encoder.**', '--out', 'none'], 'a film\n').stderr,
    /trace: expected \*, .* got \*\* in "encoder\.\*\*"/,
  );
  mkdirSync(join(scratch, 'empty'));
  assert.match(
    glassformer(['classify', join(scratch, 'empty')], 'a film\n').stderr,
    /missing_file: .*empty: config\.json: expected/,
  );
});

test('missing and damaged files exit with 1 and are named', () => {
  const fails = (args, pattern) => {
    const { status, stderr } = glassformer(args, 'a film\n');
    assert.equal(status, 1, args.join(' '));
    assert.match(stderr, pattern);
  };
  fails(['classify', join(scratch, 'nowhere')], /nowhere: expected a model folder/);
  fails(['classify', golden, '--ablate', '9.0'], /ablate: expected layers below 2/);

  const truncated = copyOfModel('truncated');
  truncateSync(join(truncated, 'model.safetensors'), 2000);
  fails(['classify', truncated], /invalid_safetensors/);

  const renamed = copyOfModel('renamed');
  const file = join(renamed, 'model.safetensors');
  const bytes = readFileSync(file);
  bytes.write('encoder.layers.0.fc9', bytes.indexOf('encoder.layers.0.fc1.weight'));
  writeFileSync(file, bytes);
  fails(['inspect', renamed], /encoder\.layers\.0\.fc1\.weight/);

  const mistyped = copyOfModel('mistyped');
  const config = JSON.parse(readFileSync(join(mistyped, 'config.json'), 'utf8'));
  writeFileSync(join(mistyped, 'config.json'), JSON.stringify({ ...config, n_heads: '4' }));
  fails(['inspect', mistyped], /invalid_config.*n_heads/);
});

test("one line out of range is that line's error only", () => {
  const { status, lines } = glassformer(
    ['classify', golden, '--mask-tokens', '9'],
    'a\nthe plot makes no sense\n',
  );
  assert.equal(status, 1);
  assert.equal(lines[0], 'error\tinvalid_option');
  assert.match(lines[1], /^(positive|negative)\t/);
});

test('fill: the tokens of each mask, a line without one is refused', () => {
  const folder = join(root, 'tests/fixtures/checkpoints/bert_masks');
  const lines = ['The film is [MASK].', 'no mask', '[MASK] loved the [MASK]'];
  const { status, stdout, stderr } = glassformer(
    ['fill', folder, '--top-k', '2'],
    lines.join('\n'),
  );
  assert.equal(status, 1);
  assert.match(stderr, /line 2: .*\[MASK\]/);
  const [one, refused, two] = stdout.trimEnd().split('\n');
  assert.match(one, /^\S+\t0\.\d{6}\t\S+\t0\.\d{6}$/);
  assert.match(refused, /^error\tinvalid_option/);
  assert.equal(two.split('\t').length, 8);
  const json = glassformer(['fill', folder, '--top-k', '2', '--json'], lines[0]);
  const { masks } = JSON.parse(json.stdout);
  assert.deepEqual(
    one.split('\t'),
    masks[0].answers.flatMap(({ token, score }) => [token, score.toFixed(6)]),
  );
});

test('answer: with --handle-impossible-answer, the answer may be empty', () => {
  const folder = join(root, 'tests/fixtures/checkpoints/bert_answer');
  const input = 'When does it leave?\tThe train leaves at seven.\n';
  const [plain, either] = [[], ['--handle-impossible-answer']].map((more) => {
    const { status, stdout } = glassformer(['answer', folder, '--json', ...more], input);
    assert.equal(status, 0);
    return JSON.parse(stdout);
  });
  assert.ok(plain.answer.length > 0);
  assert.ok(either.score >= plain.score);
  if (either.score > plain.score) assert.equal(either.answer, '');
});

test('every command refuses a name on a model hub and gives the cure', () => {
  for (const args of [['inspect'], ['classify'], ['quantize'], ['convert']]) {
    const out = args[0] === 'quantize' || args[0] === 'convert' ? ['out'] : [];
    const { status, stderr } = glassformer([...args, 'hf:owner/name', ...out]);
    assert.equal(status, 1);
    assert.match(stderr, /unsupported.*hf:owner\/name/);
  }
});
