// The `glassformer` command with hostile files, full disks and closed streams: it prints a message,
// sets an exit code, and allocates no memory for data that does not exist.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { command, glassformer, root } from './run.mjs';

const golden = join(root, 'tests/fixtures/golden/pre_norm_mean');
const scratch = mkdtempSync(join(tmpdir(), 'glassformer-attack-'));
after(() => rmSync(scratch, { recursive: true }));

let count = 0;
const fresh = () => join(scratch, String(++count));

function copyOf(model = golden) {
  const folder = fresh();
  cpSync(model, folder, { recursive: true });
  return folder;
}

/** Copies the golden model and changes some of its configuration. */
function configured(changes) {
  const folder = copyOf();
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...changes }));
  return folder;
}

/** Runs a line of bash in which "$0" is the command. */
function shell(line, ...args) {
  return spawnSync('bash', ['-c', line, command, ...args], { encoding: 'utf8', input: 'a film\n' });
}

function assertFails({ status, stderr, stdout }, pattern) {
  assert.equal(status, 1, stderr);
  assert.match(stderr, pattern);
  assert.match(stderr, /^glassformer: .*\n$/);
  assert.equal(stdout, '');
}

/** Returns a safetensors file from its header, as an object, and its data. */
function readWeights(folder) {
  const bytes = readFileSync(join(folder, 'model.safetensors'));
  const size = Number(bytes.readBigUInt64LE());
  return { header: JSON.parse(bytes.subarray(8, 8 + size)), data: bytes.subarray(8 + size) };
}

function writeWeights(folder, header, data = Buffer.alloc(0)) {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([size, json, data]));
}

// A tenth of the memory that the smallest of these used to take. The sanitizers add about as much,
// and reserve addresses that must not be limited.
const sanitized = 'ASAN_OPTIONS=hard_rss_limit_mb=400:quarantine_size_mb=1 "$0" classify "$1"';
const little = process.env.GLASSFORMER ? 'ulimit -v 300000 && "$0" classify "$1"' : sanitized;

test('a configuration allocates no memory for missing weights', () => {
  const sizes = { d_model: 16384, d_ff: 16384, n_heads: 16, encoder_layers: 1024 };
  for (const changes of [
    { ...sizes, max_source_length: 16384 },
    { d_ff: 16384, encoder_layers: 1024 },
    { vocab_size: 1 << 24 },
    { max_source_length: 1 << 20, positions: 'learned' },
    { labels: Array.from({ length: 65536 }, (_, i) => `l${i}`) },
  ]) {
    const { status, stderr } = shell(little, configured(changes));
    assert.equal(status, 1);
    assert.match(stderr, /^glassformer: (missing_tensor|shape_mismatch): model\.safetensors: /);
  }
});

test('positions take memory for the actual texts, not for the longest possible text', () => {
  const { status, stdout, stderr } = shell(little, configured({ max_source_length: 1 << 20 }));
  assert.equal(status, 0, stderr);
  const expected = glassformer(['classify', golden], 'a film\n').stdout;
  assert.equal(stdout, expected);
});

test('a header of many tensors takes a small multiple of its size', () => {
  const folder = copyOf();
  const tensor = '{"dtype":"I8","shape":[0],"data_offsets":[0,0]}';
  const many = Array.from({ length: 350_000 }, (_, i) => `"${i}":${tensor}`);
  writeWeights(folder, `{${many.join(',')}}`); // 20 MB
  const { status, stderr } = shell(little, folder);
  assert.equal(status, 1);
  assert.match(stderr, /^glassformer: missing_tensor: /);
  writeWeights(folder, `{"a":{${Array.from({ length: 2_000_000 }, (_, i) => `"${i}":0`)}}}`);
  assert.match(shell(little, folder).stderr, /a: expected at most 64 fields, got 2000000/);
});

test('files over the limit of their kind are refused without being read', () => {
  const refused = (name, bytes, pattern) => {
    const folder = copyOf();
    writeFileSync(join(folder, name), '');
    truncateSync(join(folder, name), bytes);
    assertFails(shell(little, folder), pattern);
  };
  refused('config.json', 2 ** 20 + 1, /invalid_config: .*at most 1048576 bytes, got 1048577/);
  refused('config.json', 2 ** 40, /invalid_config: config\.json: expected at most 1048576 bytes/);
  refused('tokenizer.model', 2 ** 36, /invalid_tokenizer: .*at most 33554432 bytes, got 68719/);
  const long = Buffer.alloc(8);
  long.writeBigUInt64LE(100_000_001n);
  const folder = copyOf();
  writeFileSync(join(folder, 'model.safetensors'), long);
  assertFails(shell(little, folder), /header: expected at most 100000000 bytes, got 100000001/);
});

