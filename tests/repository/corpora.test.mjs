// Runs the recipes of web/docs/large-corpora.md unchanged, if their tools are installed.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../../tools/build.mjs';
import { command } from '../native_build.mjs';
import { of } from './snippets.mjs';

const [threads, cut, together] = of('sh', 'corpus').map(({ code }) => code);
const [parallel] = of('sh', 'corpus parallel').map(({ code }) => code);
const [cluster, ask] = of('sh', 'corpus dask').map(({ code }) => code);
const [program] = of('python', '').map(({ code }) => code);

// Three lines have no answer: they are blank.
const texts = Array.from({ length: 60 }, (_, i) =>
  [7, 20, 59].includes(i) ? '' : `Film number ${i} was ${i % 3 ? 'dreadful' : 'a joy'}.`,
);
const blank = ['8', '21', '60'];
const expected = spawnSync(command, ['classify', join(root, 'weights/sentiment')], {
  input: texts.map((text) => `${text}\n`).join(''),
  encoding: 'utf8',
}).stdout;

// Makes the folder that the guide assumes, and a function that runs one of its snippets there.
function prepare() {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-corpus-'));
  after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(command, join(folder, 'bin/glassformer'));
  symlinkSync('/usr/bin/python3', join(folder, 'bin/python3')); // the Python with Debian's Dask
  symlinkSync(join(root, 'weights/sentiment'), join(folder, 'sentiment'));
  writeFileSync(join(folder, 'reviews.txt'), texts.map((text) => `${text}\n`).join(''));
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  const shell = (code) =>
    execFileSync('bash', ['-euo', 'pipefail', '-c', code], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const read = (file) => readFileSync(join(folder, file), 'utf8');
  return { folder, env, shell, read };
}

// Runs a recipe, deletes one answer and runs it again: only that answer is computed again.
async function assertResumes({ folder, shell, read }, recipe, forget) {
  shell(cut.replace('--lines=1000', '--lines=7'));
  shell(recipe);
  shell(together);
  assert.equal(read('verdicts.tsv'), expected);
  const failed = read('failed.txt').trim().split('\n');
  assert.deepEqual(
    failed.map((line) => line.split(':')[0]),
    blank,
  );
  assert.ok(failed.every((line) => line.endsWith('error\tempty_input')));

  const answers = readdirSync(join(folder, 'answers'));
  assert.equal(answers.length, 9);
  const inodes = () => answers.map((name) => statSync(join(folder, 'answers', name)).ino);
  const before = inodes();
  forget(answers[4]);
  rmSync(join(folder, 'answers', answers[4]));
  writeFileSync(join(folder, 'answers', `${answers[4]}.unfinished`), 'half an ans');
  shell(recipe);
  shell(together);
  assert.equal(read('verdicts.tsv'), expected);
  const same = inodes().filter((inode, i) => i === 4 || inode === before[i]);
  assert.equal(same.length, answers.length, 'existing answers are not changed');
}

test('threads of one process', () => {
  const { shell, read } = prepare();
  assert.match(shell(threads), /^some lines have no answer$/m);
  assert.equal(read('verdicts.tsv'), expected);
});

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

test('GNU parallel, and resuming', { skip: !has('parallel') && 'not installed' }, async () => {
  const place = prepare();
  await assertResumes(place, parallel, (name) => {
    // As after an interruption before that part: the log does not contain it.
    const lines = place.read('log').split('\n');
    const kept = lines.filter((line) => !line.endsWith(` ${name}`));
    assert.equal(kept.length, lines.length - 1);
    writeFileSync(join(place.folder, 'log'), kept.join('\n'));
  });
});

test('GNU parallel reports a failed part', { skip: !has('parallel') && 'not installed' }, () => {
  const { shell, folder } = prepare();
  shell(cut.replace('--lines=1000', '--lines=30'));
  rmSync(join(folder, 'sentiment'));
  assert.throws(() => shell(parallel), /sentiment/);
  assert.ok(!readdirSync(join(folder, 'answers')).some((name) => /^\d+$/.test(name)));
});

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

test('Dask, and resuming', { skip: !has('dask-scheduler') && 'not installed' }, async () => {
  const place = prepare();
  const port = await freePort();
  writeFileSync(join(place.folder, 'answer.py'), program);
  const started = spawn('bash', ['-c', `${cluster.replaceAll('8786', port)}\nwait`], {
    cwd: place.folder,
    env: place.env,
    detached: true,
    stdio: 'ignore',
  });
  after(() => process.kill(-started.pid, 'SIGKILL'));
  await assertResumes(place, ask.replace('8786', port), () => {});
});
