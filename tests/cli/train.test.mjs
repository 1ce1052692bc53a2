// `glassformer train`: new models and folders that learn further, from files of examples.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { command, glassformer, root } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-train-'));
after(() => rmSync(scratch, { recursive: true }));

let count = 0;
const fresh = () => join(scratch, String(++count));

/** Writes a file of lines and returns its path. */
function file(lines) {
  const path = fresh();
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

const config = fresh();
writeFileSync(config, JSON.stringify({ encoder_layers: 1, d_model: 32, d_ff: 64, n_heads: 2 }));

const good = ['a fine film', 'what a lovely story', 'great acting and a warm heart'];
const bad = ['a dull film', 'what a boring story', 'poor acting and a cold heart'];
const reviews = [...good.map((text) => `good\t${text}`), ...bad.map((text) => `bad\t${text}`)];
const quick = ['--epochs', '40', '--held-out', '0', '--vocabulary', '60'];

const train = (model, data, folder, ...options) =>
  glassformer(['train', model, data, folder, ...options]);

const logOf = (folder) =>
  readFileSync(`${folder}.log.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Reads the curves of a card: their points, and the words. */
function readCurves(path) {
  const svg = readFileSync(path, 'utf8');
  const [, title] = svg.match(/<title id="title">(.*)<\/title>/);
  const [, description] = svg.match(/<desc id="description">(.*)<\/desc>/);
  const labels = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
  const lines = [...svg.matchAll(/class="(?:training|held-out)" [^>]*d="M([^"]*)"/g)].map(
    ([, path]) => path.split('L').map((point) => point.split(' ').map(Number)),
  );
  return { title, description, labels, lines };
}

test('a new classifier learns its examples, and its folder is like any other', () => {
  const folder = fresh();
  const { status, stderr } = train(config, file(reviews), folder, ...quick);
  assert.equal(status, 0, stderr);
  const texts = [...good, ...bad].join('\n');
  const { lines } = glassformer(['classify', folder], texts);
  assert.deepEqual(
    lines.map((line) => line.split('\t')[0]),
    ['good', 'good', 'good', 'bad', 'bad', 'bad'],
  );
  const log = logOf(folder);
  assert.ok(log.at(-1).loss < log[0].loss, JSON.stringify(log));
  assert.equal(log.at(-1).accuracy, 1);
  assert.equal(log.at(-1).rate, 0);
  const written = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  assert.deepEqual(written.labels, ['bad', 'good']);
  assert.equal(written.encoder_layers, 1);
  assert.equal(written.pooling, 'mean');
  assert.equal(glassformer(['inspect', folder]).status, 0);
  assert.ok(!existsSync(`${folder}.checkpoint`));
});

test('the card of a model shows its curves and its options', () => {
  const folder = fresh();
  const data = file(Array.from({ length: 20 }, () => reviews).flat());
  const options = ['--epochs', '4', '--rate', '0.003', '--held-out', '0.25', '--keep-case'];
  const { status, stderr } = train(config, data, `${folder}/`, ...options);
  assert.equal(status, 0, stderr);
  const card = readFileSync(join(folder, 'README.md'), 'utf8');
  const log = logOf(folder);
  const last = log.at(-1);
  assert.match(card, new RegExp(`^# ${basename(folder)}\\n`));
  assert.match(card, /text-classification .* 90 examples of `\d+`/);
  assert.match(card, new RegExp(`in ${last.step} steps`));
  assert.match(card, new RegExp(`\\| held out, 30 \\| ${last.held_out_loss.toFixed(4)} \\|`));
  for (const [name, value] of [
    ['lessons', 'classes'],
    ['epochs', '4'],
    ['rate', '0.003'],
    ['optimizer', 'adamw'],
    ['keep-case', 'yes'],
    ['held-out', '0.25'],
    ['seed', '1'],
  ]) {
    assert.ok(card.includes(`| \`--${name}\` | ${value} |\n`), `${name}: ${card}`);
  }
  const [, picture] = card.match(/!\[Loss and right texts during training\]\((.*)\)/);
  const curves = readCurves(join(folder, picture));
  // Each curve of the picture falls and rises as the figures of the log do.
  for (const [i, name] of ['loss', 'held_out_loss', 'accuracy', 'held_out_accuracy'].entries()) {
    const points = curves.lines[i];
    assert.equal(points.length, log.length, name);
    for (let at = 1; at < log.length; ++at) {
      assert.ok(points[at][0] > points[at - 1][0], name);
      const change = log[at][name] - log[at - 1][name];
      const moved = points[at - 1][1] - points[at][1];
      if (Math.abs(change) > 0.02) assert.equal(Math.sign(moved), Math.sign(change), name);
    }
  }
  assert.match(curves.title, /^Loss and right texts during training$/);
  assert.match(curves.description, new RegExp(`Over ${last.step} steps`));
  assert.ok(curves.description.includes(` to ${last.held_out_loss.toFixed(3)}`));
  assert.ok(curves.labels.includes('steps') && curves.labels.includes('nats'));
  assert.ok(curves.labels.includes('%') && curves.labels.includes('held out'));
});

