// Ids of real tokenizers beside those of the original library, on real text:
//
//   node tests/evaluate/tokenizers.mjs lines DATA > LINES        20,000 lines of the data sets
//   tests/evaluate/tokenizer_reference.py FOLDER < LINES > REFERENCES/NAME     for each tokenizer
//   node tests/evaluate/tokenizers.mjs compare TOKENIZERS LINES REFERENCES
//
// The middle step needs the original library, wherever it is installed. TOKENIZERS holds a folder for
// each tokenizer, of whose name REFERENCES has a file.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { root } from '../../wasm/toolchain/build.mjs';

const wanted = 20_000;

/** Lines of every text file below a folder, about as many of each file. */
function linesOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsv|txt)(\.gz)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const columns = files.flatMap((file) => {
    const bytes = readFileSync(file);
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const lines = text.split(/\r?\n/).filter((line) => line !== '');
    return lines.length > 0 ? [{ file: relative(folder, file), lines }] : [];
  });
  const result = [];
  for (let left = columns.length; left > 0; --left) {
    const { lines } = columns.sort((a, b) => a.lines.length - b.lines.length)[
      columns.length - left
    ];
    const share = Math.min(lines.length, Math.ceil((wanted - result.length) / left));
    const step = lines.length / share;
    for (let i = 0; i < share; ++i) result.push(lines[Math.floor(i * step)]);
  }
  return result.slice(0, wanted);
}

function tokenize(folder, lines, options) {
  const { status, stdout, stderr } = spawnSync(
    join(root, 'build/native/glassformer'),
    ['tokenize', folder, ...options],
    { input: `${lines.join('\n')}\n`, maxBuffer: 2 ** 30, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout.split('\n').slice(0, -1);
}

/** How many lines get other ids than the reference has, and the first of them. */
function compare(folder, lines, reference) {
  const expected = readFileSync(reference, 'utf8').split('\n').slice(0, -1);
  if (expected.length !== lines.length)
    throw new Error(`${reference}: expected ${lines.length} lines, got ${expected.length}`);
  const plain = tokenize(folder, lines, []);
  const special = tokenize(folder, lines, ['--special']);
  const different = expected.flatMap((json, i) => {
    const [ids, idsWithSpecial] = JSON.parse(json);
    return ids.join(' ') === plain[i] && idsWithSpecial.join(' ') === special[i] ? [] : [lines[i]];
  });
  return { lines: lines.length, different: different.length, first: different[0] };
}

const [command, ...paths] = process.argv.slice(2);
if (command === 'lines' && paths.length === 1) {
  process.stdout.write(`${linesOf(paths[0]).join('\n')}\n`);
} else if (command === 'compare' && paths.length === 3) {
  const [tokenizers, file, references] = paths;
  const lines = readFileSync(file, 'utf8').replace(/\n$/, '').split('\n');
  for (const name of readdirSync(references).sort()) {
    const figures = compare(join(tokenizers, name), lines, join(references, name));
    console.log(`${name}: ${figures.lines - figures.different} of ${figures.lines} lines alike`);
    if (figures.different > 0) {
      console.log(`  first: ${JSON.stringify(figures.first)}`);
      process.exitCode = 1;
    }
  }
} else {
  console.error('usage: tokenizers.mjs lines DATA | compare TOKENIZERS LINES REFERENCES');
  process.exitCode = 2;
}
