// The code in the documentation: ```language kind … ```. docs.test.mjs describes the kinds.
import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../tools/build.mjs';

export const documents = [
  ...readdirSync(join(root, 'web/docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `web/docs/${file}`),
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
];

/** Every block of code: { file, line, language, kind, code }. */
export const snippets = documents.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const blocks = [...text.matchAll(/^```(\w+) ?(.*)\n([^]*?)^```$/gm)];
  return blocks.map(({ index, 1: language, 2: kind, 3: code }) => {
    return { file, line: text.slice(0, index).split('\n').length, language, kind, code };
  });
});

export const of = (language, kind) =>
  snippets.filter((snippet) => snippet.language === language && snippet.kind === kind);

/** Makes a folder in the repository in which the packages can be imported by name. */
export function folderWithPackages(name) {
  const folder = join(root, 'build', name);
  rmSync(folder, { recursive: true, force: true });
  const links = { '@glassformer': join(root, 'build/packages'), glassformer: root };
  for (const [link, target] of Object.entries(links)) {
    const path = join(folder, 'node_modules', link);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  }
  return folder;
}