test('refused: a folder that has a card already, before the training', () => {
  const folder = fresh();
  mkdirSync(folder);
  writeFileSync(join(folder, 'README.md'), 'mine');
  const { status, stderr } = train(config, file(reviews), folder, ...quick);
  assert.equal(status, 1);
  assert.match(stderr, /README\.md: the file exists already/);
  assert.ok(!existsSync(`${folder}.log.jsonl`));
});

test('the same seed gives the same bytes, with any number of threads', () => {
  const data = file(reviews);
  const weights = (...options) => {
    const folder = fresh();
    const all = ['--epochs', '5', '--held-out', '0', '--vocabulary', '60', ...options];
    const { status, stderr } = train(config, data, folder, '--shard-tokens', '8', ...all);
    assert.equal(status, 0, stderr);
    return readFileSync(join(folder, 'model.safetensors'));
  };
  const one = weights();
  assert.deepEqual(weights('--threads', '3'), one);
  assert.notDeepEqual(weights('--seed', '2'), one);
});

test('a folder learns further, with a new head where the labels differ', () => {
  const first = fresh();
  assert.equal(train(config, file(reviews), first, ...quick).status, 0);
  const further = fresh();
  const same = ['--epochs', '1', '--held-out', '0'];
  assert.equal(train(first, file(reviews), further, ...same).status, 0);
  assert.deepEqual(
    readFileSync(join(further, 'tokenizer.model')),
    readFileSync(join(first, 'tokenizer.model')),
  );
  const other = fresh();
  const kinds = [...good.map((text) => `praise\t${text}`), ...bad.map((text) => `blame\t${text}`)];
  const { status, stderr } = train(first, file([...kinds, 'news\ta film']), other, ...quick);
  assert.equal(status, 0, stderr);
  const { lines } = glassformer(['classify', other], 'a dull film\n');
  assert.match(lines[0], /^blame\t/);
});

for (const name of ['bert_sequence', 'deberta_sequence']) {
  test(`a published checkpoint learns further: ${name}`, () => {
    const folder = fresh();
    const published = join(root, 'tests/fixtures/checkpoints', name);
    const options = ['--epochs', '60', '--held-out', '0'];
    const { status, stderr } = train(published, file(reviews), folder, ...options);
    assert.equal(status, 0, stderr);
    const { lines } = glassformer(['classify', folder], 'what a lovely story\n');
    assert.match(lines[0], /^good\t/);
  });
}

test('a writer learns texts, a translator pairs, an encoder hidden tokens', () => {
  const small = { d_model: 32, d_ff: 64, n_heads: 2 };
  const start = (fields) => {
    const path = fresh();
    writeFileSync(path, JSON.stringify({ ...small, ...fields }));
    return path;
  };
  const options = ['--epochs', '150', '--held-out', '0', '--vocabulary', '60', '--smoothing', '0'];
  const writer = fresh();
  const texts = file([...good, ...bad]);
  const writes = train(
    start({ task: 'text-generation', decoder_layers: 1 }),
    texts,
    writer,
    ...options,
  );
  assert.equal(writes.status, 0, writes.stderr);
  const { stdout } = glassformer(['generate', writer], 'great acting\n');
  assert.match(stdout, /and a warm heart/);

  const translator = fresh();
  const translates = train(
    start({ task: 'translation', encoder_layers: 1, decoder_layers: 1 }),
    file(['one two\teins zwei', 'two three\tzwei drei', 'three one\tdrei eins']),
    translator,
    ...options,
  );
  assert.equal(translates.status, 0, translates.stderr);
  const { lines } = glassformer(['translate', translator], 'two three\n');
  assert.deepEqual(lines, ['zwei drei']);

  const encoder = fresh();
  const fills = train(
    start({ encoder_layers: 1 }),
    texts,
    encoder,
    '--lessons',
    'masked',
    '--epochs',
    '3',
    '--vocabulary',
    '60',
  );
  assert.equal(fills.status, 0, fills.stderr);
  assert.equal(glassformer(['embed', encoder], 'a film\n').status, 0);
  const classifier = fresh();
  assert.equal(train(encoder, file(reviews), classifier, '--epochs', '2').status, 0);
});

