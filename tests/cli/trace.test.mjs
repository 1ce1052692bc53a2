// `glassformer trace`: it writes a safetensors file that Python can read, with the same numbers as
// PyTorch.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { glassformer, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-trace-'));
after(() => rmSync(scratch, { recursive: true }));
const goldens = join(root, 'tests/fixtures/golden');
const checkpoints = join(root, 'tests/fixtures/checkpoints');

// Reads a safetensors file, like a Python program that only knows the format.
const reader = `
import array, json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", data[:8])[0]
header = json.loads(data[8:8 + size])
tensors, end = {}, 0
for name, entry in header.items():
    if name == "__metadata__": continue
    assert entry["dtype"] == "F32"
    first, last = entry["data_offsets"]
    assert first == end and (8 + size + first) % 4 == 0
    end = last
    values = array.array("f", data[8 + size + first:8 + size + last])
    if sys.byteorder == "big": values.byteswap()
    tensors[name] = [entry["shape"], [str(value) for value in values]]
assert 8 + size + end == len(data)
json.dump(tensors, sys.stdout)
`;
const special = { inf: Infinity, '-inf': -Infinity, nan: NaN };

function read(file) {
  const output = execFileSync('python3', ['-c', reader, file], { maxBuffer: 2 ** 28 });
  return Object.fromEntries(
    Object.entries(JSON.parse(output)).map(([name, [shape, texts]]) => {
      const values = texts.map((text) => special[text] ?? Number(text));
      assert.equal(
        values.length,
        shape.reduce((product, extent) => product * extent, 1),
        name,
      );
      return [name, { shape, values }];
    }),
  );
}

let files = 0;
function trace(model, names, lines, more = []) {
  const out = join(scratch, `${files++}.safetensors`);
  const args = ['trace', model, '--names', names.join(','), '--out', out, ...more];
  const run = glassformer(args, lines.map((line) => `${line}\n`).join(''));
  return { ...run, out, tensors: existsSync(out) ? read(out) : undefined };
}

function assertNear(got, expected, tolerance, what) {
  assert.equal(got.length, expected.length, what);
  expected.forEach((value, i) =>
    assert.ok(
      got[i] === value || Math.abs(got[i] - value) <= tolerance,
      `${what}[${i}]: ${got[i]}, expected ${value}`,
    ),
  );
}

const models = readdirSync(goldens);
for (const name of models.filter((model) => !model.startsWith('translate_'))) {
  test(`${name}: the numbers of PyTorch, for several lines`, () => {
    const folder = join(goldens, name);
    const golden = JSON.parse(readFileSync(join(folder, 'golden.json'), 'utf8'));
    const expected = read(join(folder, 'golden.safetensors'));
    const names = Object.keys(expected).filter((key) => !/^(attention|contributions)\./.test(key));
    assert.ok(names.includes('logits') && names.includes('encoder.layers.0.output'));
    const { status, stdout, tensors } = trace(folder, names, golden.texts);
    assert.equal(status, 0);
    assert.equal(stdout, '');
    assert.equal(Object.keys(tensors).length, names.length * golden.texts.length);
    for (const tensor of names) {
      const parts = golden.texts.map((_, line) => tensors[`${line}/${tensor}`]);
      // The golden has the rows of all texts in one tensor.
      const rows = parts.map(({ shape }) => (shape.length > 1 ? shape[0] : 1));
      assert.equal(
        rows.reduce((sum, count) => sum + count),
        expected[tensor].shape[0],
      );
      const values = parts.flatMap((part) => part.values);
      assertNear(values, expected[tensor].values, golden.tolerance[tensor][0], tensor);
    }
  });
}

