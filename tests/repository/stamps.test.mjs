// The build goes by the contents of files, not by their dates.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../../tools/run.mjs';
import { unlessDone, withOldDates } from '../../tools/stamps.mjs';

mkdirSync(join(root, 'build'), { recursive: true });
const folder = mkdtempSync(join(root, 'build/scratch-'));
const name = basename(folder);
const inputs = [`build/${name}`];
const file = join(folder, 'file');
// Outside the inputs, as the log of a build is.
const log = `build/stamps/${name}.log`;
after(() => {
  rmSync(folder, { recursive: true });
  for (const stamp of [name, `${name}.json`, `${name}.log`])
    rmSync(join(root, 'build/stamps', stamp), { force: true });
});

const day = 24 * 3600;
const write = (text, date) => {
  writeFileSync(file, text);
  utimesSync(file, date, date);
};
const dateOf = () => statSync(file).mtimeMs / 1000;
const nothing = () => Promise.resolve();

test('work is done again only after a change of contents', async () => {
  let times = 0;
  const work = () => unlessDone(name, inputs, [], () => times++);
  write('first', day);
  await work();
  write('first', 2 * day);
  await work();
  assert.equal(times, 1);
  write('second', 2 * day);
  await work();
  assert.equal(times, 2);
});

test('a file that is put back gets its old date', async () => {
  write('first', day);
  await withOldDates(name, inputs, log, nothing);
  write('first', 2 * day);
  await withOldDates(name, inputs, log, async () => assert.equal(dateOf(), day));
  write('second', 3 * day);
  await withOldDates(name, inputs, log, async () => assert.equal(dateOf(), 3 * day));
  write('first', 4 * day);
  await withOldDates(name, inputs, log, async () => assert.equal(dateOf(), 4 * day));
});

test('after work that failed, a file that is put back keeps its new date', async () => {
  write('first', day);
  await withOldDates(name, inputs, log, nothing);
  write('second', 2 * day);
  const failing = () => Promise.reject(new Error('a compile error'));
  await assert.rejects(withOldDates(name, inputs, log, failing), /compile error/);
  write('first', 3 * day);
  await withOldDates(name, inputs, log, async () => assert.equal(dateOf(), 3 * day));
});

test('after a build by somebody else, a file that is put back keeps its new date', async () => {
  write('first', day);
  await withOldDates(name, inputs, log, nothing);
  writeFileSync(join(root, log), 'a build of other contents');
  write('first', 3 * day);
  await withOldDates(name, inputs, log, async () => assert.equal(dateOf(), 3 * day));
});
