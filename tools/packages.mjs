// What the packages in build/packages have in common: @glassformer/NAME, published with the package.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** The package's own package.json. */
export const main = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
export const repository = main.repository.url.replace(/^git\+|\.git$/g, '');

export const packageFolder = (name) => join(root, 'build/packages', name);

/** Writes package.json. `directory` has the sources; `fields` are those that not all packages share. */
export function writeManifest(name, directory, fields) {
  const manifest = {
    name: `@glassformer/${name}`,
    version: main.version,
    author: main.author,
    repository: { ...main.repository, directory },
    bugs: main.bugs,
    type: 'module',
    ...fields,
  };
  writeFileSync(
    join(packageFolder(name), 'package.json'),
    `${JSON.stringify(manifest, null, 2)}\n`,
  );
}
