// Tests `cmake --install`, and a project that uses the installed files and must give the same
// answers as the command line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { filesIn, root, run } from '../../tools/build.mjs';
import { compiler, compilerFlags } from '../native_build.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-install-'));
after(() => rmSync(scratch, { recursive: true }));
const prefix = join(scratch, 'prefix');
const built = join(scratch, 'example');

const models = {
  classifier: 'weights/sentiment',
  embedder: 'tests/fixtures/checkpoints/bert_embed',
  translator: 'weights/en-de',
};

await run('cmake', ['--install', 'build/test', '--prefix', prefix]);

// Returns the JSON answer of the installed command line to a line.
function answer(...args) {
  const input = `${args.pop()}\n`;
  const command = join(prefix, 'bin/glassformer');
  const { status, stdout } = spawnSync(command, [...args, '--json'], {
    cwd: root,
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  assert.equal(status, 0);
  return JSON.parse(stdout);
}

test('only the public headers, and the headers that they include, are installed', () => {
  const headers = filesIn('src/glassformer')
    .filter((file) => file.endsWith('.hpp'))
    .map((file) => file.replace('src/', ''));
  const build = readFileSync(join(root, 'tools/cmake/install.cmake'), 'utf8');
  const [, list] = /set\(GLASSFORMER_VALUES\s([^)]+)\)/.exec(build);
  const values = list.trim().split(/\s+/);
  assert.deepEqual(
    readdirSync(join(prefix, 'include'), { recursive: true })
      .filter((name) => name.endsWith('.hpp'))
      .sort(),
    [...headers, ...values.map((name) => `glassformer/${name}`)].sort(),
  );
});

test('each installed header compiles by itself', async () => {
  const headers = readdirSync(join(prefix, 'include'), { recursive: true });
  for (const header of headers.filter((name) => name.endsWith('.hpp'))) {
    const options = ['-std=c++20', '-fsyntax-only', '-Werror', '-I', join(prefix, 'include')];
    await run(compiler, [...options, '-x', 'c++', '-include', header, '/dev/null']);
  }
});

test('no installed file contains a path of the build', () => {
  const files = readdirSync(prefix, { recursive: true }).filter((file) =>
    /\.(cmake|hpp)$/.test(file),
  );
  assert.ok(files.length > 10);
  for (const file of files)
    assert.ok(!readFileSync(join(prefix, file), 'utf8').includes(root), file);
});

test('a project finds the library, and gives the answers of the command line', async () => {
  await run('cmake', [
    ...['-S', 'tests/install/example', '-B', built, '-G', 'Ninja'],
    ...[`-DCMAKE_PREFIX_PATH=${prefix}`, `-DCMAKE_CXX_COMPILER=${compiler}`],
    `-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror ${compilerFlags}`,
  ]);
  await run('cmake', ['--build', built]);
  const output = await run(join(built, 'example'), Object.values(models));
  const lines = output.trimEnd().split('\n');
  const rows = lines.map((line) => line.split('\t'));
  const all = (name) => rows.filter((row) => row[0] === name).map((row) => row.slice(1));
  const numbers = (name) => all(name)[0].map((number) => Math.fround(Number(number)));
  const floats = (values) => values.map(Math.fround);

  const classify = ['classify', models.classifier];
  const review = answer(...classify, '--attention', 'A gripping, beautifully shot film.');
  assert.deepEqual(all('label'), [[review.label]]);
  assert.deepEqual(numbers('scores'), floats(review.scores.map(({ score }) => score)));
  assert.deepEqual(
    all('tokens')[0],
    review.tokens.map(({ text }) => text),
  );
  const { heads, queries, keys, data } = review.attention.encoder;
  const weights = new Float32Array(new Uint8Array(Buffer.from(data, 'base64')).buffer);
  const start = (2 * heads + 5) * queries * keys;
  assert.deepEqual(numbers('first row'), [...weights.subarray(start, start + keys)]);
  const ablated = answer(...classify, '--ablate', '2.5', 'Not good at all.');
  assert.deepEqual(numbers('ablated'), floats(ablated.scores.map(({ score }) => score)));

  const embed = (text) => answer('embed', models.embedder, text).embedding;
  const first = embed('The men walk to the market.');
  assert.deepEqual(numbers('embedding'), floats(first));
  const second = embed('It was the best of all days.');
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const cosine = dot(first, second) / Math.sqrt(dot(first, first) * dot(second, second));
  assert.ok(Math.abs(numbers('similarity')[0] - cosine) < 1e-6);

  const translate = ['translate', models.translator];
  const text = 'The train arrives at seven. Where is the station?';
  const translation = answer(...translate, '--attention', text);
  assert.deepEqual(all('translation'), [[translation.text]]);
  assert.deepEqual(
    all('sentence').map(([score, links]) => [Math.fround(Number(score)), Number(links)]),
    translation.sentences.map(({ score, alignment }) => [Math.fround(score), alignment.length]),
  );
  assert.deepEqual(
    all('source'),
    translation.sentences.map(({ sourceTokens }) => sourceTokens.map((token) => token.text)),
  );
  const greedy = answer(...translate, '--beams', '1', text);
  assert.deepEqual(all('greedy'), [[greedy.text]]);
  const steps = all('step');
  const written = greedy.sentences.flatMap(({ tokens }) => tokens.map((token) => token.text));
  assert.deepEqual(
    steps.map(([token]) => token),
    written.filter((token) => token !== '</s>'),
  );
  assert.equal(steps.at(-1)[1], greedy.text);

  assert.deepEqual(all('translates'), [['1']]);
  assert.match(lines.at(-1), /^wrong_task\t/);
});

test('texts need no libraries of pictures, and pictures say which ones are missing', async () => {
  const project = join(scratch, 'project');
  mkdirSync(project);
  const configure = (components) => {
    writeFileSync(
      join(project, 'CMakeLists.txt'),
      `cmake_minimum_required(VERSION 3.25)
project(texts LANGUAGES CXX)
find_package(glassformer QUIET ${components})
message(STATUS "found \${glassformer_FOUND} \${glassformer_NOT_FOUND_MESSAGE}")
if(glassformer_FOUND)
  add_executable(texts main.cpp)
  target_link_libraries(texts PRIVATE glassformer::glassformer)
endif()
`,
    );
    return run('cmake', [
      ...['-S', project, '-B', join(project, 'build'), '-G', 'Ninja'],
      ...[`-DCMAKE_PREFIX_PATH=${prefix}`, `-DCMAKE_CXX_COMPILER=${compiler}`],
      ...[`-DCMAKE_CXX_FLAGS=${compilerFlags}`, '-DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON'],
    ]);
  };
  assert.match(await configure('COMPONENTS pictures'), /found (FALSE|0) pictures: libpng/);
  writeFileSync(
    join(project, 'main.cpp'),
    `#include <glassformer/classifier.hpp>
#include <iostream>
int main(int, char** arguments) {
  std::cout << glassformer::Classifier::load(arguments[1]).classify("Good!").label << '\\n';
}
`,
  );
  assert.match(await configure(''), /found (TRUE|1) /);
  await run('cmake', ['--build', join(project, 'build')]);
  const answered = await run(join(project, 'build/texts'), [models.classifier]);
  assert.equal(answered.trim(), 'positive');
});