for (const name of models) {
  test(`${name}: exactly the tensors of PyTorch`, () => {
    const folder = join(goldens, name);
    const golden = JSON.parse(readFileSync(join(folder, 'golden.json'), 'utf8'));
    const expected = read(join(folder, 'golden.trace.safetensors'));
    const [line] = Object.keys(expected)[0].split('/');
    const everything = ['*', '*.*', '*.*.*.*', '*.*.*.*.*'];
    const { tensors } = trace(folder, everything, [golden.texts[line]]);
    const names = Object.keys(tensors).map((tensor) => `${line}/${tensor}`);
    assert.deepEqual(names.sort(), Object.keys(expected).sort());
    for (const [tensor, { shape, values }] of Object.entries(tensors)) {
      // The decoder reads its own translation here.
      if (name.startsWith('translate_') && !tensor.startsWith('encoder.')) continue;
      const known = expected[`${line}/${tensor}`];
      assert.deepEqual(shape, known.shape, tensor);
      const largest = Math.max(...known.values.filter(Number.isFinite).map(Math.abs));
      assertNear(values, known.values, 1e-5 * largest, tensor);
    }
  });
}

test('one line has plain names, and a pattern stands for every layer', () => {
  const { status, tensors } = trace(
    join(goldens, 'pre_norm_mean'),
    ['encoder.layers.*.self_attn.scores', 'encoder.layers.*.self_attn.weights'],
    ['a film'],
  );
  assert.equal(status, 0);
  const names = ['0.self_attn.scores', '0.self_attn.weights'];
  names.push('1.self_attn.scores', '1.self_attn.weights');
  assert.deepEqual(
    Object.keys(tensors).sort(),
    names.map((name) => `encoder.layers.${name}`),
  );
  for (const layer of [0, 1]) {
    const { shape, values } = tensors[`encoder.layers.${layer}.self_attn.scores`];
    const weights = tensors[`encoder.layers.${layer}.self_attn.weights`].values;
    const [, , keys] = shape;
    for (let row = 0; row < values.length; row += keys) {
      const exponentials = values.slice(row, row + keys).map(Math.exp);
      const sum = exponentials.reduce((total, value) => total + value);
      const softmax = exponentials.map((value) => value / sum);
      assertNear(weights.slice(row, row + keys), softmax, 1e-5, 'softmax of the scores');
    }
  }
});

for (const name of models.filter((model) => model.startsWith('translate_'))) {
  test(`${name}: encoder, decoder and cross-attention`, () => {
    const folder = join(goldens, name);
    const { status, stdout, tensors } = trace(
      folder,
      ['encoder.output', 'decoder.layers.*.encoder_attn.weights', 'logits'],
      ['the plot makes no sense'],
      ['--json'],
    );
    assert.equal(status, 0);
    const [sentence] = JSON.parse(stdout).sentences;
    const expected = glassformer(
      ['translate', folder, '--json', '--attention'],
      'the plot makes no sense\n',
    );
    const [translated] = JSON.parse(expected.stdout).sentences;
    assert.equal(sentence.text, translated.text);
    assert.equal(sentence.trace, undefined);
    const { layers, heads, queries, keys, data } = translated.attention.cross;
    const bytes = Buffer.from(data, 'base64');
    const size = heads * queries * keys;
    for (let layer = 0; layer < layers; ++layer) {
      const { shape, values } = tensors[`decoder.layers.${layer}.encoder_attn.weights`];
      assert.deepEqual(shape, [heads, queries, keys]);
      values.forEach((value, i) =>
        assert.equal(Math.fround(value), bytes.readFloatLE(4 * (layer * size + i))),
      );
    }
    const { shape, values } = tensors.logits;
    assert.equal(shape[0], sentence.tokens.length);
    // The log-probability of each token of the answer, from the logits in the file.
    sentence.tokens.forEach(({ id, logprob }, row) => {
      const logits = values.slice(row * shape[1], (row + 1) * shape[1]);
      const sum = logits.reduce((total, logit) => total + Math.exp(logit), 0);
      assert.ok(Math.abs(logits[id] - Math.log(sum) - logprob) < 1e-4);
    });
    assert.equal(tensors['encoder.output'].shape[0], sentence.sourceTokens.length);
  });
}