const tagged = [
  ...['Anna\tB-PER', 'Lind\tI-PER', 'lives\tO', 'in\tO', 'Oslo\tB-LOC', '.\tO', ''],
  ...['Oslo\tB-LOC', 'likes\tO', 'Anna\tB-PER', 'Lind\tI-PER', '', ' '],
  ...['🙂\tO', 'Peter\tB-PER', 'saw\tO', 'Rome\tB-LOC'],
];

for (const [kind, start, options] of [
  ['new', config, ['--lessons', 'token-classes', '--vocabulary', '60', '--keep-case']],
  [
    'published',
    join(root, 'tests/fixtures/checkpoints/bert_tokens'),
    ['--rate', '0.003', '--dropout', '0'],
  ],
]) {
  test(`a ${kind} model learns the labels of words`, () => {
    const folder = fresh();
    const all = ['--epochs', '120', '--held-out', '0', ...options];
    const { status, stderr } = train(start, file(tagged), folder, ...all);
    assert.equal(status, 0, stderr);
    assert.equal(logOf(folder).at(-1).accuracy, 1);
    const text = '🙂 Peter saw Rome\nOslo likes Anna Lind\n';
    const { lines } = glassformer(['ner', folder, '--aggregation', 'first', '--json'], text);
    const names = lines.map((line) =>
      JSON.parse(line).entities.map(({ entity, start, end }) => [entity, start, end]),
    );
    assert.deepEqual(names, [
      [
        ['PER', 3, 8],
        ['LOC', 13, 17],
      ],
      [
        ['LOC', 0, 4],
        ['PER', 11, 20],
      ],
    ]);
  });
}

