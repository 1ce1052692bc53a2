// `glassformer train` where files cannot be written: what was learned is kept.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { command } from './run.mjs';
import { config, file, fresh, train } from './training.mjs';

const data = file(Array.from({ length: 200 }, (_, i) => `${i % 2 ? 'good' : 'bad'}\ta film ${i}`));
const options = ['--vocabulary', '60', '--epochs', '20'];

/** Trains with a limit on the size of files, in blocks of 512 or 1024 bytes. */
const trainWithin = (blocks, folder, ...more) =>
  spawnSync(
    'sh',
    [
      '-c',
      `ulimit -f ${blocks} && exec "$@"`,
      'sh',
      command,
      'train',
      config,
      data,
      folder,
      ...more,
    ],
    { encoding: 'utf8' },
  );

/** Trains, and calls act() as soon as the first measurement is shown. */
async function during(folder, act) {
  const child = spawn(command, ['train', config, data, folder, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  for await (const chunk of child.stderr) {
    if (!said.includes('"step"') && String(chunk).includes('"step"')) act(child);
    said += chunk;
  }
  return said;
}

test('a model that cannot be saved is kept as a checkpoint, and --resume saves it', async () => {
  const whole = fresh();
  assert.equal(train(config, data, whole, ...options).status, 0);
  const folder = fresh();
  const said = await during(folder, () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'model.safetensors'), 'mine');
  });
  assert.match(said, /what was learned is in .*\.checkpoint; the same command with --resume saves/);
  assert.match(said, /model\.safetensors: exists already; nothing was written/);
  assert.equal(readFileSync(join(folder, 'model.safetensors'), 'utf8'), 'mine');
  rmSync(folder, { recursive: true });
  const { status, stderr } = train(config, data, folder, ...options, '--resume');
  assert.equal(status, 0, stderr);
  const weights = (of) => readFileSync(join(of, 'model.safetensors'));
  assert.deepEqual(weights(folder), weights(whole));
  assert.ok(!existsSync(`${folder}.checkpoint`));
});

test('a full disk: the error has the path, and the checkpoint before it stays', async () => {
  const folder = fresh();
  const said = await during(folder, (child) => child.kill('SIGINT'));
  assert.match(said, /stopped/);
  const before = readFileSync(`${folder}.checkpoint`);
  appendFileSync(`${folder}.log.jsonl`, '{"step":1,"lo'); // a line whose end was not written
  const full = trainWithin(8, folder, ...options, '--resume');
  assert.equal(full.status, 1, full.stderr);
  assert.match(
    full.stderr,
    /checkpoint\.new: cannot be written: File too large; the checkpoint bef/,
  );
  assert.match(full.stderr, /model\.safetensors: cannot be written: File too large/);
  assert.deepEqual(readFileSync(`${folder}.checkpoint`), before);
  for (const end of ['', '.checkpoint.new', '.lock']) assert.ok(!existsSync(folder + end), end);
  const { status, stderr } = train(config, data, folder, ...options, '--resume');
  assert.equal(status, 0, stderr);
});

/** Runs a script of the shell as root, if need be of a user namespace, with mounts of its own. */
const withMounts = (script, ...values) =>
  spawnSync('unshare', ['--map-root-user', '--mount', 'sh', '-ec', script, 'sh', ...values], {
    encoding: 'utf8',
  });
const mayMount = withMounts('mount -t tmpfs none /mnt').status === 0;
const skip = mayMount ? false : 'this user may not mount a file system';

test('a disk without enough space is refused before the first step', { skip }, () => {
  const folder = fresh();
  mkdirSync(folder);
  const small = 'mount -t tmpfs -o size=64k none "$1"; shift; exec "$@"';
  const into = join(folder, 'model');
  const given = [folder, command, 'train', config, data, into, ...options];
  const { status, stderr } = withMounts(small, ...given);
  assert.equal(status, 1, stderr);
  assert.match(
    stderr,
    new RegExp(
      `${folder}: expected \\d MB free on the disk, for a checkpoint and the weights, got 0`,
    ),
  );
  assert.doesNotMatch(stderr, /examples|"step"/);
  assert.equal(withMounts(small.replace('64k', '9m'), ...given).status, 0);
});

test('a log that cannot be written is a warning', () => {
  const folder = fresh();
  mkdirSync(`${folder}.log.jsonl`);
  const { status, stderr } = train(config, data, folder, ...options);
  assert.equal(status, 0, stderr);
  assert.equal(
    stderr.match(/warning: .*\.log\.jsonl: cannot be written: Is a directory/g).length,
    1,
  );
});
