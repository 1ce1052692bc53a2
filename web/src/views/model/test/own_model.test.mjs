// Chosen files before the package opens them, marked ranges, and error texts.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../../../tools/build.mjs';
import { firefoxModel } from '../../../../../tests/package/support/firefox_model.mjs';
import { source } from '../../../../../tests/page/source.mjs';

const { filesByName } = await source('models/model-files');
const { inspect } = await import(`${root}/dist/index.js`);
const { memoryOf, numbersIn, typesIn } = await source('views/model/stored');
const { markedParts } = await source('views/model/answer/marked');
const { ownModelCode } = await source('views/model/code');
const { filesFailure, loadFailure, GlassformerError } = await source(
  'ui/files-failure',
  'ui/failure',
  'glassformer',
);

const found = (...paths) => paths.map((path) => ({ path, file: new File([path], path) }));
const checkpoints = join(root, 'tests/fixtures/checkpoints');
const folder = (name) => {
  const path = join(checkpoints, name);
  const names = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(path.length + 1));
  return Object.fromEntries(
    names.map((file) => [file, new File([readFileSync(join(path, file))], file)]),
  );
};

test('file names are relative to the folder of the outermost config.json', () => {
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

test('the memory of a model is estimated from the headers of its weights', async () => {
  const one = await inspect(folder('bert_sequence'));
  assert.deepEqual(typesIn(one.tensors), ['F32']);
  assert.equal(memoryOf(one.tensors, 'f32'), 4 * numbersIn(one.tensors));
  assert.equal(memoryOf(one.tensors, 'int8'), numbersIn(one.tensors));
  // The same model in three files:
  const several = await inspect(folder('bert_shards'));
  assert.equal(numbersIn(several.tensors), numbersIn(one.tensors));
  assert.deepEqual(typesIn(several.tensors), ['F16']);
  assert.equal(memoryOf([], 'f32'), 0);
});

test('Firefox translators are recognized by their file names and inspected', async () => {
  const own = Object.entries(firefoxModel()).map(([name, bytes]) => [
    name,
    new File([bytes], name),
  ]);
  const paths = own.map(([name, file]) => ({ path: `ende/${name}`, file }));
  const files = filesByName([...found('ende/notes/x', 'y'), ...paths]);
  assert.deepEqual(Object.keys(files), ['notes/x', ...own.map(([name]) => name)]);
  const { family, tensors } = await inspect(files);
  assert.equal(family, 'bergamot');
  assert.deepEqual(typesIn(tensors).sort(), ['F32', 'I8']);
  assert.ok(tensors.length > 60 && numbersIn(tensors) > 100_000);
});

test('ranges are marked in their text, without what an earlier one has', () => {
  const range = (start, end, name = 'x') => ({ start, end, name });
  assert.deepEqual(
    markedParts('Ada in Rome', [range(0, 3, 'a'), range(2, 5), range(7, 11, 'b'), range(11, 11)]),
    [
      { text: 'Ada', name: 'a' },
      { text: ' i', name: 'x' },
      { text: 'n ', name: undefined },
      { text: 'Rome', name: 'b' },
    ],
  );
  assert.deepEqual(markedParts('', []), []);
});

test('an error says what to do', async () => {
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
