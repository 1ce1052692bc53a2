// The figures of a classifier:
//
//   accuracy    on the labeled test files, which training never reads
//   probes      on small written sets: negation, contrast, short inputs
//   tokenizer   ids of `glassformer tokenize` compared with spm_encode, on lines of every file
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { glassformer, onEveryCore, pipeLines, readLines, table } from './lines.mjs';

const accuracyFiles = [
  { name: 'imdb.test', what: 'film reviews, whole official test', goal: 0.915 },
  { name: 'sst2.dev', what: 'film sentences', goal: 0.86 },
  { name: 'amazon.test', what: 'product reviews, 14 domains', goal: 0.88 },
  { name: 'uci_imdb.dev', what: 'film sentences' },
  { name: 'yelp.test', what: 'restaurant reviews, never seen in training' },
  { name: 'hotel', what: 'hotel reviews, never seen in training' },
  { name: 'sst5.dev', what: 'film sentences, five classes' },
];
const tokenizerLinesPerFile = 2000;

/** Reads lines of `label<TAB>text`; the label is an index of the model's labels. */
function readLabeled(path) {
  return readLines(path).map((line) => {
    const tab = line.indexOf('\t');
    return { label: Number(line.slice(0, tab)), text: line.slice(tab + 1) };
  });
}

/** Classifies examples; resolves to the accuracy and counts[label][answer]. */
async function measure({ folder, compute }, labels, examples) {
  const texts = examples.map(({ text }) => text);
  const lines = await pipeLines(
    glassformer,
    ['classify', folder, '--compute', compute, ...onEveryCore],
    texts,
  );
  const answers = lines.map((line) => {
    const [label, score] = line.split('\t');
    const index = labels.indexOf(label);
    if (index < 0 || !(Number(score) > 0)) throw new Error(`unexpected answer: ${line}`);
    return { index, score: Number(score) };
  });
  const confusion = labels.map(() => labels.map(() => 0));
  examples.forEach(({ label }, i) => (confusion[label][answers[i].index] += 1));
  const right = confusion.reduce((sum, row, i) => sum + row[i], 0);
  return { accuracy: right / texts.length, confusion, answers };
}

async function evaluateAccuracy(variants, labels, data) {
  const results = [];
  for (const { name, what, goal } of accuracyFiles) {
    const path = join(data, `${name}.tsv.gz`);
    if (!existsSync(path)) continue;
    const examples = readLabeled(path);
    if (new Set(examples.map(({ label }) => label)).size !== labels.length) continue;
    const row = { file: name, what, goal, texts: examples.length };
    for (const variant of variants) {
      const start = performance.now();
      const { accuracy, confusion } = await measure(variant, labels, examples);
      const seconds = (performance.now() - start) / 1000;
      row[variant.compute] = { accuracy, confusion, seconds };
      const percentage = (100 * accuracy).toFixed(2);
      console.error(`${name}, ${variant.compute}: ${percentage} %, ${seconds.toFixed(0)} s`);
    }
    results.push(row);
  }
  return results;
}

/**
 * Reads the written sets of the model folder: `kind<TAB>label<TAB>text`, labels as in config.json.
 */
async function evaluateProbes(model, variant, labels) {
  const files = ['probes.tsv', 'negation.tsv'].filter((file) => existsSync(join(model, file)));
  const probes = files.flatMap((file) =>
    readLines(join(model, file)).map((line) => {
      const [kind, label, text] = line.split('\t');
      return { file, kind, label: labels.indexOf(label), text };
    }),
  );
  const { answers } = await measure(variant, labels, probes);
  return probes.map(({ label, file, kind, text }, i) => ({
    file,
    kind,
    text,
    label: labels[label],
    answer: labels[answers[i].index],
    score: answers[i].score,
  }));
}

async function evaluateTokenizer(model, data) {
  const lines = [];
  const files = readdirSync(data).filter((name) => /\.(tsv|txt)\.gz$/.test(name));
  for (const file of files.sort()) {
    const some = readLines(join(data, file)).slice(0, tokenizerLinesPerFile);
    lines.push(...some.map((line) => (file.includes('.tsv') ? line.replace(/^\d\t/, '') : line)));
  }
  const spm = [`--model=${join(model, 'tokenizer.model')}`, '--output_format=id'];
  const theirs = await pipeLines('spm_encode', spm, lines);
  const ours = await pipeLines(glassformer, ['tokenize', model], lines);
  const different = lines.filter((_, i) => ours[i] !== theirs[i]);
  const pieces = theirs.reduce((sum, line) => sum + line.split(' ').length, 0);
  return { files: files.length, lines: lines.length, pieces, different };
}

const percent = (value) => (value === undefined ? '' : `${(100 * value).toFixed(2)} %`);

export function reportClassifier({ accuracy, probes, tokenizer }, { labels }) {
  const confusion = ({ confusion: counts }) =>
    counts.map((row, i) => `${labels[i]}: ${row.join(' / ')}`).join('; ');
  console.log(
    table(
      ['file', 'what', 'texts', 'f32', 'int8', 'goal', `int8: answers ${labels.join(' / ')}`],
      accuracy.map((row) => [
        row.file,
        row.what,
        row.texts,
        percent(row.f32.accuracy),
        percent(row.int8.accuracy),
        row.goal ? `≥ ${percent(row.goal)}` : '',
        confusion(row.int8),
      ]),
    ),
  );
  for (const file of new Set(probes.map((probe) => probe.file))) {
    const written = probes.filter((probe) => probe.file === file);
    const kinds = [...new Set(written.map(({ kind }) => kind))];
    const right = written.filter(({ label, answer }) => label === answer);
    console.log(
      `\n${file}: ${right.length} of ${written.length} right.\n\n${table(
        ['kind', 'right', 'wrong answers'],
        kinds.map((kind) => {
          const all = written.filter((probe) => probe.kind === kind);
          const wrong = all.filter(({ label, answer }) => label !== answer);
          return [
            kind,
            `${all.length - wrong.length} / ${all.length}`,
            wrong
              .map(({ text, answer, score }) => `“${text}” ${answer} ${score.toFixed(2)}`)
              .join('; '),
          ];
        }),
      )}`,
    );
  }
  const { files, lines, pieces, different } = tokenizer;
  console.log(
    `\nTokenizer: ${lines} lines from ${files} files, ${pieces} pieces; ` +
      `${different.length} lines differ from spm_encode.`,
  );
  different.slice(0, 5).forEach((line) => console.log(`  differs: ${JSON.stringify(line)}`));
}

/** Returns every text of the labeled test files. */
export function classifierTexts(data) {
  return accuracyFiles
    .map(({ name }) => join(data, `${name}.tsv.gz`))
    .filter((path) => existsSync(path))
    .flatMap((path) => readLabeled(path).map(({ text }) => text));
}

/** Resolves to { accuracy, probes, tokenizer } of a model folder. */
export async function evaluateClassifier(model, variants, { labels }, data) {
  console.error('evaluating; the 25,000 reviews of imdb.test take a few minutes');
  const accuracy = await evaluateAccuracy(variants, labels, data);
  if (accuracy.length === 0) throw new Error(`no test file for ${labels.length} labels in ${data}`);
  return {
    accuracy,
    probes: await evaluateProbes(model, variants.at(-1), labels),
    tokenizer: await evaluateTokenizer(model, data),
  };
}
