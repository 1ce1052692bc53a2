// Writes build/packages: an npm package for each model of weights/, @glassformer/NAME.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder, repository, writeManifest } from './packages.mjs';
import { root } from './run.mjs';
import { unlessDone } from './stamps.mjs';
import { modelFiles } from './manifest.mjs';

export const models = ['sentiment', 'en-de', 'en-fr', 'writer', 'digits', 'clothes'];

// A registry shows the card without its folder, so its links lead to the repository.
function withAbsoluteLinks(card, folder) {
  return card.replace(/(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)/g, (_, image, text, target) => {
    const { pathname, hash } = new URL(target, `https://repository/weights/${folder}/`);
    return `${image}[${text}](${repository}/${image ? 'raw' : 'blob'}/main${pathname}${hash})`;
  });
}

// One literal expression per file: bundlers search for these, copy the files and insert their new
// addresses. Vite's development server moves this script to node_modules/.vite/deps/. A bundler may
// turn a JSON file into a script, so its bytes are included here.
function entry(name, files) {
  const lines = files.map((file) =>
    isJson(file)
      ? `  '${file}': bytes('${readFileSync(join(root, 'weights', name, file), 'base64')}'),\n`
      : `  '${file}': moved\n` +
        `    ? new URL('../../@glassformer/${name}/${file}', import.meta.url)\n` +
        `    : new URL('./${file}', import.meta.url),\n`,
  );
  return (
    '// The files of this model, or their addresses, for `load` of the package glassformer.\n' +
    'const bytes = (base64) => Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));\n' +
    "const moved = import.meta.url.includes('/.vite/deps/');\n" +
    `export default {\n${lines.join('')}};\n`
  );
}

function isJson(file) {
  return file.endsWith('.json');
}

function types(files) {
  const lines = files.map((file) => `  '${file}': ${isJson(file) ? 'Uint8Array' : 'URL'};\n`);
  return (
    '/** The files of this model, or their addresses, for `load` of the package glassformer. */\n' +
    `declare const files: Readonly<{\n${lines.join('')}}>;\nexport default files;\n`
  );
}

// The code that loads the model, for readers of the card on a registry.
function usage(name, config) {
  const known = {
    'text-classification': ['Classifier', 'classifier', "classify('A gripping film.')).label"],
    translation: ['Translator', 'translator', "translate('Where is the station?')).text"],
    'text-generation': ['Generator', 'generator', "generate('This film is')).text"],
    // A published format doesn't name a task.
    vit: [
      'ImageClassifier',
      'classifier',
      'classify({ width: 28, height: 28, data: new Uint8Array(784) })).scores',
    ],
  };
  const [Model, model, call] = known[config.task ?? config.model_type];
  return (
    `## Use it\n\n\`\`\`sh\nnpm install glassformer @glassformer/${name}\n\`\`\`\n\n` +
    `\`\`\`js\nimport { ${Model} } from 'glassformer';\n` +
    `import files from '@glassformer/${name}';\n\n` +
    `const ${model} = await ${Model}.load(files);\n` +
    `console.log((await ${model}.${call});\n\`\`\`\n\n`
  );
}

function fieldsOf(name, description, files, beside) {
  const own = Object.fromEntries(
    [...files, ...beside, 'LICENSE'].map((file) => [`./${file}`, `./${file}`]),
  );
  return {
    description,
    keywords: ['glassformer', 'transformer', 'model', 'weights'],
    license: 'SEE LICENSE IN LICENSE',
    homepage: `${repository}/tree/main/weights/${name}#readme`,
    sideEffects: false,
    files: ['index.js', 'index.d.ts', ...files, ...beside],
    types: './index.d.ts',
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      ...own,
      './package.json': './package.json',
    },
  };
}

async function writePackage(name) {
  const source = join(root, 'weights', name);
  const folder = packageFolder(name);
  const files = [...modelFiles, 'manifest.json'].filter((file) => existsSync(join(source, file)));
  // Files for people, which the engine does not need.
  const beside = ['heads.json', 'methods.json'].filter((file) => existsSync(join(source, file)));
  const inputs = [...files, ...beside, 'README.md', 'LICENSE'].map(
    (file) => `weights/${name}/${file}`,
  );
  inputs.push('tools/models.mjs', 'tools/packages.mjs', 'package.json');
  await unlessDone(`model-${name}`, inputs, [`build/packages/${name}/package.json`], () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const file of [...files, ...beside, 'LICENSE']) {
      copyFileSync(join(source, file), join(folder, file));
    }
    const card = readFileSync(join(source, 'README.md'), 'utf8');
    // The first sentence of the card describes the model.
    const [, sentence] = card.match(/^# .*\n\n([^]*?[.:])\s/);
    const description = sentence.replace(/\s+/g, ' ').replace(/:$/, '.');
    const write = (file, text) => writeFileSync(join(folder, file), text);
    const config = JSON.parse(readFileSync(join(source, 'config.json'), 'utf8'));
    write('README.md', withAbsoluteLinks(card, name).replace(/^## /m, `${usage(name, config)}## `));
    write('index.js', entry(name, files));
    write('index.d.ts', types(files));
    writeManifest(name, `weights/${name}`, fieldsOf(name, description, files, beside));
  });
}

/** Writes the packages whose model has changed. */
export async function buildModels() {
  for (const name of models) await writePackage(name);
}
