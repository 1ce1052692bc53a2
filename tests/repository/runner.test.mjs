// The runner of the tests: a budget of cores, and outcomes that hide no failure.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../../tools/run.mjs';
import { casesIn, checks, nodeTests, pythonOutcome, sum } from '../runner/programs.mjs';
import { Slots } from '../runner/slots.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-runner-'));
after(() => rmSync(scratch, { recursive: true }));

test('programs get cores in the order of their steps, and a build gets all', async () => {
  const slots = new Slots(2);
  const started = [];
  const ends = {};
  const start = (name, count, order) =>
    slots.use(count, order, () => {
      started.push(name);
      return new Promise((resolve, reject) => (ends[name] = { resolve, reject }));
    });
  const works = [start('a', 1, 3), start('b', 1, 3), start('late', 1, 3), start('build', 16, 1)];
  await Promise.resolve();
  assert.deepEqual(started, ['a', 'b']);
  ends.a.resolve();
  await works[0];
  assert.deepEqual(started, ['a', 'b'], 'a core is free, but the build is the first in line');
  ends.b.reject(new Error('failed'));
  await assert.rejects(works[1]);
  assert.deepEqual(started, ['a', 'b', 'build']);
  ends.build.resolve();
  await works[3];
  assert.deepEqual(started, ['a', 'b', 'build', 'late']);
  ends.late.resolve();
});

test('each way in which a file can fail is a failure', async () => {
  const write = (name, body) => {
    const file = join(scratch, `${name}.test.mjs`);
    writeFileSync(file, `import { after, test } from 'node:test';\n${body}`);
    return relative(root, file);
  };
  const outcome = (file) => nodeTests([file], (work) => work());
  const good = await outcome(
    write('good', "test('a', (t) => t.diagnostic('told')); test('b', { skip: 'no b' }, () => {});"),
  );
  assert.deepEqual([good.passed, good.failed, good.skipped], [1, 0, 1]);
  assert.deepEqual(good.notes, ['told', 'skipped: b (no b)']);
  const bodies = {
    thrown: "test('a', () => { throw new Error('wrong'); });",
    inner: "test('a', async (t) => { await t.test('b', () => { throw new Error('wrong'); }); });",
    hook: "after(() => { throw new Error('wrong'); }); test('a', () => {});",
    loading: "test('a', () => {}); throw new Error('wrong');",
    crash: "console.log('wrong'); test('a', () => process.abort());",
    status: "console.log('wrong'); test('a', () => {}); after(() => process.exit(3));",
    none: "console.log('wrong');",
  };
  for (const [name, body] of Object.entries(bodies)) {
    const { failed, failures } = await outcome(write(name, body));
    assert.ok(failed > 0, name);
    assert.equal(failures.length, 1, name);
    assert.match(failures[0].message, /wrong/, name);
  }
});

test('outcomes of Python, of Catch2 and of checks', async () => {
  const rule = (sign) => sign.repeat(70);
  const failed = [
    `${rule('=')}\nFAIL: test_b (some.T.test_b)\n${rule('-')}\nTraceback: wrong\n`,
    `${rule('-')}\nRan 5 tests in 0.1s\n\nFAILED (failures=1, skipped=1)\n`,
  ].join('\n');
  const python = pythonOutcome('some.py', { output: failed, error: new Error('1'), seconds: 1 });
  assert.deepEqual([python.passed, python.failed, python.skipped], [3, 1, 1]);
  assert.match(python.failures[0].name, /test_b/);
  assert.match(python.failures[0].message, /wrong/);
  const fine = { output: 'Ran 2 tests in 0.1s\n\nOK\n', seconds: 1 };
  assert.equal(pythonOutcome('some.py', { ...fine }).failed, 0);
  const leaking = { ...fine, output: `${fine.output}nanobind: leaked 1 instances!` };
  assert.equal(pythonOutcome('some.py', leaking).failed, 1);

  const xml = `<TestCase name="a &lt; b" tags="[x]" filename="${root}/tests/a_test.cpp" line="3">
      <Section name="s"><OverallResults successes="1" failures="0"/></Section>
      <OverallResult success="true" skips="0" durationInSeconds="0.5"/>
    </TestCase>
    <TestCase name="c" filename="${root}/tests/c_test.cpp" line="4">
      <OverallResult success="false" skips="0" durationInSeconds="0.25"/>
    </TestCase>
    <TestCase name="crashed" filename="${root}/tests/c_test.cpp" line="9">`;
  assert.deepEqual(
    casesIn(xml).map(({ name, file, failed, seconds }) => [name, file, failed, seconds]),
    [
      ['a < b', 'tests/a_test.cpp', false, 0.5],
      ['c', 'tests/c_test.cpp', true, 0.25],
    ],
  );

  const checked = await checks(
    [
      ['good', async () => {}],
      ['bad', () => Promise.reject(Object.assign(new Error('failed'), { output: 'wrong' }))],
    ],
    (work) => work(),
  );
  assert.deepEqual([sum([checked, checked]).passed, sum([checked, checked]).failed], [2, 2]);
  assert.match(checked.failures[0].message, /wrong\nfailed/);
});
