// `glassformer train --lessons dictionary`, and explanations by what it makes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { glassformer, root } from './run.mjs';
import { checkpoint, config, file, fresh, train } from './training.mjs';

const words = ['good', 'film', 'the', 'a', 'was', 'bad', 'story', 'we', 'saw', 'and'];
const texts = Array.from({ length: 60 }, (_, i) =>
  Array.from(
    { length: 8 },
    (__, j) => words[(i * 7 + j * (1 + (i % 3)) + ((i * j) % 5)) % 10],
  ).join(' '),
);
const data = file(texts);
const sizes = ['--features', '40', '--active', '4'];
const heldOut = ['--held-out', '0.2'];
const only = (...options) => ['--lessons', 'dictionary', '--epochs', '8', ...options];
const learn = (model, examples, folder, ...options) =>
  train(checkpoint(model), examples, folder, ...only(...sizes, ...heldOut, ...options));
const refused = (...options) =>
  train(checkpoint('gpt2_generate'), data, fresh(), ...only(...options));
const json = (folder, name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const explain = (model, method, dictionaries, ...options) =>
  glassformer(
    [
      ...['explain', checkpoint(model), '--method', method, '--json', '--compute', 'f32'],
      ...['--dictionaries', dictionaries, ...options],
    ],
    'the film was good\n',
  );

const folder = fresh();
const learned = learn('gpt2_generate', data, folder);

test('dictionaries of a writer come with a report, features and the texts that they quote', () => {
  assert.equal(learned.status, 0, learned.stderr);
  const { dictionaries } = json(folder, 'config.json');
  const report = json(folder, 'report.json');
  const quoted = json(folder, 'texts.json');
  assert.deepEqual(
    report.dictionaries.map((each) => each.writes),
    dictionaries.map((each) => each.writes),
  );
  for (const [i, of] of dictionaries.entries()) {
    assert.equal(of.writes, `decoder.layers.${i}.fc2`);
    assert.equal(of.reads, `decoder.layers.${i}.final_layer_norm`);
    const { features } = json(folder, `features-${i}.json`);
    assert.equal(features.length, 40);
    const active = features.filter(({ density }) => density > 0);
    assert.equal(active.length, Math.round(40 * (1 - report.dictionaries[i].dead)));
    const sum = features.reduce((all, { density }) => all + density, 0);
    assert.ok(Math.abs(sum - report.dictionaries[i].features_per_token) < 1e-3);
    for (const { promotes, suppresses, places, share } of active) {
      assert.ok(promotes.length === 5 && suppresses.length === 5 && share > 0 && share <= 1);
      for (const [text, token] of places) assert.equal(typeof quoted[text][token], 'string');
    }
  }
  const card = readFileSync(join(folder, 'README.md'), 'utf8');
  assert.match(card, /^Features of the numbers inside `gpt2_generate`\. /m); // and no path
  assert.match(card, /loss recovered/);
  assert.match(card, /`decoder.layers.0.fc2` \| [\d.]+ %/);
  assert.doesNotMatch(card, /--dropout/);
  assert.ok(existsSync(join(folder, 'curves.svg')) && existsSync(join(folder, 'manifest.json')));
});

test('features and the attribution graph of a text', () => {
  const { lines } = explain('gpt2_generate', 'features', folder);
  const { tokens, dictionaries } = JSON.parse(lines[0]);
  for (const { rows, error, rowTokens, kind } of dictionaries) {
    assert.equal(kind, 'transcoder');
    assert.equal(rows.length, tokens.length);
    assert.deepEqual([error.length, rowTokens.length], [rows.length, rows.length]);
    for (const row of rows) {
      assert.ok(row.length <= 4);
      const activations = row.map(({ activation }) => activation);
      assert.deepEqual(
        activations,
        activations.toSorted((a, b) => b - a),
      );
    }
  }
  const options = ['--feature-count', '500', '--node-share', '1', '--edge-share', '1'];
  const graph = JSON.parse(
    explain('gpt2_generate', 'attribution_graph', folder, ...options).lines[0],
  );
  const answer = graph.nodes.length - 1;
  assert.equal(graph.nodes[answer].kind, 'answer');
  assert.equal(graph.checks.length, 10);
  // Every feature of the graph is active, as much.
  const found = graph.nodes.filter(({ kind }) => kind === 'feature');
  assert.ok(found.length > 0);
  for (const { name, row, feature, activation } of found) {
    const of = dictionaries.find((each) => each.name === name).rows[row];
    assert.ok(Math.abs(of.find((each) => each.feature === feature).activation - activation) < 1e-4);
  }
  const plain = glassformer(
    ['explain', checkpoint('gpt2_generate'), '--method', 'features', '--compute', 'f32'].concat([
      ...['--dictionaries', folder],
    ]),
    'the film was good\n',
  );
  assert.match(plain.lines[0], /^decoder\.layers\.0\.fc2\[0\] \d+=[\d.]+/);
});

test('sparse autoencoders of a classifier, on one layer', () => {
  const { id2label } = json(checkpoint('bert_sequence'), 'config.json');
  const labels = Object.values(id2label);
  const own = fresh();
  const named = file(texts.map((text, i) => `${labels[i % labels.length]}\t${text}`));
  const { status, stderr } = learn(
    'bert_sequence',
    named,
    own,
    '--kind',
    'sae',
    '--at',
    'encoder.layers.1',
  );
  assert.equal(status, 0, stderr);
  const { dictionaries } = json(own, 'config.json');
  assert.deepEqual(
    dictionaries.map(({ kind, reads, writes }) => [kind, reads, writes]),
    [['sae', 'encoder.layers.1.output', 'encoder.layers.1.output']],
  );
  const { lines } = explain('bert_sequence', 'features', own);
  assert.equal(JSON.parse(lines[0]).dictionaries[0].kind, 'sae');
});

test('a stopped training goes on, and quotes other texts', () => {
  const whole = fresh();
  const result = learn('gpt2_generate', data, whole, '--texts', file(['the film was bad']));
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(
    readFileSync(join(whole, 'model.safetensors')),
    readFileSync(join(folder, 'model.safetensors')),
  );
  assert.equal(json(whole, 'texts.json').length, 1);
});

for (const [what, run, pattern] of [
  [
    'a new model',
    () => train(config, data, fresh(), '--lessons', 'dictionary'),
    /folder of a model/,
  ],
  ['layers that are not there', () => refused('--at', 'x'), /--at: /],
  [
    'more active features than there are',
    () => refused('--features', '40', '--active', '41'),
    /--active: expected at most .* 40, got 41/,
  ],
  [
    'nothing held out',
    () => refused('--held-out', '0'),
    /expected examples to measure dictionaries on/,
  ],
  [
    'labels of another model',
    () => learn('bert_sequence', file(texts.map((text, i) => `x${i % 2}\t${text}`)), fresh()),
    /labels of the model/,
  ],
  ['half precision', () => refused('--half'), /--half: expected none/],
  [
    'texts for a model',
    () => train(checkpoint('gpt2_generate'), data, fresh(), '--texts', data),
    /--texts: expected/,
  ],
  [
    'features for a model',
    () => train(checkpoint('gpt2_generate'), data, fresh(), '--features', '3'),
    /--features: expected/,
  ],
])
  test(`dictionaries refuse ${what}`, () => {
    const { status, stderr } = run();
    assert.notEqual(status, 0);
    assert.match(stderr, pattern);
  });

for (const [what, run, pattern] of [
  ['another model', () => explain('gpt2_scaled', 'features', folder), /made for this model/],
  [
    'a folder of a model',
    () => explain('gpt2_generate', 'features', checkpoint('llama')),
    /config.json/,
  ],
  [
    'another method',
    () => explain('gpt2_generate', 'rollout', folder),
    /--dictionaries: expected an option of rollout/,
  ],
  [
    'no dictionaries',
    () =>
      glassformer(
        [
          'explain',
          checkpoint('gpt2_generate'),
          '--method',
          'attribution_graph',
          '--compute',
          'f32',
        ],
        'good\n',
      ),
    /--dictionaries: expected dictionaries of the model/,
  ],
  [
    'integers',
    () =>
      glassformer(
        ['explain', join(root, 'weights/writer'), '--method', 'features', '--dictionaries', folder],
        'good\n',
      ),
    /unsupported|made for this model/,
  ],
])
  test(`explanations by features refuse ${what}`, () => {
    const { status, stderr } = run();
    assert.notEqual(status, 0);
    assert.match(stderr, pattern);
  });