test('non-finite numbers are refused with the name of their tensor', () => {
  const name = 'encoder.layers.1.fc1.bias';
  for (const [dtype, bytes] of [
    ['F32', [0, 0, 0xc0, 0x7f]],
    ['F32', [0, 0, 0x80, 0xff]],
    ['F16', [0, 0x7c]],
    ['BF16', [0x80, 0x7f]],
  ]) {
    const folder = copyOf();
    const { header, data } = readWeights(folder);
    const { shape, data_offsets: offsets } = header[name];
    const values = Buffer.alloc(bytes.length * shape[0]);
    Buffer.from(bytes).copy(values, values.length - bytes.length);
    header[name].dtype = dtype;
    header[name].data_offsets = [offsets[0], offsets[0] + values.length];
    const shift = values.length - (offsets[1] - offsets[0]);
    for (const [other, tensor] of Object.entries(header)) {
      if (other === '__metadata__' || tensor.data_offsets[0] < offsets[1] || other === name)
        continue;
      tensor.data_offsets = tensor.data_offsets.map((offset) => offset + shift);
    }
    const parts = [data.subarray(0, offsets[0]), values, data.subarray(offsets[1])];
    writeWeights(folder, header, Buffer.concat(parts));
    const pattern = new RegExp(
      `invalid_weights: model.safetensors: ${name}: expected finite numbers, ` +
        `got (NaN|-?Infinity) at element ${shape[0] - 1}`,
    );
    for (const compute of ['f32', 'int8']) {
      assertFails(glassformer(['classify', folder, '--compute', compute], 'a\n'), pattern);
    }
  }
  const small = fresh();
  assert.equal(glassformer(['quantize', golden, small]).status, 0);
  const { header, data } = readWeights(small);
  const scale = 'encoder.layers.0.fc1.weight_scale';
  for (const value of [NaN, Infinity, 3e38]) {
    const changed = Buffer.from(data);
    changed.writeFloatLE(value, header[scale].data_offsets[0] + 4);
    writeWeights(small, header, changed);
    assertFails(
      glassformer(['classify', small], 'a\n'),
      /invalid_weights: .*fc1\.weight_scale: expected scales .*, got (NaN|Infinity|3e\+38) at elem/,
    );
  }
});

test('lost output is an error', () => {
  const commands = ['classify', 'translate', 'tokenize', 'inspect', 'bench --lengths 2'];
  const translator = join(root, 'tests/fixtures/golden/translate_pre_norm_shared');
  for (const name of commands) {
    const [verb, ...options] = name.split(' ');
    const args = [verb, verb === 'translate' ? translator : golden, ...options];
    assertFails(
      shell('"$0" "$@" > /dev/full', ...args),
      /standard output: cannot be written: No space left on device/,
    );
    assertFails(
      shell('"$0" "$@" >&-', ...args),
      /standard output: cannot be written: Bad file descriptor/,
    );
  }
  assertFails(shell('"$0" --help > /dev/full'), /standard output: cannot be written/);
});

test('the command stops at the first lost answer', () => {
  const { status } = shell('yes "a film" | "$0" "$@" > /dev/full', 'classify', golden);
  assert.equal(status, 1);
  const closed = shell('set -o pipefail; yes "a film" | "$0" "$@" | head -n 1', 'tokenize', golden);
  assert.match(closed.stdout, /^\d+( \d+)*\n$/);
  assert.equal(closed.status, 128 + 13); // ended by SIGPIPE, like filters
});

test('unreadable input is an error', () => {
  for (const verb of ['classify', 'tokenize']) {
    assertFails(
      shell('"$0" "$@" < /', verb, golden),
      /standard input: cannot be read: Is a directory/,
    );
    assertFails(
      shell('"$0" "$@" <&-', verb, golden),
      /standard input: cannot be read: Bad file descriptor/,
    );
  }
});

test('a path that is not a regular file is refused without waiting', () => {
  const replaced = (name, replace) => {
    const folder = copyOf();
    rmSync(join(folder, name));
    replace(join(folder, name));
    return glassformer(['classify', folder], 'a\n');
  };
  const pipe = (path) => spawnSync('mkfifo', [path]);
  assertFails(
    replaced('model.safetensors', pipe),
    /invalid_safetensors: .*expected a file, got a p/,
  );
  assertFails(replaced('config.json', pipe), /invalid_config: .*expected a file, got a pipe/);
  assertFails(replaced('tokenizer.model', mkdirSync), /invalid_tokenizer: .*got a folder/);
  const loop = (path) => symlinkSync(path, path);
  for (const name of ['config.json', 'model.safetensors', 'tokenizer.model']) {
    assertFails(
      replaced(name, loop),
      new RegExp(`missing_file: .*${name}: cannot be read: Too many levels of symbolic links`),
    );
  }
});

test('a label is one line', () => {
  assertFails(
    glassformer(['classify', configured({ labels: ['good\nbad', 'x'] })], 'a\n'),
    /invalid_config: config\.json: labels: expected no control characters, got "good\\nbad"/,
  );
});

function manifestOf(folder, names) {
  const files = names.map((name) => {
    const bytes = readFileSync(join(folder, name));
    return [name, { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }];
  });
  return `${JSON.stringify({ files: Object.fromEntries(files) }, undefined, 2)}\n`;
}

