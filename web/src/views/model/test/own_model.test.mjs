// What the page makes of files that somebody chose, before the package opens them.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../../../wasm/toolchain/build.mjs';
import { firefoxModel } from '../../../../../tests/package/firefox_model.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { filesByName } = await source('models/model-files');
const { describe, memoryOf } = await source('views/model/found-model');
const { markedParts } = await source('views/model/marked');
const { ownModelCode } = await source('views/model/code');
const { filesFailure, loadFailure, GlassformerError } = await source('ui/failure', 'glassformer');

const found = (...paths) => paths.map((path) => ({ path, file: new File([path], path) }));
const checkpoints = join(root, 'tests/checkpoints');
const expectedOf = (name) =>
  JSON.parse(readFileSync(join(checkpoints, name, 'expected.json'), 'utf8'));
const folder = (name) => {
  const path = join(checkpoints, name);
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(path.length + 1));
  return Object.fromEntries(
    names.map((file) => [file, new File([readFileSync(join(path, file))], file)]),
  );
};

test('names are those in the folder of the outermost config.json', () => {
  const names = (...paths) => Object.keys(filesByName(found(...paths)));
  assert.deepEqual(names('a/config.json', 'a/1_Pooling/config.json', 'a/x', 'b/y'), [
    'config.json',
    '1_Pooling/config.json',
    'x',
  ]);
  assert.deepEqual(names('top/1_Pooling/config.json', 'top/config.json', 'top/.git/config'), [
    '1_Pooling/config.json',
    'config.json',
  ]);
  assert.deepEqual(names('config.json', 'vocab.txt', '.DS_Store'), ['config.json', 'vocab.txt']);
  assert.deepEqual(names('notes.txt'), ['notes.txt']);
});

test('a folder is described by its configuration and the headers of its weights', async () => {
  const one = await describe(folder('bert_sequence'));
  assert.equal(one.family, 'bert');
  assert.equal(one.architecture, 'BertForSequenceClassification');
  assert.deepEqual(one.types, ['F32']);
  assert.ok(one.tensors > 20);
  assert.equal(memoryOf(one, 'f32'), 4 * one.numbers);
  assert.equal(memoryOf(one, 'int8'), one.numbers);
  // The same model in three files.
  const several = await describe(folder('bert_shards'));
  assert.equal(several.tensors, one.tensors);
  assert.equal(several.numbers, one.numbers);
  assert.deepEqual(several.types, ['F16']);
});

test('what a model is for is told before it is loaded', async () => {
  const tasks = {
    sequence: 'text-classification',
    tokens: 'token-classification',
    answer: 'question-answering',
    embed: 'feature-extraction',
    translate: 'translation',
    generate: 'text-generation',
    text2text: 'text2text-generation',
  };
  const taskOf = (name) => {
    const { same_as: same, task } = expectedOf(name);
    return same ? taskOf(same) : tasks[task];
  };
  const names = readdirSync(checkpoints).filter((name) =>
    existsSync(join(checkpoints, name, 'expected.json')),
  );
  const unsaid = [];
  for (const name of names) {
    const { task, architecture } = await describe(folder(name));
    if (task) assert.equal(task, taskOf(name), name);
    else unsaid.push([name, architecture]);
  }
  // Without a name in the configuration only the tensors tell.
  assert.ok(names.length > 20 && unsaid.every(([, architecture]) => !architecture), `${unsaid}`);
  const ours = { 'config.json': new File(['{"task": "translation"}'], 'config.json') };
  assert.equal((await describe(ours)).task, 'translation');
});