test('with several sentences in a line, names contain the sentence numbers', () => {
  const { tensors } = trace(
    join(goldens, 'translate_pre_norm_shared'),
    ['encoder.output'],
    ['the film. a heart.', 'a film'],
  );
  assert.deepEqual(Object.keys(tensors).sort(), [
    '0/0/encoder.output',
    '0/1/encoder.output',
    '1/encoder.output',
  ]);
});

for (const [name, lines, names] of [
  ['bert_sequence', ["New York isn't Köln"], ['pooled', 'head.dense', 'encoder.embed_types']],
  ['bert_tokens', ["New York isn't Köln"], ['encoder.layers.1.fc1', 'logits']],
  ['roberta_answer', ['Who is it?\tIt is New York.'], ['encoder.layers.0.input', 'logits']],
  ['bert_embed', ['New York'], ['encoder.embeddings', 'encoder.output']],
]) {
  test(`${name}: every task has a trace`, () => {
    const { status, tensors, stdout } = trace(join(checkpoints, name), names, lines, ['--json']);
    assert.equal(status, 0);
    assert.deepEqual(Object.keys(tensors).sort(), [...names].sort());
    const result = JSON.parse(stdout);
    for (const { shape } of Object.values(tensors)) {
      if (shape.length > 1) assert.equal(shape[0], result.tokens.length);
    }
  });
}

test('the numbers of the original library between text and answer', () => {
  const folder = join(checkpoints, 'bert_sequence');
  const { texts } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  const expected = read(join(folder, 'expected.safetensors'));
  const names = Object.keys(expected)
    .filter((name) => name.startsWith('0/'))
    .map((name) => name.slice(2));
  assert.ok(names.length > 30);
  const { text, pair } = texts[0];
  const line = pair === undefined ? text : `${text}\t${pair}`;
  const { tensors } = trace(folder, names, [line], pair === undefined ? [] : ['--pairs']);
  for (const name of names) {
    assert.deepEqual(tensors[name].shape, expected[`0/${name}`].shape, name);
    assertNear(tensors[name].values, expected[`0/${name}`].values, 1e-4, name);
  }
});

test('a refused line has no tensors, and the other lines do', () => {
  const model = join(goldens, 'pre_norm_mean');
  const some = trace(model, ['logits'], ['a film', '', 'meh'], ['--json']);
  assert.equal(some.status, 1);
  assert.match(some.stderr, /line 2: .*expected at least one token/);
  assert.deepEqual(Object.keys(some.tensors), ['0/logits', '2/logits']);
  assert.equal(JSON.parse(some.lines[1]).error.code, 'empty_input');

  const none = trace(model, ['logits'], ['']);
  assert.equal(none.status, 1);
  assert.match(none.stderr, /nothing was written/);
  assert.ok(!existsSync(none.out));
});

test('wrong names are refused before a line is read, and no file is overwritten', () => {
  const model = join(goldens, 'pre_norm_mean');
  const unknown = trace(model, ['encoder.layers.2.output'], ['a film']);
  assert.equal(unknown.status, 1);
  assert.match(
    unknown.stderr,
    /invalid_option: trace: expected tensors of this model, got "encoder/,
  );
  assert.match(unknown.stderr, /encoder\.layers\.0-1\.self_attn\.q/);
  assert.ok(!existsSync(unknown.out));

  const out = join(scratch, 'kept.safetensors');
  const args = ['trace', model, '--names', 'logits', '--out', out];
  assert.equal(glassformer(args, 'a film\n').status, 0);
  const bytes = readFileSync(out);
  const again = glassformer(args, 'another film\n');
  assert.equal(again.status, 1);
  assert.match(again.stderr, /kept\.safetensors: exists already/);
  assert.ok(readFileSync(out).equals(bytes));

  assert.equal(glassformer(['trace', model, '--out', out], '').status, 2);
  assert.equal(glassformer(['trace', model, '--names', 'logits'], '').status, 2);
});

