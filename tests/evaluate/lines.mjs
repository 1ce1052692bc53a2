// Code that the evaluations share: the native command on lines of text, data files, Markdown
// tables.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { root } from '../../tools/build.mjs';

export const glassformer = join(root, 'build/native/glassformer');

/** Options that make the command use every core. */
export const onEveryCore = ['--threads', String(availableParallelism())];

/** Runs a program on lines. Resolves to its output lines, one per input line. */
export function pipeLines(command, args, lines) {
  return new Promise((resolvePromise, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stdin.on('error', () => {}); // the program ended early; its output shows that
    child.on('error', reject);
    child.on('close', () => {
      const output = Buffer.concat(chunks).toString('utf8').split('\n');
      if (output.at(-1) === '') output.pop();
      if (output.length === lines.length) resolvePromise(output);
      else reject(new Error(`${command}: ${lines.length} lines in, ${output.length} out`));
    });
    child.stdin.end(`${lines.join('\n')}\n`);
  });
}

export function readLines(path) {
  const bytes = readFileSync(path);
  const lines = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Returns a Markdown table. */
export function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns sentences about films, from two files in turn. */
export function sentences(data) {
  const files = ['sst2.dev', 'uci_imdb.dev'].map((name) =>
    readLines(join(data, 'sentiment', `${name}.tsv.gz`)).map((line) =>
      line.slice(line.indexOf('\t') + 1).trim(),
    ),
  );
  return files[0].flatMap((_, i) => files.flatMap((lines) => lines[i] ?? []));
}

/** Returns the first twelve words of a text, or nothing if it has no more. */
export function beginning(text) {
  const words = text.split(/\s+/u);
  return words.length > 12 ? words.slice(0, 12).join(' ') : undefined;
}
