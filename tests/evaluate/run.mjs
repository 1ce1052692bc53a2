// `npm run evaluate -- --data DIR [--model DIR]… [--chroot DIR] [--out FILE]`: measures every
// figure of the model cards, with the native command on the shipped weights, and compares the ids
// of real tokenizers with those of the original library. DIR holds the test files, or folders
// `sentiment` and `translation` of them. tokenizers.mjs describes the files that it needs.
//
// Prints Markdown tables and writes the same figures as JSON (build/evaluate.json).
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildNative, buildPackage, root, setUp } from '../../tools/build.mjs';
import { classifierTexts, evaluateClassifier, reportClassifier } from './classifier.mjs';
import { compareBuilds, reportParity } from './parity.mjs';
import { evaluateTokenizers, reportTokenizers, tokenizersHold } from './tokenizers.mjs';
import { evaluateTranslator, reportTranslator, translatorTexts } from './translator.mjs';

const kinds = {
  'text-classification': {
    folder: 'sentiment',
    evaluate: evaluateClassifier,
    report: reportClassifier,
    texts: classifierTexts,
    holds: ({ tokenizer }) => tokenizer.different.length === 0,
  },
  translation: {
    folder: 'translation',
    evaluate: evaluateTranslator,
    report: reportTranslator,
    texts: translatorTexts,
    holds: () => true,
  },
};

/**
 * Returns the variants that each figure is measured with: the half-precision weights for training,
 * if the repository has them, and 8-bit products of the shipped weights.
 */
function variants(model) {
  const floats = join(root, 'weights/train/checkpoints', basename(model));
  return [
    { compute: 'f32', folder: existsSync(floats) ? floats : model },
    { compute: 'int8', folder: model },
  ];
}

const configOf = (folder) => JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));

/** Returns the model folders of the repository. weights/train measures the writer. */
function shippedModels() {
  const weights = join(root, 'weights');
  return readdirSync(weights)
    .map((name) => join(weights, name))
    .filter((folder) => existsSync(join(folder, 'model.safetensors')))
    .filter((folder) => kinds[configOf(folder).task]);
}

async function main() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      model: { type: 'string', multiple: true, default: shippedModels() },
      chroot: { type: 'string' },
      out: { type: 'string', default: join(root, 'build/evaluate.json') },
    },
  });
  if (!values.data)
    throw new Error(
      'usage: npm run evaluate -- --data DIR [--model DIR]… [--chroot DIR] [--out FILE]',
    );
  await setUp('build', 'native', 'test');
  await buildNative();
  await buildPackage({ release: true });

  const figures = {};
  for (const model of values.model.map((folder) => resolve(folder))) {
    const config = configOf(model);
    const { folder, evaluate, report, texts, holds } = kinds[config.task];
    const below = join(values.data, folder);
    const data = resolve(existsSync(below) ? below : values.data);
    const name = basename(model);
    console.log(`\n## ${name}\n`);
    figures[name] = await evaluate(model, variants(model), config, data);
    report(figures[name], config);
    console.error('comparing the builds; a few minutes');
    const parity = await compareBuilds(model, config, texts(data, config));
    reportParity(parity);
    figures[name].parity = parity;
    if (!holds(figures[name])) process.exitCode = 1;
  }
  console.error('comparing the tokenizers; a few minutes');
  figures.tokenizers = await evaluateTokenizers(values.data, values.chroot);
  reportTokenizers(figures.tokenizers);
  if (!tokenizersHold(figures.tokenizers)) process.exitCode = 1;
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify(figures, null, 2)}\n`);
}

main().catch((error) => {
  console.error(error.output ?? error.message);
  process.exitCode = 1;
});