// Writes a file for `--patch`.
function writePatch(name, tensors) {
  const out = join(scratch, name);
  const chunks = [];
  const header = {};
  let end = 0;
  for (const [key, { shape, values }] of Object.entries(tensors)) {
    const bytes = Buffer.from(Float32Array.from(values).buffer);
    header[key] = { dtype: 'F32', shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    chunks.push(bytes);
  }
  const json = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(out, Buffer.concat([size, json, ...chunks]));
  return out;
}

test('--patch: a tensor’s own value changes nothing, another text’s value changes the answer', () => {
  const folder = join(goldens, 'pre_norm_mean');
  const [here, there] = ['a film', 'film a'].map((line) => ({
    line,
    plain: glassformer(['classify', folder, '--json'], `${line}\n`).stdout,
    trace: trace(folder, ['encoder.layers.0.output'], [line]),
  }));
  const patched = (command, patch, input, more = []) =>
    glassformer([command, folder, '--json', '--patch', patch, ...more], `${input}\n`);
  assert.equal(patched('classify', here.trace.out, here.line).stdout, here.plain);
  const carried = patched('classify', there.trace.out, here.line);
  assert.equal(carried.status, 0);
  const { scores } = JSON.parse(carried.stdout);
  assert.deepEqual(scores, JSON.parse(there.plain).scores);
  assert.notDeepEqual(scores, JSON.parse(here.plain).scores);

  // Only one row; the other rows keep their values.
  const { shape, values } = there.trace.tensors['encoder.layers.0.output'];
  const row = { shape: [1, shape[1]], values: values.slice(shape[1], 2 * shape[1]) };
  const one = writePatch('row.safetensors', { 'encoder.layers.0.output': row });
  const out = join(scratch, 'patched.safetensors');
  const names = ['--names', 'encoder.layers.1.input', '--out', out, '--patch', one];
  const traced = glassformer(['trace', folder, ...names, '--patch-tokens', '1'], 'a film\n');
  assert.equal(traced.status, 0, traced.stderr);
  const after = read(out)['encoder.layers.1.input'].values;
  const before = here.trace.tensors['encoder.layers.0.output'].values;
  assert.deepEqual(after.slice(shape[1], 2 * shape[1]), row.values);
  assert.deepEqual(after.slice(0, shape[1]), before.slice(0, shape[1]));
});

test('--patch: a head’s context of zeros equals the ablated head, for every task', () => {
  for (const [command, model, input, head] of [
    ['classify', 'tests/fixtures/golden/pre_norm_mean', 'a film', '1.0'],
    ['translate', 'tests/fixtures/golden/translate_pre_norm_shared', 'the plot', 'encoder.1.0'],
  ]) {
    const folder = join(root, model);
    const { d_model, n_heads } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    const zeros = { shape: [], values: [0] };
    const patch = writePatch('zeros.safetensors', { 'encoder.layers.1.self_attn.context': zeros });
    assert.ok(d_model % n_heads === 0);
    const ablated = glassformer([command, folder, '--json', '--ablate', head], `${input}\n`);
    const patched = glassformer(
      [command, folder, '--json', '--patch', patch, '--patch-heads', '0'],
      `${input}\n`,
    );
    assert.equal(patched.status, 0, patched.stderr);
    assert.equal(patched.stdout, ablated.stdout);
  }
  const tagger = join(checkpoints, 'bert_tokens');
  const zeros = { shape: [], values: [0] };
  const patch = writePatch('tagger.safetensors', { 'encoder.layers.0.output': zeros });
  const [plain, patched] = [[], ['--patch', patch]].map(
    (more) => glassformer(['ner', tagger, '--json', ...more], 'Ann lives here\n').stdout,
  );
  assert.notEqual(patched, plain);
});

test('--patch: a tensor that does not fit is refused by name', () => {
  const folder = join(goldens, 'pre_norm_mean');
  const refused = (more, expected) => {
    const { status, stderr } = glassformer(['classify', folder, ...more], 'a film\n');
    assert.equal(status, 1);
    assert.match(stderr, expected);
  };
  refused(['--patch', join(scratch, 'none')], /missing_file.*none: cannot be read/);
  refused(['--patch-tokens', '1'], /invalid_option.*expected --patch FILE/);
  const number = { shape: [], values: [0] };
  const line = writePatch('line.safetensors', { '0/logits': number });
  refused(['--patch', line], /invalid_option.*a trace of one line, got 0\/logits/);
  const unknown = writePatch('unknown.safetensors', { 'encoder.layers.9.output': number });
  refused(['--patch', unknown], /invalid_option.*encoder\.layers\.9\.output/);
  const broken = join(scratch, 'broken.safetensors');
  writeFileSync(broken, 'no header');
  refused(['--patch', broken], /invalid_safetensors.*broken\.safetensors: header/);
});

test('--gradients writes the gradients of the answer, as PyTorch has them', () => {
  const folder = join(goldens, 'pre_norm_mean');
  const { text } = JSON.parse(readFileSync(join(folder, 'gradients.json'), 'utf8'));
  const { texts } = JSON.parse(readFileSync(join(folder, 'golden.json'), 'utf8'));
  const out = join(scratch, 'gradients.safetensors');
  const names = ['--names', 'encoder.embed_tokens,encoder.layers.*.self_attn.*', '--out', out];
  const traced = glassformer(['trace', folder, ...names, '--gradients'], `${texts[text]}\n`);
  assert.equal(traced.status, 0, traced.stderr);
  const expected = read(join(folder, 'gradients.safetensors'));
  const found = Object.entries(read(out));
  assert.ok(found.length > 10, `${found.length}`);
  for (const [name, { shape, values }] of found) {
    const golden = expected[`trace/${name}`];
    if (!golden) continue; // one that equals another
    assert.deepEqual(shape, golden.shape, name);
    values.forEach((value, i) => assert.ok(Math.abs(value - golden.values[i]) < 1e-4, name));
  }
});

test('--gradients of a model that writes are those of its next token', () => {
  const folder = join(checkpoints, 'llama');
  const plan = JSON.parse(readFileSync(join(folder, 'expected.gradients.json'), 'utf8'));
  const { texts } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  // PyTorch's are those of the likeliest token's lead over the runner-up, too.
  const { tensors, status, stderr } = trace(
    folder,
    ['decoder.embed_tokens', 'decoder.layers.*.self_attn.weights'],
    [texts[plan.text].text],
    ['--gradients'],
  );
  assert.equal(status, 0, stderr);
  const expected = read(join(folder, 'expected.gradients.safetensors'));
  assert.ok(Object.keys(tensors).length >= 2);
  for (const [name, { shape, values }] of Object.entries(tensors)) {
    assert.deepEqual(shape, expected[`trace/${name}`].shape, name);
    assertNear(values, expected[`trace/${name}`].values, 1e-4, name);
  }
  const translated = trace(
    join(goldens, 'translate_pre_norm_shared'),
    ['encoder.embed_tokens'],
    ['a film'],
    ['--gradients'],
  );
  assert.ok(translated.tensors['encoder.embed_tokens'].values.some((value) => value !== 0));
  const prefix = trace(folder, ['logits'], ['a film'], ['--gradients', '--no-prefix']);
  assert.equal(prefix.status, 1);
  assert.match(prefix.stderr, /invalid_option: --gradients: expected no --patch, --task/);
  const answers = trace(
    join(checkpoints, 't5'),
    ['encoder.embed_tokens'],
    ['a film'],
    ['--gradients'],
  );
  assert.ok(answers.tensors['encoder.embed_tokens'].values.some((value) => value !== 0));
});
