// The `glassformer` command with hostile or damaged published checkpoints: it soon prints a message
// that names the field, and never crashes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command, glassformer, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-published-'));
after(() => rmSync(scratch, { recursive: true }));

let count = 0;
const fresh = () => join(scratch, String(++count));
const checkpoint = (name) => join(root, 'tests/fixtures/checkpoints', name);
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Copies a checkpoint. `changes` maps names of JSON files to functions that change them. */
function changed(name, changes) {
  const folder = fresh();
  cpSync(checkpoint(name), folder, { recursive: true });
  for (const [file, change] of Object.entries(changes)) {
    const path = join(folder, file);
    const json = existsSync(path) ? readJson(path) : {};
    writeFileSync(path, JSON.stringify(change(json) ?? json));
  }
  return folder;
}

const withConfig = (name, fields) =>
  changed(name, { 'config.json': (json) => Object.assign(json, fields) });
const withTokenizer = (name, change) => changed(name, { 'tokenizer.json': change });

function assertFails({ status, stderr, stdout }, pattern) {
  assert.equal(status, 1, stderr);
  assert.match(stderr, pattern);
  assert.match(stderr, /^glassformer: .*\n$/);
  assert.equal(stdout, '');
}

/** Classifies one line, and expects an error. */
function assertLineFails({ status, stderr, stdout }, pattern) {
  assert.equal(status, 1, stderr);
  assert.match(stderr, pattern);
  assert.match(stdout, /^error\t\w+\n$/);
}

// Sets the id of the last special token of a tokenizer's template.
function setLastSpecial(json, id) {
  const { special_tokens: specials, sep } = json.post_processor;
  if (specials) Object.values(specials).at(-1).ids = [id];
  else sep[1] = id;
}

test('a template token without a row in the table is refused when the folder is opened', () => {
  const commands = {
    bert_sequence: 'classify',
    roberta_sequence: 'classify',
    xlm_roberta_tokens: 'ner',
    bert_answer: 'answer',
    bert_embed: 'embed',
    flan_t5: 'generate',
  };
  for (const [name, verb] of Object.entries(commands)) {
    const rows = readJson(join(checkpoint(name), 'config.json')).vocab_size;
    for (const id of [rows, 2 ** 24, 2 ** 31 - 1]) {
      const folder = withTokenizer(name, (json) => setLastSpecial(json, id));
      const message = new RegExp(
        `invalid_tokenizer: the tokenizer's template: expected ids below \\d+, got ${id}`,
      );
      assertFails(glassformer([verb, folder], 'a\tfilm\n'), message);
      assertFails(glassformer(['inspect', folder]), message);
      const out = fresh();
      assertFails(glassformer(['convert', folder, out]), message);
      assert.equal(existsSync(out), false);
    }
  }
});

