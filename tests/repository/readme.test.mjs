// Runs the README's examples unchanged.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, run, unlessDone } from '../../tools/build.mjs';
import { asBuiltForTests, library } from '../native_build.mjs';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function blocks(language) {
  return [...readme.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .filter(([, tag]) => tag === language)
    .map(([, , text]) => text);
}

// Examples run inside the repository, where the package can import itself by name.
const folder = join(root, 'build/readme');
mkdirSync(folder, { recursive: true });

test('the npm commands exist', () => {
  const named = [...readme.matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)];
  assert.ok(named.length >= 5);
  for (const [, script, lifecycle] of named)
    assert.ok(manifest.scripts[script ?? lifecycle], script);
});

test('the linked files exist', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map((match) => match[1]);
  assert.ok(links.length >= 3);
  assert.deepEqual(
    links.filter((path) => !existsSync(join(root, path))),
    [],
  );
});

// Runs one of the JavaScript examples, with replaced names for some models.
function runExample(name, models = {}) {
  let [code] = blocks('js').filter((text) => text.includes(name));
  for (const [model, place] of Object.entries(models)) {
    assert.ok(code.includes(`'${model}'`), model);
    code = code.replace(`'${model}'`, `'${place}'`);
  }
  assert.ok(!code.includes("'hf:"));
  writeFileSync(join(folder, `${name}.mjs`), code);
  return run(process.execPath, [`build/readme/${name}.mjs`]);
}

test('the JavaScript example of classification runs', async () => {
  const output = await runExample('Classifier');
  assert.match(output, /^positive 0\.\d{3}$/m);
  assert.match(output, /4 × 8 heads, (\d+) × \1 weights each/);
  assert.match(output, /label: 'negative', score: 0\.\d+.*label: 'positive', score: 0\.\d+/s);
});

test('the JavaScript example of published models runs', async () => {
  const output = await runExample('TokenClassifier', {
    'hf:dslim/bert-base-NER': 'tests/fixtures/checkpoints/bert_tokens',
    'hf:deepset/roberta-base-squad2': 'tests/fixtures/checkpoints/roberta_answer',
    'hf:sentence-transformers/all-MiniLM-L6-v2': 'tests/fixtures/checkpoints/bert_embed',
    'hf:distilbert/distilbert-base-uncased-finetuned-sst-2-english':
      'tests/fixtures/checkpoints/distilbert_sequence',
  });
  assert.match(output, /^(PER|LOC|geo-place|place) .+ 0\.\d{3}$/m);
  assert.match(output, /^(.+) \1\n-?[01]\.\d+\ntext-classification$/m);
});

test('the commands of the README build and install the packages', async () => {
  const commands = blocks('sh').filter((text) => /^npm (run build |install )/.test(text));
  assert.equal(commands.length, 2);
  const app = mkdtempSync(join(root, 'build/readme-app-'));
  try {
    const [make, install] = commands;
    // `npm run build` has run.
    const pack = make.replace(/^npm run build && /, '').trim();
    await run('bash', ['-euo', 'pipefail', '-c', `${pack} --pack-destination ${app}`]);
    writeFileSync(join(app, 'package.json'), '{"type":"module"}');
    writeFileSync(
      join(app, 'main.js'),
      `import { Classifier } from 'glassformer';
import files from '@glassformer/sentiment';
const classifier = await Classifier.load(files);
console.log((await classifier.classify('A gripping film.')).label);
`,
    );
    const here = install.replaceAll('../glassformer/', './').trim();
    const line = `cd ${app} && ${here} --offline --no-audit --no-fund && node main.js`;
    assert.match(await run('bash', ['-euo', 'pipefail', '-c', line]), /^positive$/m);
  } finally {
    rmSync(app, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('the shell examples run', async () => {
  const [commands] = blocks('sh').filter((text) => text.includes('classify'));
  const output = await run('bash', ['-euo', 'pipefail', '-c', asBuiltForTests(commands)]);
  assert.match(output, /^positive\t0\.\d+\nnegative\t0\.\d+\n/);
  assert.match(output, /"attention":/);
});

test('the C++ example compiles and runs', async () => {
  const [code] = blocks('cpp');
  const [command] = blocks('sh').filter((text) => text.includes('c++'));
  writeFileSync(join(folder, 'example.cpp'), code);
  const inputs = ['README.md', 'src', library];
  const compile = asBuiltForTests(command)
    .replace('example.cpp', 'build/readme/example.cpp')
    .replace('-o example && ./example', '-o build/readme/example');
  assert.notEqual(compile, command);
  await unlessDone('readme-cpp', inputs, ['build/readme/example'], () =>
    run('bash', ['-euo', 'pipefail', '-c', compile]),
  );
  assert.match(await run('build/readme/example', []), /^positive 0\.\d+, \d+ tokens$/m);
});
