// Writes the packages that stand on the package: @glassformer/html, @glassformer/pipelines and
// @glassformer/element. Each is wasm/src/NAME.ts with its folder.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const main = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const repository = main.repository.url.replace(/^git\+|\.git$/g, '');
const docs = `${repository}/blob/main/web/docs`;

export const companions = {
  html: {
    description: 'Translates HTML, and texts with placeholders, with the models of glassformer.',
    more: `${docs}/web.md#html-and-placeholders`,
  },
  pipelines: {
    description: 'The function `pipeline` of Transformers.js over the models of glassformer.',
    more: `${docs}/transformers-js.md`,
  },
  element: {
    description: 'The element <glassformer-attention>: attention maps of glassformer in any page.',
    more: `${docs}/web.md#show-the-attention`,
    alone: true, // needs no other package
  },
};

function manifest(name, { description, alone }) {
  return {
    name: `@glassformer/${name}`,
    version: main.version,
    description,
    keywords: ['glassformer', 'transformer', name],
    license: main.license,
    author: main.author,
    homepage: main.homepage,
    repository: { ...main.repository, directory: `wasm/src/${name}` },
    bugs: main.bugs,
    type: 'module',
    sideEffects: alone ? [`./${name}.js`] : false,
    engines: main.engines,
    types: `./${name}.d.ts`,
    exports: {
      '.': { types: `./${name}.d.ts`, default: `./${name}.js` },
      './package.json': './package.json',
    },
    ...(alone ? {} : { peerDependencies: { glassformer: main.version } }),
  };
}

function card(name, { description, more, alone }) {
  const names = alone ? `@glassformer/${name}` : `glassformer @glassformer/${name}`;
  return (
    `# @glassformer/${name}\n\n${description}\n\n` +
    `\`\`\`sh\nnpm install ${names}\n\`\`\`\n\n[How to use it](${more}).\n`
  );
}

export const companionFolder = (name) => join(root, 'build/packages', name);

/** Writes a package but for its script and its types, into an empty folder. */
export function writeCompanion(name) {
  const folder = companionFolder(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (file, text) => writeFileSync(join(folder, file), text);
  write('package.json', `${JSON.stringify(manifest(name, companions[name]), null, 2)}\n`);
  write('README.md', card(name, companions[name]));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/** Lets packages in build/packages import `glassformer` where they are, for tests. */
export function linkPackage() {
  const link = join(root, 'build/node_modules/glassformer');
  if (existsSync(link)) return;
  mkdirSync(join(root, 'build/node_modules'), { recursive: true });
  symlinkSync(root, link);
}