const padding = {
  content: '[PAD2]',
  ...{ single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
};

test('a checkpoint with more tokens than rows opens; only texts with such a token are refused', () => {
  for (const [name, verb] of [
    ['bert_sequence', 'classify'],
    ['bert_embed', 'embed'],
    ['bert_answer', 'answer'],
    ['mt5', 'generate'],
  ]) {
    const rows = readJson(join(checkpoint(name), 'config.json')).vocab_size;
    // An added token gets the next free id, so all ids below the number of rows are used first.
    const folder = withTokenizer(name, (json) => {
      const { vocab } = json.model;
      const tokens = Array.isArray(vocab) ? vocab.map(([token]) => token) : Object.keys(vocab);
      const taken = new Set([...tokens, ...json.added_tokens.map(({ content }) => content)]);
      for (let id = taken.size; id < rows; id++) {
        json.added_tokens.push({ ...padding, id, content: `[FREE${id}]` });
      }
      json.added_tokens.push({ ...padding, id: rows });
    });
    const text = verb === 'answer' ? 'a\tb film' : 'a film';
    const expected = glassformer([verb, checkpoint(name)], `${text}\n`);
    assert.equal(expected.status, 0, expected.stderr);
    const { status, stdout, stderr } = glassformer([verb, folder], `${text}\n${text}[PAD2]\n`);
    assert.equal(status, 1);
    assert.equal(stdout, `${expected.stdout}error\tinvalid_tokenizer\n`, name);
    const message = `token "[PAD2]" has id ${rows}, but the embedding table has ${rows} rows`;
    assert.ok(stderr.includes(message), stderr);
    // After conversion, the answer is the same.
    const out = fresh();
    assert.equal(glassformer(['convert', folder, out]).status, 0);
    assert.equal(glassformer([verb, out], `${text}\n`).stdout, expected.stdout);
  }
});

test('a special token without a row is named', () => {
  const rows = readJson(join(checkpoint('bert_sequence'), 'config.json')).vocab_size;
  const folder = withTokenizer('bert_sequence', (json) => {
    json.added_tokens.push({ id: rows, ...padding });
    setLastSpecial(json, rows);
  });
  const message = new RegExp(
    `token "\\[PAD2\\]" has id ${rows}, but the embedding table has ${rows} rows`,
  );
  assertFails(glassformer(['classify', folder], 'a\n'), message);
});

test('an index without tensors and an index with thousands of files are refused', () => {
  const index = (weight_map) =>
    changed('bert_shards', { 'model.safetensors.index.json': () => ({ weight_map }) });
  for (const verb of ['classify', 'inspect']) {
    assertFails(glassformer([verb, index({})], 'a\n'), /weight_map: expected at least one tensor/);
    const many = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, i) => [`t${i}`, `f${i}.safetensors`]),
    );
    assertFails(glassformer([verb, index(many)], 'a\n'), /weight_map: expected at most 512 files/);
  }
});

test('a configuration with larger sizes than the weights is refused', () => {
  for (const [name, verb, field, most] of [
    ['bert_sequence', 'classify', 'num_hidden_layers', 2],
    ['distilbert_sequence', 'classify', 'n_layers', 2],
    ['gpt2_generate', 'generate', 'n_layer', 2],
    ['t5', 'generate', 'num_layers', 2],
    ['t5', 'generate', 'num_decoder_layers', 2],
    ['marian', 'translate', 'encoder_layers', 2],
    ['marian', 'translate', 'decoder_layers', 2],
    ['bert_sequence', 'classify', 'vocab_size'],
    ['bert_sequence', 'classify', 'hidden_size'],
    ['bert_sequence', 'classify', 'intermediate_size'],
    ['bert_sequence', 'classify', 'max_position_embeddings'],
    ['bert_sequence', 'classify', 'type_vocab_size'],
    ['bert_sequence', 'classify', 'num_attention_heads'],
    ['deberta_sequence', 'classify', 'position_buckets'],
    ['deberta_tokens', 'ner', 'max_relative_positions'],
    ['gpt2_generate', 'generate', 'n_positions'],
    ['t5', 'generate', 'd_ff'],
    ['t5', 'generate', 'd_kv'],
    ['t5', 'generate', 'num_heads'],
    ['t5', 'generate', 'relative_attention_num_buckets'],
  ]) {
    const folder = withConfig(name, { [field]: 2 ** 24 });
    const started = performance.now();
    const message = most
      ? `${field}: expected at most ${most}, the layers that the weights have, got 16777216`
      : `${field}: expected at most \\d+, the largest dimension in the weights, got 16777216`;
    assertFails(glassformer([verb, folder], 'a\n'), new RegExp(`invalid_config: .*${message}`));
    assert.ok(performance.now() - started < 10_000, field);
  }
});

test('a pattern with many wildcards takes little time', () => {
  const out = fresh();
  for (const pattern of [`${'*.'.repeat(30)}x`, `${'*a'.repeat(2000)}x`]) {
    const result = glassformer(
      ['trace', checkpoint('gpt2_generate'), '--names', pattern, '--out', out],
      'a\n',
    );
    assertFails(
      result,
      /trace: expected tensors of this model, got ".*it has decoder\.embed_tokens/,
    );
  }
});

