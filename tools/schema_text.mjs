// Names, sentences and files as schema.mjs and its parts write them.
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './run.mjs';

export const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
export const snake = (name) => name.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase();

/** Replaces the names between backquotes. */
export const spelling = (text, spell) =>
  text.replace(/`(\w+)`/g, (_, name) => `\`${spell(name)}\``);

/** Returns the text as lines of at most `width` characters. */
export function wrapped(text, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}

/** Returns a comment of TypeScript. */
export const commentOf = (text) => {
  const lines = wrapped(text, 92);
  return lines.length === 1
    ? `/** ${lines[0]} */`
    : `/**\n${lines.map((line) => ` * ${line}`).join('\n')}\n */`;
};

/** Returns a file of TypeScript with these parts, formatted. */
export async function formatted(file, parts) {
  const path = join(root, file);
  return format(parts.join('\n\n'), { ...(await resolveConfig(path)), filepath: path });
}
