// Every test file belongs to exactly one step, and so to one of `npm test` and `npm run test:full`.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesIn, root } from '../../tools/build.mjs';
import { minutes } from '../../tools/durations.mjs';
import { viewTable } from '../page/source.mjs';
import { chosenSteps, optionsIn } from '../runner/choice.mjs';
import { steps } from '../runner/steps.mjs';

const isFolder = (entry) => entry.isDirectory() && /^[a-z]/.test(entry.name);
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => isFolder(entry) && !/^(node_modules|build|dist)$/.test(entry.name))
  .map(({ name }) => name);
const testFiles = folders
  .flatMap((folder) => filesIn(folder))
  .filter((file) => /(\.test\.m?[jt]s|\/test_\w+\.py|_test\.cpp)$/.test(file));

test('every test file belongs to exactly one step', () => {
  assert.ok(testFiles.length > 200);
  const owners = new Map(testFiles.map((file) => [file, []]));
  for (const [name, { files }] of Object.entries(steps))
    for (const file of files?.() ?? []) owners.get(file)?.push(name);
  for (const [file, names] of owners) assert.equal(names.length, 1, `${file}: ${names.join(', ')}`);
});

test('every step belongs to a tier, and stands after those that it needs', () => {
  const names = Object.keys(steps);
  for (const [name, { tier, needs = [], files }] of Object.entries(steps)) {
    assert.match(tier, /^(build|test|full)$/, name);
    for (const other of needs) {
      assert.equal(steps[other]?.tier, 'build', `${name} needs ${other}`);
      assert.ok(names.indexOf(other) < names.indexOf(name), `${name} needs ${other}`);
    }
    if (files) assert.ok(files().length > 0, `${name} has no files`);
  }
});

test('one test file runs with the steps that it needs, of either tier', () => {
  const chosen = (...args) =>
    chosenSteps(optionsIn(args)).map(({ name, only }) => [name, only].flat().filter(Boolean));
  const layers = 'tests/repository/layers.test.mjs';
  assert.deepEqual(chosen(layers), [['rules of sources', layers]]);
  assert.deepEqual(chosen('--only', layers), chosen(layers));
  assert.deepEqual(chosen('tests/native/base/json_test.cpp'), chosen('json_test'));
  const full = testFiles.find((file) => file.startsWith('tests/full/'));
  assert.deepEqual(chosen(full), [['build package'], ['models of common sizes', full]]);
  assert.deepEqual(chosen('build')[0], ['build package']);
  assert.throws(() => chosen('nothing'), /got nothing/);
  assert.equal(optionsIn(['--unknown']), undefined);
  assert.equal(optionsIn(['--repeat', '3']), undefined);
});

test('`npm test` visits each view', async () => {
  const visits = steps['main ways'].files();
  for (const { name } of await viewTable())
    assert.ok(visits.includes(join('web/src/views', name, 'test/main_way.browser.test.mjs')), name);
});

test('the documents announce the durations that the commands announce', () => {
  const announcement = /`npm (?:run )?([\w:-]+)`(?:[^`.|]|`[^n])*?about (\d+) minutes/g;
  const announcedIn = (file) => {
    const text = readFileSync(join(root, file), 'utf8').replace(/\s+/g, ' ');
    const found = [...text.matchAll(announcement)];
    for (const [, command, time] of found)
      assert.equal(Number(time), minutes[command], `${file}: npm ${command}`);
    // No other form, such as words for numbers, which this test could not compare.
    assert.equal(found.length, [...text.matchAll(/\bminutes\b/g)].length, file);
    return found.map(([, command]) => command);
  };
  assert.deepEqual(announcedIn('README.md').slice(0, 2), ['start', 'test']);
  assert.deepEqual(announcedIn('CONTRIBUTING.md').slice(0, 2), ['test', 'test:full']);
});