test('non-finite numbers, and numbers outside an option’s range, are refused', () => {
  const generate = (...options) =>
    glassformer(['generate', checkpoint('gpt2_generate'), ...options], 'The fox\n');
  const temperature = (got) => new RegExp(`--temperature: expected 0 to 1000, got ${got}`);
  for (const got of ['inf', 'nan', '-inf', '-1', '1001']) {
    assertFails(generate(`--temperature=${got}`), temperature(got));
  }
  for (const got of ['1e-45', '1e-31']) {
    assertFails(
      generate(`--temperature=${got}`),
      /--temperature: expected 0, or at least 1e-30, got/,
    );
  }
  assertFails(generate('--temperature', '1e39'), temperature('inf'));
  for (const got of ['inf', 'nan', '2', '-0.1']) {
    const message = new RegExp(`--top-p: expected 0 to 1, got ${got}`);
    assertFails(generate(`--top-p=${got}`), message);
  }
  for (const got of ['inf', 'nan', '11']) {
    const message = new RegExp(`--length-penalty: expected -10 to 10, got ${got}`);
    assertFails(generate('--beams', '2', '--length-penalty', got), message);
  }
  assertFails(
    generate('--repetition-penalty', '1e39'),
    /--repetition-penalty: expected .*, got inf/,
  );
  for (const field of ['temperature', 'top_p', 'length_penalty', 'repetition_penalty']) {
    for (const number of [1e39, -1e39]) {
      const folder = changed('gpt2_generate', {
        'generation_config.json': (json) => ({ ...json, do_sample: true, [field]: number }),
      });
      assertFails(
        glassformer(['generate', folder], 'a\n'),
        new RegExp(`${field}: expected a number within the range of floats, got -?1e\\+39`),
      );
    }
  }
});

/** Copies a checkpoint; the weights of this name make activations exceed the range of floats. */
function overflowing(name, part) {
  const folder = changed(name, {});
  const file = join(folder, 'model.safetensors');
  const bytes = readFileSync(file);
  const size = Number(bytes.readBigUInt64LE());
  const header = JSON.parse(bytes.subarray(8, 8 + size));
  const [, tensor] = Object.entries(header).find(([key]) => key.includes(part));
  const [begin, end] = tensor.data_offsets;
  for (let at = begin; at < end; at += 4) bytes.writeFloatLE(3e38, 8 + size + at);
  writeFileSync(file, bytes);
  return folder;
}

test('what the library reads in addition to a model is refused by name', () => {
  const adapted = changed('bert_sequence', { 'adapter_config.json': () => ({ r: 8 }) });
  assertFails(glassformer(['classify', adapted], 'a\n'), /adapter_config\.json: expected a whole/);
  const causal = changed('qwen3', {
    'modules.json': () => [{ type: 'sentence_transformers.models.Transformer', path: '' }],
  });
  for (const command of ['embed', 'generate'])
    assertFails(glassformer([command, causal], 'a\n'), /modules\.json: expected a Transformer/);
});

test('tokenizer_config.json decides whether words begin with a space', () => {
  const withSpace = (name, type) =>
    changed(name, {
      'tokenizer_config.json': (json) =>
        Object.assign(json, { add_prefix_space: true, tokenizer_class: type }),
    });
  const folder = withSpace('gpt_neox', 'GPTNeoXTokenizer');
  const ids = (model, text) => glassformer(['tokenize', model], `${text}\n`).lines;
  assert.deepEqual(ids(folder, 'the old house'), ['265 271 338 222 73 274 84 70']); // transformers 5.12.1
  assert.notDeepEqual(ids(folder, 'the old house'), ids(checkpoint('gpt_neox'), 'the old house'));
  const qwen2 = withSpace('qwen2', 'Qwen2Tokenizer');
  assertFails(glassformer(['tokenize', qwen2], 'a\n'), /add_prefix_space: expected false/);
});

