// Writes the packages that stand on the package: @glassformer/html, @glassformer/pipelines and
// @glassformer/element. Each is wasm/src/NAME.ts with its folder.
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { main, packageFolder, repository, writeManifest } from './packages.mjs';
import { root } from './run.mjs';

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

function fieldsOf(name, { description, alone }) {
  return {
    description,
    keywords: ['glassformer', 'transformer', name],
    license: main.license,
    homepage: main.homepage,
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

/** Writes a package but for its script and its types, into an empty folder. */
export function writeCompanion(name) {
  const folder = packageFolder(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeManifest(name, `wasm/src/${name}`, fieldsOf(name, companions[name]));
  writeFileSync(join(folder, 'README.md'), card(name, companions[name]));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/** Lets packages in build/packages import `glassformer` where they are, for tests. */
export function linkPackage() {
  const link = join(root, 'build/node_modules/glassformer');
  if (existsSync(link)) return;
  mkdirSync(join(root, 'build/node_modules'), { recursive: true });
  symlinkSync(root, link);
}
