// `mpirun glassformer train`: several processes that learn together. Needs Open MPI, which the set-up
// of `npm run test:full` installs on Debian.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { command, glassformer } from './run.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'glassformer-mpi-'));
after(() => rmSync(scratch, { recursive: true }));
const path = (name) => join(scratch, name);

const config = path('config.json');
writeFileSync(config, JSON.stringify({ encoder_layers: 1, d_model: 32, d_ff: 64, n_heads: 2 }));
const words = [
  'fine',
  'dull',
  'warm',
  'cold',
  'great',
  'poor',
  'lovely',
  'boring',
  'film',
  'story',
];
const data = path('data.tsv');
writeFileSync(
  data,
  Array.from({ length: 120 }, (_, i) => {
    const text = Array.from({ length: 5 + (i % 7) }, (_, j) => words[(i * 7 + j * 3) % 10]);
    return `${i % 2 ? 'good' : 'bad'}\t${text.join(' ')}\n`;
  }).join(''),
);
// Five shards or more in a step, so that processes take several turns.
const shape = ['--batch-tokens', '200', '--shard-tokens', '40', '--vocabulary', '60'];
const args = (folder, ...more) => [
  ...['train', config, data, path(folder), ...shape, '--held-out', '0.1', ...more],
];

const isThere = spawnSync('mpirun', ['--version']).status === 0;
const skip = isThere ? false : 'Open MPI is not installed';

// MPI's libraries keep some memory until the end, which the sanitizers would report.
const env = { ...process.env, ASAN_OPTIONS: 'detect_leaks=0' };
const launcher = (processes) => [
  ...['--allow-run-as-root', '--oversubscribe', '-np', String(processes), command],
];
const together = (processes, ...list) =>
  spawnSync('mpirun', [...launcher(processes), ...list], { env, encoding: 'utf8' });

const weights = (folder) => readFileSync(join(path(folder), 'model.safetensors'));

test('two and three processes give the weights of one', { skip }, () => {
  const one = glassformer(args('one', '--epochs', '3'));
  assert.equal(one.status, 0, one.stderr);
  for (const processes of [2, 3]) {
    const folder = `of${processes}`;
    const { status, stderr } = together(processes, ...args(folder, '--epochs', '3'));
    assert.equal(status, 0, stderr);
    assert.equal(stderr.match(/examples, \d+ more to measure/g).length, 1, 'one process tells');
    assert.deepEqual(weights(folder), weights('one'), `${processes} processes`);
  }
  const threads = together(2, ...args('threads', '--epochs', '3', '--threads', '2'));
  assert.equal(threads.status, 0, threads.stderr);
  assert.deepEqual(weights('threads'), weights('one'), 'with threads');
});

const long = ['--epochs', '1000'];

/** Starts a long training of two processes; calls `act(child)` once its log has another line. */
async function interrupted(folder, more, act) {
  const log = `${path(folder)}.log.jsonl`;
  const sizeOf = () => (existsSync(log) ? statSync(log).size : 0);
  const before = sizeOf();
  const list = [...launcher(2), ...args(folder, ...long, ...more)];
  const child = spawn('mpirun', list, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const timer = setInterval(() => {
    if (sizeOf() === before) return;
    clearInterval(timer);
    act(child);
  }, 5);
  let said = '';
  child.stderr.setEncoding('utf8');
  for await (const chunk of child.stderr) said += chunk;
  clearInterval(timer);
  if (child.exitCode === null) await once(child, 'exit');
  return { said, status: child.exitCode };
}

test('stopped processes leave a checkpoint, and a dead one ends the others', { skip }, async () => {
  const whole = glassformer(args('whole', ...long));
  assert.equal(whole.status, 0, whole.stderr);
  const stopped = await interrupted('long', [], (child) => child.kill('SIGTERM'));
  assert.match(stopped.said, /stopped; the same command with --resume goes on/);
  const checkpoint = `${path('long')}.checkpoint`;
  assert.ok(existsSync(checkpoint));

  const kept = readFileSync(checkpoint);
  const died = await interrupted('long', ['--resume'], ({ pid }) => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(children.at(-1)), 'SIGKILL');
  });
  assert.notEqual(died.status, 0);
  assert.match(died.said, /exited on signal 9|SIGKILL|Killed/i);
  assert.deepEqual(readFileSync(checkpoint), kept);
  assert.ok(!existsSync(path('long')));

  const resumed = together(2, ...args('long', ...long, '--resume'));
  assert.equal(resumed.status, 0, resumed.stderr);
  assert.match(resumed.stderr, /goes on after step \d+/);
  assert.deepEqual(weights('long'), weights('whole'));
});

test('processes with other examples are refused', { skip }, () => {
  const other = path('other.tsv');
  writeFileSync(other, 'good\ta film\nbad\ta story\n');
  const list = ['--allow-run-as-root', '--oversubscribe'];
  const [first, second] = [data, other].map((file) => [
    ...['-np', '1', command, 'train', config, file, path('mixed'), ...shape, '--held-out', '0'],
  ]);
  const { status, stderr } = spawnSync('mpirun', [...list, ...first, ':', ...second], {
    env,
    encoding: 'utf8',
  });
  assert.notEqual(status, 0);
  assert.match(stderr, /process 1: expected the same examples and options as process 0/);
  assert.ok(!existsSync(path('mixed')));
});
