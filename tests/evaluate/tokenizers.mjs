// Compares the ids of real tokenizers with those of their original libraries, on real text:
//
//   node tests/evaluate/tokenizers.mjs DATA [CHROOT]
//
// DATA contains text files, of which 20,000 lines are read, and a folder `tokenizers` with a folder
// per tokenizer. Folders with SentencePiece models are compared with Debian 12's spm_encode.
// SentencePiece 0.2.2 rounds scores in another way, and so chooses another of several equally good
// splits. The other tokenizers are compared with the library that made them: this machine's, or
// that of the Debian sid in CHROOT (see tests/fixtures/checkpoints/README.md).
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { glassformer, pipeLines, readLines, table } from './lines.mjs';

const wanted = 20_000;
const script = fileURLToPath(new URL('tokenizer_reference.py', import.meta.url));

/** Returns lines of every text file in a folder, about the same number from each file. */
function linesOf(folder) {
  const texts = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsv|txt)(\.gz)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => readLines(file).map((line) => line.replace(/\r$/, '')))
    .map((lines) => lines.filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .sort((a, b) => a.length - b.length); // longer files make up for short ones
  const result = [];
  texts.forEach((lines, i) => {
    const share = Math.min(lines.length, Math.ceil((wanted - result.length) / (texts.length - i)));
    for (let j = 0; j < share; ++j) result.push(lines[Math.floor((j * lines.length) / share)]);
  });
  return result.slice(0, wanted);
}

/**
 * Finds a Python with the library, and a folder of copies that it can read; undefined without it.
 */
function findLibrary(tokenizers, chroot) {
  const [command, ...args] = chroot ? ['chroot', chroot, 'python3'] : ['/usr/bin/python3'];
  const { status } = spawnSync(command, [...args, '-c', 'import tokenizers, transformers']);
  if (status !== 0) return undefined;
  const copies = mkdtempSync(join(chroot ?? '/', 'tmp/glassformer-'));
  cpSync(script, join(copies, 'reference.py'));
  cpSync(tokenizers, join(copies, 'tokenizers'), { recursive: true });
  const seen = (path) => join('/', relative(chroot ?? '/', join(copies, path)));
  return {
    async encode(name, lines) {
      const reference = [seen('reference.py'), seen(join('tokenizers', name))];
      const answers = await pipeLines(command, [...args, ...reference], lines);
      return answers.map((answer) => JSON.parse(answer));
    },
    close: () => rmSync(copies, { recursive: true }),
  };
}

/**
 * Returns the ids of each line, and the ids with the tokens that a translator expects around it.
 */
async function encodePieces(folder, lines) {
  const ids = JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8'));
  const spm = [`--model=${join(folder, 'source.spm')}`, '--output_format=piece'];
  return (await pipeLines('spm_encode', spm, lines)).map((line) => {
    const pieces = line.split(' ').map((piece) => ids[piece] ?? ids['<unk>']);
    return [pieces, [...pieces, ids['</s>']]];
  });
}

/** Counts the lines with ids other than these, and returns the first of them. */
async function compare(folder, lines, expected) {
  const plain = await pipeLines(glassformer, ['tokenize', folder], lines);
  const special = await pipeLines(glassformer, ['tokenize', folder, '--special'], lines);
  const different = lines.filter((_, i) => {
    const [ids, idsWithSpecial] = expected[i];
    return ids.join(' ') !== plain[i] || idsWithSpecial.join(' ') !== special[i];
  });
  return { lines: lines.length, different: different.length, first: different[0] };
}

/** Returns the figures of each tokenizer, by name, if its library is installed. */
export async function evaluateTokenizers(data, chroot) {
  const tokenizers = join(data, 'tokenizers');
  if (!existsSync(tokenizers)) return {};
  const library = findLibrary(tokenizers, chroot);
  const lines = linesOf(data);
  const figures = {};
  try {
    for (const entry of readdirSync(tokenizers, { withFileTypes: true })) {
      const { name } = entry;
      const folder = join(tokenizers, name);
      const sentencePiece = existsSync(join(folder, 'source.spm'));
      if (!entry.isDirectory() || (!sentencePiece && !library)) continue;
      const expected = await (sentencePiece
        ? encodePieces(folder, lines)
        : library.encode(name, lines));
      figures[name] = await compare(folder, lines, expected);
    }
  } finally {
    library?.close();
  }
  return figures;
}

/** Tells whether all ids equal those of the libraries. */
export function tokenizersHold(figures) {
  return Object.values(figures).every(({ different }) => different === 0);
}

export function reportTokenizers(figures) {
  const rows = Object.entries(figures).map(([name, { lines, different, first }]) => [
    name,
    `${lines - different} of ${lines}`,
    first === undefined ? '' : JSON.stringify(first),
  ]);
  console.log(`
## Tokenizers

Lines with the same ids as from the original library. The table has each tokenizer in the data's
\`tokenizers\` whose library is installed (Debian sid's python3-transformers), here or below the
folder of --chroot.

${table(['tokenizer', 'alike', 'the first line that is not'], rows)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = await evaluateTokenizers(process.argv[2], process.argv[3]);
  reportTokenizers(figures);
  if (!tokenizersHold(figures)) process.exitCode = 1;
}
