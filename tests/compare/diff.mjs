// Compares two folders that `record` wrote.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { splitSafetensors } from './safetensors.mjs';

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

/**
 * Prints each file that differs. Returns whether all differences are numbers within the tolerance.
 */
export function diff(a, b, tolerance) {
  const [these, those] = [filesOf(a), filesOf(b)];
  let good = true;
  const complain = (name, problem, bad) => {
    console.log(`${bad ? 'DIFFERS' : 'within '}  ${name}: ${problem}`);
    if (bad) good = false;
  };
  for (const name of these.filter((each) => !those.includes(each))) complain(name, 'missing', true);
  for (const name of those.filter((each) => !these.includes(each))) complain(name, 'new', true);
  let equal = 0;
  for (const name of these.filter((each) => those.includes(each))) {
    const [one, other] = [readFileSync(join(a, name)), readFileSync(join(b, name))];
    if (one.equals(other)) {
      equal++;
      continue;
    }
    const distance = distanceOf(parse(name, one), parse(name, other));
    complain(name, distance.reason ?? `off by ${distance.most}`, !(distance.most <= tolerance));
  }
  console.log(`${equal} of ${these.length} files are equal to the byte`);
  return good;
}

function parse(name, bytes) {
  if (name.endsWith('.safetensors')) {
    const { header, data } = splitSafetensors(bytes);
    return Object.fromEntries(
      Object.entries(header).map(([tensor, { shape, data_offsets: place }]) => [
        tensor,
        { shape, data: new Float32Array(data.slice(...place).buffer) },
      ]),
    );
  }
  const text = bytes.toString();
  if (name.endsWith('inspect.out') && text.startsWith('{')) {
    const end = text.indexOf('\n}\n') + 3;
    return { config: JSON.parse(text.slice(0, end)), tensors: text.slice(end) };
  }
  if (text.includes('; it has ')) return text.split(/, |; it has /).sort();
  try {
    return name.endsWith('.json') ? JSON.parse(text) : text.trim().split('\n').map(JSON.parse);
  } catch {
    return text;
  }
}

const floats = (text) => {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0 || bytes.toString('base64') !== text) return undefined;
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};

/**
 * Returns the largest difference between numbers of two values, or another reason why they differ.
 */
function distanceOf(a, b, path = '') {
  if (typeof a === 'number' && typeof b === 'number') return { most: Math.abs(a - b) };
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b) && a.length === b.length) {
    let most = 0;
    for (let i = 0; i < a.length; i++) {
      if (a[i] !== b[i]) most = Math.max(most, Math.abs(a[i] - b[i]));
    }
    return { most };
  }
  if (typeof a === 'string' && typeof b === 'string') {
    if (a === b) return { most: 0 };
    const [one, other] = [floats(a), floats(b)];
    if (one && other) return distanceOf(one, other, path);
    return { most: Infinity, reason: `${path}: "${a.slice(0, 200)}" and "${b.slice(0, 200)}"` };
  }
  if (a && b && typeof a === 'object' && typeof b === 'object') {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    let worst = { most: 0 };
    for (const key of keys) {
      const own = distanceOf(a[key], b[key], `${path}.${key}`);
      if (own.most > worst.most || Number.isNaN(own.most)) worst = own;
    }
    return worst;
  }
  return a === b ? { most: 0 } : { most: Infinity, reason: `${path}: ${a} and ${b}` };
}