test('a training that was stopped goes on to the same weights', async () => {
  const data = file(Array.from({ length: 50 }, () => reviews).flat());
  const options = ['--epochs', '12', '--vocabulary', '60', '--batch-tokens', '64'];
  const whole = fresh();
  assert.equal(train(config, data, whole, ...options).status, 0);

  const folder = fresh();
  const child = spawn(command, ['train', config, data, folder, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  for await (const chunk of child.stderr) {
    said += chunk;
    if (said.includes('"step"')) child.kill('SIGINT');
  }
  assert.match(said, /stopped; the same command with --resume goes on/);
  assert.ok(existsSync(`${folder}.checkpoint`));
  assert.ok(!existsSync(folder));

  for (const [other, ...more] of [[file(reviews)], [data, '--keep-case']]) {
    const refused = train(config, other, folder, ...options, ...more, '--resume');
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /checkpoint: expected one with the same data and options/);
  }
  writeFileSync(`${folder}.checkpoint.new`, 'of a killed process');
  const resumed = train(config, data, folder, ...options, '--resume');
  assert.equal(resumed.status, 0, resumed.stderr);
  assert.match(resumed.stderr, /goes on after step \d+/);
  const weights = (of) => readFileSync(join(of, 'model.safetensors'));
  assert.deepEqual(weights(folder), weights(whole));
  // The card has the curves of both runs.
  const { lines } = readCurves(join(folder, 'curves.svg'));
  assert.equal(lines[0].length, logOf(folder).length);
  for (const name of ['checkpoint', 'checkpoint.new', 'lock'])
    assert.ok(!existsSync(`${folder}.${name}`), name);
});

test('a folder is learned into by one training at a time, even after one was killed', async () => {
  const data = file(Array.from({ length: 50 }, () => reviews).flat());
  const folder = fresh();
  const args = ['train', config, data, folder, '--epochs', '100000', '--vocabulary', '60'];
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let second;
  for await (const chunk of child.stderr) {
    if (second || !String(chunk).includes('parameters')) continue;
    second = train(config, data, folder, ...quick);
    child.kill('SIGKILL');
  }
  assert.equal(second.status, 1);
  assert.match(second.stderr, /\.lock: another process holds it; nothing was written/);
  const { status, stderr } = train(config, data, folder, ...quick);
  assert.equal(status, 0, stderr);
});

test('all of a warm-up, and a byte order mark, are harmless', () => {
  const folder = fresh();
  const marked = fresh();
  writeFileSync(marked, `\ufeff${reviews.join('\r\n')}\r\n`);
  const { status, stderr } = train(config, marked, folder, ...quick, '--warm-up', '1');
  assert.equal(status, 0, stderr);
  const { labels } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  assert.deepEqual(labels, ['bad', 'good']);
  assert.equal(glassformer(['classify', folder], 'a film\n').status, 0);
});

test('numbers that are none, or out of range, are refused before anything is written', () => {
  for (const [option, value] of [
    ['--rate', 'nan'],
    ['--rate', '1e300'],
    ['--rate', '2'],
    ['--weight-decay', 'inf'],
    ['--weight-decay', '-1'],
    ['--warm-up', 'nan'],
    ['--held-out', 'nan'],
    ['--averaging', 'nan'],
    ['--distortion', 'nan'],
    ['--shard-tokens', '18446744073709551615'],
    ['--batch-tokens', '18446744073709551615'],
    ['--vocabulary', '18446744073709551615'],
  ]) {
    const folder = fresh();
    const { status, stderr } = train(config, file(reviews), folder, '--epochs', '1', option, value);
    assert.ok(status === 1 || status === 2, `${option} ${value}: ${status}`);
    assert.ok(stderr.includes(option), stderr);
    for (const end of ['', '.log.jsonl', '.checkpoint']) assert.ok(!existsSync(folder + end));
  }
  const { status, stderr } = train(config, file(reviews), fresh(), '--minutes', 'nan');
  assert.equal(status, 2);
  assert.match(stderr, /--minutes: expected a finite number, got nan/);
});

test('a file in the place of the folder is refused before the training, and stays', () => {
  const path = file(['mine']);
  const { status, stderr } = train(config, file(reviews), path, ...quick);
  assert.equal(status, 1);
  assert.match(stderr, /expected a folder, got a file/);
  assert.equal(readFileSync(path, 'utf8'), 'mine\n');
});

for (const [what, lines, pattern] of [
  ['no examples', [], /invalid_data: expected examples, got an empty file/],
  [
    'a line without a tab',
    ['good\ta film', 'a film'],
    /line 2: expected a label, a tab and a text/,
  ],
  ['a label without a text', ['good\ta film', 'bad\t '], /line 2: .*got nothing after the tab/],
  ['a text without a label', ['\ta film', 'bad\ta'], /line 1: .*got nothing before the tab/],
  [
    'one class only',
    ['good\ta film', 'good\ta story'],
    /expected two labels or more, got only "good"/,
  ],
  ['a text without tokens', ['good\ta film', 'bad\t\u200b'], /line 2: /],
]) {
  test(`refused: ${what}`, () => {
    const folder = fresh();
    const { status, stderr } = train(config, file(lines), folder, ...quick);
    assert.equal(status, 1, stderr);
    assert.match(stderr, pattern);
    assert.ok(!existsSync(folder));
    assert.ok(!existsSync(`${folder}.log.jsonl`));
  });
}

for (const [what, lines, pattern] of [
  ['no sentences', ['', ' '], /invalid_data: expected examples, got an empty file/],
  ['a word without a label', ['a\tO', 'b'], /line 2: expected a word, a tab and its label/],
  ['one label only', ['a\tO', '', 'b\tO'], /expected two labels or more, got only "O"/],
]) {
  test(`refused: words with labels, ${what}`, () => {
    const folder = fresh();
    const options = ['--lessons', 'token-classes'];
    const { status, stderr } = train(config, file(lines), folder, ...options);
    assert.equal(status, 1, stderr);
    assert.match(stderr, pattern);
    assert.ok(!existsSync(folder));
  });
}

test('refused: bytes that are not UTF-8, by their line', () => {
  const path = fresh();
  writeFileSync(path, Buffer.from('good\ta film\nbad\t\xff\n', 'latin1'));
  assert.match(train(config, path, fresh(), ...quick).stderr, /line 2: expected UTF-8/);
});

test('refused: a loss that is not finite, by its step; what was learned is kept', () => {
  const [start, folder] = [fresh(), fresh()];
  assert.equal(train(config, file(reviews), start, '--epochs', '1', '--held-out', '0').status, 0);
  const path = join(start, 'model.safetensors');
  const bytes = readFileSync(path);
  const begin = 8 + Number(bytes.readBigUInt64LE());
  const [from, to] = JSON.parse(bytes.subarray(8, begin))['classifier.weight'].data_offsets;
  for (let at = from; at < to; at += 4) bytes.writeFloatLE(3e38, begin + at);
  writeFileSync(path, bytes);
  rmSync(join(start, 'manifest.json'));
  const { status, stderr } = train(start, file(reviews), folder, '--epochs', '1');
  assert.equal(status, 1);
  assert.match(stderr, /non_finite: training, step \d+: expected a finite loss/);
  assert.ok(existsSync(`${folder}.checkpoint`));
});

test('refused: a folder that has a model already', () => {
  const folder = fresh();
  assert.equal(train(config, file(reviews), folder, '--epochs', '1').status, 0);
  const { status, stderr } = train(config, file(reviews), folder, '--epochs', '1');
  assert.equal(status, 1);
  assert.match(stderr, /there is a model already/);
});

test('refused: tasks that cannot be learned', () => {
  const folder = join(root, 'tests/fixtures/checkpoints/bert_answer');
  const { status, stderr } = train(folder, file(reviews), fresh());
  assert.equal(status, 1);
  assert.match(stderr, /wrong_task/);
});