const described = ['config.json', 'model.safetensors', 'tokenizer.model'];

test('init and quantize write a manifest, with which inspect compares the files', () => {
  const [whole, small] = [fresh(), fresh()];
  assert.equal(glassformer(['init', join(golden, 'config.json'), whole, '--seed', '1']).status, 0);
  writeFileSync(join(whole, 'README.md'), 'card');
  assert.equal(glassformer(['quantize', whole, small]).status, 0);
  for (const folder of [whole, small]) {
    const manifest = readFileSync(join(folder, 'manifest.json'), 'utf8');
    assert.equal(manifest, manifestOf(folder, described));
    assert.match(
      glassformer(['inspect', folder]).stdout,
      /\nmanifest\.json agrees with 3 files\n$/,
    );
  }
  assert.deepEqual(readdirSync(small).sort(), [...described, 'README.md', 'manifest.json'].sort());
  for (const [options, expected] of [
    [['--weights', '8', '--tables'], /--tables: expected --weights 4, got --weights 8/],
    [['--tables'], /--tables requires --weights/],
  ]) {
    const other = fresh();
    const { status, stderr } = glassformer(['quantize', whole, other, ...options]);
    assert.notEqual(status, 0);
    assert.match(stderr, expected);
    assert.equal(existsSync(join(other, 'config.json')), false);
  }
  const config = readFileSync(join(small, 'config.json'), 'utf8');
  for (const changed of [config + ' ', config.replace(' ', '\n')]) {
    writeFileSync(join(small, 'config.json'), changed);
    const { status, stderr } = glassformer(['inspect', small]);
    assert.equal(status, 1, 'one more byte, or a changed one');
    assert.match(
      stderr,
      /invalid_manifest: manifest\.json: "config\.json": expected a file of \d+ by/,
    );
  }
  assert.match(glassformer(['inspect', golden]).stdout, /\nno manifest\.json\n$/);
});

// Weights of 12 MB, so that a limit on file sizes stops writing half-way.
const large = join(configured({ d_ff: 65536 }), 'config.json');
const init = ['init', large, '--seed', '1'];
const limited = 'ulimit -f 4000; "$0" "$@"';

test('a model that could not be written leaves no files', () => {
  const folder = fresh();
  const args = init.toSpliced(2, 0, folder);
  assertFails(shell(limited, ...args), /cannot be written: File too large/);
  assert.equal(existsSync(folder), false);
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes'), '');
  assert.equal(shell(limited, ...args).status, 1);
  assert.deepEqual(readdirSync(folder), ['notes']);
});

test('a run after a killed one works', () => {
  const [folder, expected] = [fresh(), fresh()];
  // What it leaves: a folder with a part of its files, which nobody holds.
  const left = join(dirname(folder), `.glassformer-unfinished-${basename(folder)}-1-0`);
  mkdirSync(left);
  writeFileSync(join(left, 'model.safetensors'), 'half');
  for (const target of [folder, expected]) {
    const { status, stderr } = glassformer(init.toSpliced(2, 0, target));
    assert.equal(status, 0, stderr);
  }
  assert.equal(existsSync(left), false);
  assert.deepEqual(readdirSync(folder).sort(), [...described, 'manifest.json'].sort());

  // Killed while renaming: some files exist, and a list of all of them. These may be overwritten,
  // but not files of another program.
  const half = fresh();
  const unfinished = join(half, '.glassformer-unfinished');
  mkdirSync(unfinished, { recursive: true });
  cpSync(join(expected, 'model.safetensors'), join(half, 'model.safetensors'));
  writeFileSync(join(unfinished, 'published.json'), manifestOf(expected, described));
  assert.equal(glassformer(init.toSpliced(2, 0, half)).status, 0);
  assert.equal(manifestOf(half, described), manifestOf(expected, described));
  mkdirSync(unfinished);
  writeFileSync(join(unfinished, 'published.json'), manifestOf(expected, described));
  writeFileSync(join(half, 'config.json'), '{}');
  assertFails(glassformer(init.toSpliced(2, 0, half)), /config\.json: exists already; nothing was/);
  assert.equal(readFileSync(join(half, 'config.json'), 'utf8'), '{}');
});

test('every target is checked before anything is written, also dangling links', () => {
  for (const name of [...described, 'manifest.json']) {
    for (const verb of [
      ['init', join(golden, 'config.json')],
      ['quantize', golden],
    ]) {
      const folder = fresh();
      const elsewhere = fresh();
      mkdirSync(folder);
      symlinkSync(elsewhere, join(folder, name));
      const args = [...verb, folder, ...(verb[0] === 'init' ? ['--seed', '1'] : [])];
      assertFails(glassformer(args), /exists already; nothing was written/);
      assert.deepEqual(readdirSync(folder), [name]);
      assert.equal(existsSync(elsewhere), false);
    }
  }
});
