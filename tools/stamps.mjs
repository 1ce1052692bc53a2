// Does work again only if the contents of its inputs have changed, whatever their dates are.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { filesIn, root } from './run.mjs';

/** Returns the files among `inputs`, which are files and folders. */
function filesOf(inputs) {
  return inputs.flatMap((input) => {
    const path = join(root, input);
    if (!existsSync(path)) return [];
    return statSync(path).isDirectory() ? filesIn(input) : [input];
  });
}

const contentOf = (file) => readFileSync(join(root, file));

/** Returns the hash of the contents of files and folders. */
export function hashOf(inputs) {
  const hash = createHash('sha256').update(process.version);
  for (const file of filesOf(inputs)) hash.update(file).update('\0').update(contentOf(file));
  return hash.digest('hex');
}

/** Does `work`, unless it succeeded before with the same contents of `inputs` (files, folders). */
export async function unlessDone(name, inputs, outputs, work) {
  const value = hashOf(inputs);
  const stamp = join(root, 'build/stamps', name);
  const done = outputs.every((file) => existsSync(join(root, file)));
  if (done && existsSync(stamp) && readFileSync(stamp, 'utf8') === value) return;
  rmSync(stamp, { force: true });
  await work();
  write(stamp, value);
}

/**
 * Does `work`, which goes by the dates of files, so that a file with the same content as the last time
 * has the same date, too: a change of branch and back compiles nothing again. `log` is a file that the
 * work writes. If it has changed since, another program has built, perhaps other contents: dates stay.
 */
export async function withOldDates(name, inputs, log, work) {
  const record = join(root, 'build/stamps', `${name}.json`);
  const dateOf = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
  const logDate = () => dateOf(join(root, log));
  const last = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : {};
  const before = last.log === logDate() ? last.files : {};
  const now = {};
  for (const file of filesOf(inputs)) {
    const hash = createHash('sha256').update(contentOf(file)).digest('base64');
    const path = join(root, file);
    const known = before[file];
    if (known?.hash === hash && dateOf(path) > known.date)
      utimesSync(path, known.date / 1000, known.date / 1000);
    now[file] = { hash, date: dateOf(path) };
  }
  // Work that fails may have used files with other contents. Their old dates must not come back.
  const same = Object.entries(now).filter(([file, { hash }]) => before[file]?.hash === hash);
  const note = (files) => write(record, JSON.stringify({ log: logDate(), files }));
  note(Object.fromEntries(same));
  await work();
  note(now);
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
