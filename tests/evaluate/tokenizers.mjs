// Ids of real tokenizers beside those of their original libraries, on real text:
//
//   node tests/evaluate/tokenizers.mjs DATA [CHROOT]
//
// DATA has text files somewhere below it, of which 20,000 lines are read, and in `tokenizers` a folder
// for each tokenizer. Folders with SentencePiece models are compared with Debian 12's spm_encode;
// SentencePiece 0.2.2 rounds scores another way, and so takes another one of several splits that are
// equally good. The others are compared with the library that made them: this machine's, or that of
// the Debian sid below CHROOT (tests/checkpoints/README.md says how to make one).
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { glassformer, pipeLines, readLines, table } from './lines.mjs';

const wanted = 20_000;
const script = fileURLToPath(new URL('tokenizer_reference.py', import.meta.url));

/** Lines of every text file below a folder, about as many of each file. */
function linesOf(folder) {
  const texts = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsv|txt)(\.gz)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => readLines(file).map((line) => line.replace(/\r$/, '')))
    .map((lines) => lines.filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .sort((a, b) => a.length - b.length); // what short ones lack, the longer ones make up for
  const result = [];
  texts.forEach((lines, i) => {
    const share = Math.min(lines.length, Math.ceil((wanted - result.length) / (texts.length - i)));
    for (let j = 0; j < share; ++j) result.push(lines[Math.floor((j * lines.length) / share)]);
  });
  return result.slice(0, wanted);
}

/** Python with the library, and the folder of copies that it can see; undefined without it. */
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

/** The ids of each line, and those with what a translator expects around it. */
async function encodePieces(folder, lines) {
  const ids = JSON.parse(readFileSync(join(folder, 'vocab.json'), 'utf8'));
  const spm = [`--model=${join(folder, 'source.spm')}`, '--output_format=piece'];
  return (await pipeLines('spm_encode', spm, lines)).map((line) => {
    const pieces = line.split(' ').map((piece) => ids[piece] ?? ids['<unk>']);
    return [pieces, [...pieces, ids['</s>']]];
  });
}

/** How many lines get other ids than these, and the first of them. */
async function compare(folder, lines, expected) {
  const plain = await pipeLines(glassformer, ['tokenize', folder], lines);
  const special = await pipeLines(glassformer, ['tokenize', folder, '--special'], lines);
  const different = lines.filter((_, i) => {
    const [ids, idsWithSpecial] = expected[i];
    return ids.join(' ') !== plain[i] || idsWithSpecial.join(' ') !== special[i];
  });
  return { lines: lines.length, different: different.length, first: different[0] };
}

/** The figures of each tokenizer by its name, as far as its library is there. */
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

/** Whether all ids are the libraries'. */
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

Lines with the same ids as the original library's. Compared are those in the data's \`tokenizers\`
whose library is there: Debian sid's python3-transformers, here or below the folder of --chroot.

${table(['tokenizer', 'alike', 'the first line that is not'], rows)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = await evaluateTokenizers(process.argv[2], process.argv[3]);
  reportTokenizers(figures);
  if (!tokenizersHold(figures)) process.exitCode = 1;
}