test('a non-finite explanation is an error with every method and in every form', () => {
  const classifier = overflowing('bert_sequence', 'layer.1.output.dense.weight');
  const answers = [
    [classifier, 'rollout'],
    [classifier, 'value_norms'],
    [classifier, 'value_zeroing'],
    [classifier, 'lens'],
    [classifier, 'direct_logit_attribution'],
    [classifier, 'direct_logit_attribution', '--effects'],
    [classifier, 'faithfulness'],
    [classifier, 'circuit'],
    [classifier, 'edges', '--edges', '0.0.0.0'],
    [classifier, 'activation_patching'],
  ];
  const writer = overflowing('gpt2_generate', 'h.1.mlp.c_proj.weight');
  for (const method of [
    'rollout',
    'value_norms',
    'value_zeroing',
    'lens',
    'direct_logit_attribution',
  ])
    answers.push([writer, method]);
  for (const [folder, method, ...options] of answers) {
    const text = method === 'activation_patching' ? 'a film\ta book\n' : 'a film or not\n';
    const args = ['explain', folder, '--method', method, ...options];
    assertLineFails(glassformer(args, text), /expected finite/);
    const { status, lines } = glassformer([...args, '--json'], text);
    assert.equal(status, 1);
    assert.equal(JSON.parse(lines[0]).error.code, 'non_finite', method);
  }
});

test('a text that its tokenizer multiplies is refused', () => {
  const doubling = { type: 'Replace', pattern: { String: 'a' }, content: 'aa' };
  const of = (type, list, steps) => ({ type, [list]: steps });
  const thirty = (step) => Array(30).fill(step);
  const byteLevel = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true };
  const long = { ...doubling, content: 'a'.repeat(10_000) };
  for (const fields of [
    { normalizer: of('Sequence', 'normalizers', thirty(doubling)) },
    { normalizer: of('Sequence', 'normalizers', [long, long, long]) },
    {
      normalizer: of(
        'Sequence',
        'normalizers',
        Array(6).fill(of('Sequence', 'normalizers', Array(5).fill(doubling))),
      ),
    },
    { normalizer: of('Sequence', 'normalizers', thirty({ type: 'ByteLevel' })) },
    { normalizer: { type: 'Prepend', prepend: 'x'.repeat(200_000) } },
    { pre_tokenizer: of('Sequence', 'pretokenizers', thirty(byteLevel)) },
  ]) {
    const folder = withTokenizer('bert_sequence', (json) => Object.assign(json, fields));
    const message = /text: expected at most \d+ characters after normalization, got more/;
    assertLineFails(glassformer(['classify', folder], 'á a film\n'), message);
  }
  const decoding = withTokenizer('bert_sequence', (json) => {
    json.decoder = of('Sequence', 'decoders', thirty(doubling));
  });
  const { lines } = glassformer(['classify', decoding, '--json'], 'a film\n');
  assert.match(JSON.parse(lines[0]).error.message, /decoder: expected tokens to become at most/);
});

test('the time for one long word is linear in its length', () => {
  const add = (length) => (json) => {
    const vocabulary = json.model.vocab;
    if (Array.isArray(vocabulary)) return void vocabulary.push(['b'.repeat(length), -1]);
    const next = Math.max(...Object.values(vocabulary)) + 1;
    vocabulary['b'.repeat(length)] = next;
    vocabulary[`##${'b'.repeat(length)}`] = next + 1;
    json.model.max_input_chars_per_word = 1e9;
  };
  const word = `${'b'.repeat(30_000)}c\n`;
  for (const name of ['bert_sequence', 'xlm_roberta_sequence']) {
    assertFails(
      glassformer(['tokenize', withTokenizer(name, add(30_000))], word),
      /vocabulary: token "b+\.\.\.": expected at most 2048 bytes, got 300/,
    );
    const { status } = glassformer(['tokenize', withTokenizer(name, add(2000))], word);
    assert.equal(status, 0);
  }
});

test('a search in which every token is forbidden ends without an error', () => {
  for (const [name, verb] of [
    ['marian', 'translate'],
    ['t5', 'generate'],
  ]) {
    const { vocab_size: size } = readJson(join(checkpoint(name), 'config.json'));
    const folder = changed(name, {
      'generation_config.json': (json) => ({
        ...json,
        bad_words_ids: Array.from({ length: size }, (_, id) => [id]),
        min_length: 5,
      }),
    });
    for (const options of [[], ['--json', '--attention', '--beams', '2']]) {
      const { status, stderr } = glassformer([verb, folder, ...options], 'ab ac\n');
      assert.equal(status, 0, stderr);
    }
    const out = fresh();
    const names = ['--names', 'decoder.layers.*.output', '--out', out];
    assert.equal(glassformer(['trace', folder, ...names], 'ab ac\n').status, 0);
    if (verb === 'generate') continue;
    for (const method of ['rollout', 'lens', 'decoder_lens']) {
      const { status, stderr } = glassformer(['explain', folder, '--method', method], 'ab ac\n');
      assert.equal(status, 0, stderr);
    }
  }
});

