// Tests the methods that score tokens against a model, on texts that it was not trained on:
//
//   node tests/evaluate/methods.mjs --data DIR [--model DIR]… [--texts 300]
//
// DIR as for run.mjs. Writes MODEL/methods.json and prints a table. It has, per method: the mean
// score of the test (insertion minus deletion, in units of the explained number), and how far it is
// behind the best method on the same texts, both with their 95 % confidence intervals. A classifier
// explains its answer, a model that writes its next token after the first twelve words of a text, and
// a translator the token in the middle of its translation.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPackage, root } from '../../tools/build.mjs';
import { beginning, readLines, sentences, table } from './lines.mjs';
import { interval, mean, told } from './scores.mjs';

const longest = 64; // tokens
const ofNext = [
  'rollout',
  'direct_logit_attribution',
  'gradient_times_input',
  'integrated_gradients',
  'relevance',
  'attn_lrp',
  'cp_lrp',
  'value_zeroing',
];
const ofLabel = [...ofNext, 'value_norms'];

// Per task: its texts, and the text and options that are explained, or nothing if a text is too
// short or long.
const tasks = {
  'text-classification': {
    class: 'Classifier',
    methods: ofLabel,
    read: sentences,
    async place(model, text) {
      const { tokens } = await model.classify(text);
      return text.split(/\s+/u).length > 2 && tokens.length <= longest ? [text, {}] : undefined;
    },
  },
  'text-generation': {
    class: 'Generator',
    methods: ofNext,
    read: sentences,
    place(_, text) {
      const begun = beginning(text);
      return begun && [begun, {}];
    },
  },
  translation: {
    class: 'Translator',
    methods: ofNext,
    read: (data, { source_language: from, target_language: to }) =>
      readLines(join(data, 'translation', `tatoeba.${from}-${to}.test.tsv.gz`)).map(
        (line) => line.split('\t')[0],
      ),
    async place(model, text) {
      const { sentences: found } = await model.translate(text, { beams: 1 });
      if (found.length !== 1 || found[0].tokens.length < 4) return undefined;
      return [text, { position: Math.floor(found[0].tokens.length / 2) }];
    },
  },
};

async function measure(folder, data, most) {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const task = tasks[config.task ?? 'text-generation'];
  const { [task.class]: Class } = await import(join(root, 'dist/index.js'));
  const model = await Class.load(folder, { gradients: true, compute: 'f32' });
  const found = Object.fromEntries(task.methods.map((method) => [method, []]));
  const random = [];
  const leaveOneOut = [];
  for (const text of task.read(data, config)) {
    if (random.length === most) break;
    const placed = await task.place(model, text);
    if (!placed) continue;
    const [given, options] = placed;
    for (const of of task.methods) {
      const test = { ...options, method: 'faithfulness', of, orders: of === 'rollout' ? 5 : 0 };
      const result = await model.explain(given, test);
      found[of].push(result.order.score);
      if (of !== 'rollout') continue;
      random.push(result.random.mean);
      leaveOneOut.push(result.leaveOneOut.score);
    }
    process.stderr.write(`\r${basename(folder)}: ${random.length} of ${most} texts`);
  }
  process.stderr.write('\n');
  model.dispose();
  const best = task.methods.reduce((a, b) => (mean(found[b]) > mean(found[a]) ? b : a));
  const methods = task.methods
    .map((method) => ({
      method,
      ...interval(found[method]),
      behind: interval(found[best].map((score, i) => score - found[method][i])),
    }))
    .sort((a, b) => b.mean - a.mean);
  return {
    texts: random.length,
    methods,
    leaveOneOut: interval(leaveOneOut),
    random: interval(random),
  };
}

async function main() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      model: { type: 'string', multiple: true },
      texts: { type: 'string', default: '300' },
    },
  });
  if (!values.data) {
    throw new Error('usage: node tests/evaluate/methods.mjs --data DIR [--model DIR]… [--texts N]');
  }
  await buildPackage();
  const shipped = ['sentiment', 'writer', 'en-de', 'en-fr'].map((name) => `weights/${name}`);
  for (const model of values.model ?? shipped.map((name) => join(root, name))) {
    const result = await measure(resolve(model), resolve(values.data), Number(values.texts));
    writeFileSync(join(model, 'methods.json'), `${JSON.stringify(result)}\n`);
    console.log(`\n## ${basename(model)}: ${result.texts} texts\n`);
    const rows = result.methods.map(({ method, behind, ...score }) => [
      method,
      told(score),
      told(behind),
    ]);
    rows.push(['one left out', told(result.leaveOneOut), '']);
    rows.push(['random orders', told(result.random), '']);
    console.log(table(['method', 'score (95 %)', 'behind the best'], rows));
  }
}

await main();