test('Firefox’s translators are known by their names, and described', async () => {
  const own = Object.entries(firefoxModel()).map(([name, bytes]) => [
    name,
    new File([bytes], name),
  ]);
  const paths = own.map(([name, file]) => ({ path: `ende/${name}`, file }));
  const files = filesByName([...found('ende/notes/x', 'y'), ...paths]);
  assert.deepEqual(Object.keys(files), ['notes/x', ...own.map(([name]) => name)]);
  const described = await describe(files);
  assert.equal(described.family, 'Firefox translator');
  assert.deepEqual(described.types.sort(), ['F32', 'I8']);
  assert.ok(described.tensors > 60 && described.numbers > 100_000);
  // Whatever is in a file of that name, it is described.
  const name = own[0][0];
  for (const bytes of [[], [1, 2], new Uint8Array(64).fill(255), new Uint8Array(64).fill(1)]) {
    const broken = await describe({ [name]: new File([Uint8Array.from(bytes)], name) });
    assert.equal(broken.tensors, 0);
  }
});

test('files that are no model are described as far as they can be', async () => {
  const described = await describe({
    'config.json': new File(['[1'], 'config.json'),
    'a.safetensors': new File(['short'], 'a.safetensors'),
    'b.safetensors': new File([new Uint8Array(64).fill(255)], 'b.safetensors'),
  });
  assert.equal(described.family, undefined);
  assert.equal(described.tensors, 0);
  assert.equal(described.size, 2 + 5 + 64);
  assert.equal((await describe({})).numbers, 0);
});

test('ranges are marked in their text, and overlapping ones left out', () => {
  const range = (start, end, name = 'x') => ({ start, end, name });
  assert.deepEqual(
    markedParts('Ada in Rome', [range(0, 3, 'a'), range(2, 5), range(7, 11, 'b'), range(11, 11)]),
    [
      { text: 'Ada', name: 'a' },
      { text: ' in ', name: undefined },
      { text: 'Rome', name: 'b' },
    ],
  );
  assert.deepEqual(markedParts('', []), []);
});

test('an error says what to do, in the package’s words or in the page’s', async () => {
  const failure = (code, message) => filesFailure(new GlassformerError(code, message));
  assert.deepEqual(failure('unsupported', 'x.gguf: expected y, got z; load the original'), {
    what: 'This cannot be opened.',
    cure: 'x.gguf: expected y, got z; load the original.',
    detail: 'unsupported',
  });
  const other = failure('unsupported', 'config.json: is_decoder: expected false, got true');
  assert.match(other.cure, /got true\. .*Choose a model of another kind\.$/);
  assert.match(failure('missing_file', 'y').what, /missing/);
  assert.match(failure('missing_file', 'y').cure, /^y\. Choose the whole folder/);
  assert.match(failure('invalid_tokenizer', 'expected a or b, got none of them').cure, /folder/);
  assert.match(failure('invalid_safetensors', 'y').cure, /Git LFS.*download/);
  assert.match(failure('shape_mismatch', 'y').cure, /another model.*download/);
  assert.match(failure('internal', 'out of memory').cure, /8-bit integers/);
  assert.match(failure('unsupported_runtime', 'y').cure, /Chrome/);
  assert.match(filesFailure(new TypeError('odd')).cure, /^odd\. Choose the files again\.$/);
  const renamed = (message, ...names) =>
    filesFailure(new GlassformerError('missing_file', message), names).cure;
  const none = 'model.safetensors: expected it, got none';
  assert.match(
    renamed(none, 'config.json', 'x.safetensors'),
    /Rename x\.safetensors to model\.saf/,
  );
  assert.match(renamed(none, 'config.json', 'a.safetensors', 'b.safetensors'), /index\.json/);
  assert.match(renamed(none, 'config.json'), /Choose the whole folder/);
  assert.match(renamed('vocab.txt: y', 'vocab (3).txt', 'model.safetensors'), /Rename vocab \(3\)/);
  const program = new GlassformerError('http_error', 'https://a/b.wasm: HTTP status 404');
  for (const failureOf of [filesFailure, (error) => loadFailure(error, 'models/x')])
    assert.match(failureOf(program).what, /A part of this page is missing/);
  assert.match(ownModelCode('classify("a", options)'), /await model\.classify\("a", options\);$/);
});