const contentsOf = (folder) =>
  readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]);

test('if two conversions write to one folder at once, one writes everything and the other nothing', async () => {
  const run = (from, to) =>
    new Promise((resolve) => {
      const child = spawn(command, ['convert', checkpoint(from), to]);
      let stderr = '';
      child.stderr.on('data', (data) => (stderr += data));
      child.on('close', (status) => resolve({ status, stderr }));
    });
  const sources = ['bert_sequence', 'bert_many_labels'];
  const whole = [];
  for (const source of sources) {
    const folder = fresh();
    assert.equal(glassformer(['convert', checkpoint(source), folder]).status, 0);
    whole.push(contentsOf(folder));
  }
  for (let round = 0; round < 20; ++round) {
    const out = join(fresh(), 'made');
    if (round % 2 === 1) mkdirSync(out, { recursive: true });
    const results = await Promise.all(sources.map((source) => run(source, out)));
    const winners = results.flatMap(({ status }, i) => (status === 0 ? [i] : []));
    assert.equal(winners.length, 1, JSON.stringify(results));
    assert.deepEqual(contentsOf(out), whole[winners[0]]);
    const { status, stderr } = results[1 - winners[0]];
    assert.equal(status, 1);
    assert.match(
      stderr,
      /: (exists already|another run is writing into it); nothing was written\n$/,
    );
    assert.doesNotMatch(stderr, /wrote/);
    assert.deepEqual(readdirSync(join(out, '..')), ['made']);
  }
});

// The state that the slower of two conversions finds when the other one has just ended.
test('a refused conversion leaves no temporary folder', () => {
  const out = fresh();
  mkdirSync(join(out, '.glassformer-unfinished'), { recursive: true });
  writeFileSync(join(out, 'config.json'), '{}');
  assertFails(glassformer(['convert', checkpoint('bert_sequence'), out]), /exists already/);
  assert.deepEqual(readdirSync(out), ['config.json']);
});

test('a failed conversion does not report success', () => {
  const [out, full] = [fresh(), fresh()];
  mkdirSync(full);
  writeFileSync(join(full, 'config.json'), '{}');
  const folder = withConfig('bert_sequence', { id2label: { 0: 'a\nb', 1: 'c' } });
  assertFails(glassformer(['convert', folder, out]), /labels: expected no control characters/);
  assert.equal(existsSync(out), false);
  assertFails(glassformer(['convert', checkpoint('bert_sequence'), full]), /exists already/);
});

test('control characters in files are not printed to the terminal', () => {
  const escape = '\x1b[2J';
  const labels = changed('bert_sequence', {
    'config.json': ({ id2label }) => {
      for (const id of Object.keys(id2label)) id2label[id] = `${id}${escape}\n`;
    },
  });
  const { stdout } = glassformer(['classify', labels], 'a film\n');
  assert.match(stdout, /^\d\\x1b\[2J\\n\t\d\.\d+\n$/);
  const folder = withConfig('bert_sequence', { model_type: `be${escape}\0rt` });
  const { stderr } = glassformer(['classify', folder], 'a\n');
  assert.doesNotMatch(stderr.slice(0, -1), /[\0-\x1f]/);
  const missing = glassformer(['classify', join(scratch, `none${escape}`)], 'a\n');
  assert.match(missing.stderr, /none\\x1b\[2J: expected a model folder, got none\n$/);
  const long = glassformer(
    ['trace', checkpoint('gpt2_generate'), '--names', 'x'.repeat(70_000), '--out', fresh()],
    'a\n',
  );
  assert.ok(long.stderr.length < 5000);
});
