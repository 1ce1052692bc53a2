// The figures of a translator: BLEU and chrF on every public test file, greedy and with four beams,
// in floats and in 8-bit integers, the loss of integers, and the effect of a shortlist, if there is
// one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { glassformer, onEveryCore, pipeLines, readLines, table } from './lines.mjs';
import { bleu, bleuCounts, bleuOf, chrf, differenceInterval } from './scores.mjs';

/** The goals, by target language. */
const testFiles = [
  { name: 'tatoeba', part: 'test', what: 'everyday sentences', goals: { de: 40 } },
  { name: 'multi30k', part: 'test2016', what: 'captions of photographs', goals: { de: 38 } },
  { name: 'dialogue', part: 'test', what: 'conversations', goals: { de: 32 } },
  { name: 'ted', part: 'test', what: 'talks; never trained on', goals: { de: 20 } },
  { name: 'flores', part: 'valid', what: 'Wikipedia; never trained on', goals: { de: 15 } },
  { name: 'news', part: 'valid', what: 'newspapers' },
];
const beamWidths = [1, 4];

const pairs = (path) => readLines(path).map((line) => line.split('\t'));

/** Reads the sources and their references: all of them if another file lists several. */
function readTest(path) {
  const alternatives = new Map();
  const references = path.replace('.tsv.gz', '.refs.tsv.gz');
  for (const [source, target] of existsSync(references) ? pairs(references) : []) {
    alternatives.set(source, [...(alternatives.get(source) ?? []), target]);
  }
  const lines = pairs(path);
  return {
    sources: lines.map(([source]) => source),
    references: lines.map(([, target]) => [target]),
    every: lines.map(([source, target]) => alternatives.get(source) ?? [target]),
  };
}

const pathsIn = (data, { source_language, target_language }) =>
  testFiles
    .map((test) => {
      const file = `${test.name}.${source_language}-${target_language}.${test.part}.tsv.gz`;
      return { ...test, goal: test.goals?.[target_language], path: join(data, file) };
    })
    .filter(({ path }) => existsSync(path));

/** Returns every source sentence of the test files. */
export function translatorTexts(data, config) {
  return pathsIn(data, config).flatMap(({ path }) => readTest(path).sources);
}

async function measure({ folder, compute, shortlist }, beams, { sources, references, every }) {
  const options = ['--compute', compute, '--beams', String(beams), ...onEveryCore];
  const start = performance.now();
  const answers = await pipeLines(
    glassformer,
    ['translate', folder, ...options, ...(shortlist ? ['--shortlist'] : [])],
    sources,
  );
  const counts = answers.map((answer, i) => bleuCounts(answer, references[i]));
  const result = {
    bleu: bleuOf(counts),
    chrf: chrf(answers, references),
    ...(every.some((all) => all.length > 1) && { bleuEveryReference: bleu(answers, every) }),
    seconds: (performance.now() - start) / 1000,
  };
  return { result, counts };
}

/** Resolves to { scores }, with one row per test file and beam width. */
export async function evaluateTranslator(model, variants, config, data) {
  const named = variants.map((variant) => ({ name: variant.compute, ...variant }));
  if (existsSync(join(model, 'shortlist.bin'))) {
    named.push({
      ...named.find(({ compute }) => compute === 'int8'),
      name: 'shortlist',
      shortlist: true,
    });
  }
  const rows = [];
  for (const { name, part, what, goal, path } of pathsIn(data, config)) {
    const test = readTest(path);
    for (const beams of beamWidths) {
      const row = { file: `${name}.${part}`, what, goal, sentences: test.sources.length, beams };
      const countsOf = {};
      for (const variant of named) {
        const { result, counts } = await measure(variant, beams, test);
        row[variant.name] = result;
        countsOf[variant.name] = counts;
        console.error(
          `${row.file}, beam ${beams}, ${variant.name}: BLEU ${result.bleu.toFixed(2)}, ` +
            `${result.seconds.toFixed(0)} s`,
        );
      }
      row.interval = differenceInterval(countsOf.int8, countsOf.f32);
      rows.push(row);
    }
  }
  if (rows.length === 0) throw new Error(`no test file of these languages in ${data}`);
  return { scores: rows };
}

export function reportTranslator({ scores }) {
  const figure = (value, digits = 1) => (value === undefined ? '' : value.toFixed(digits));
  console.log(
    table(
      [
        ...['file', 'what', 'sentences', 'beams', 'BLEU f32', 'BLEU int8', 'int8 - f32'],
        ...['95 % interval', 'goal'],
        ...['int8: BLEU, every reference', 'chrF', 'BLEU with the shortlist'],
      ],
      scores.map((row) => [
        row.file,
        row.what,
        row.sentences,
        row.beams,
        figure(row.f32.bleu),
        figure(row.int8.bleu),
        figure(row.int8.bleu - row.f32.bleu, 2),
        row.interval.map((end) => figure(end, 2)).join(' to '),
        row.goal ? `≥ ${row.goal}` : '',
        figure(row.int8.bleuEveryReference),
        figure(row.int8.chrf),
        figure(row.shortlist?.bleu),
      ]),
    ),
  );
}
