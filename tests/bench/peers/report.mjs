// Writes the results of run.mjs as Markdown, and into the documentation.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../tools/build.mjs';
import { models } from './models.mjs';

const document = join(root, 'web/docs/performance.md');

const unique = (values) => [...new Set(values)];
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
const threadsOf = (count) => `${count} thread${count === 1 ? '' : 's'}`;
const table = (header, rows) =>
  [header, header.map((_, i) => (i === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
const number = (value) =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });

const engineOf = ({ engine, wasm }) =>
  engine === 'glassformer' ? `${engine}, ${wasm ? 'wasm' : 'native'}` : engine;
const nameOf = (row) => `${engineOf(row)}, ${row.precision}`;

/** Returns the tasks of a generator that the table shows: a prompt, and the tokens after it. */
function generation(rows, count) {
  return rows
    .filter(({ what }) => what === 'prompt and more')
    .flatMap((row) => {
      const same = ({ engine, wasm, precision, threads, what }) =>
        nameOf({ engine, wasm, precision }) === nameOf(row) &&
        threads === row.threads &&
        what === 'prompt';
      const prompt = rows.find(same);
      return [
        { ...row, what: 'prompt', ms: prompt.ms },
        { ...row, what: `next ${count}`, ms: row.ms - prompt.ms },
      ];
    });
}

/**
 * Returns our time that a row is compared with: as many threads, and the same precision or, if we do
 * not have it, our fastest. WebAssembly is compared with WebAssembly.
 */
function oursFor(row, rows) {
  const ours = rows.filter(
    ({ engine, wasm, what, threads }) =>
      engine === 'glassformer' &&
      Boolean(wasm) === Boolean(row.wasm) &&
      what === row.what &&
      threads === row.threads,
  );
  const same = ours.filter(({ precision }) => precision === row.precision);
  return Math.min(...(same.length > 0 ? same : ours).map(({ ms }) => ms));
}

/** Returns a table of a model: a row per engine and precision, a column per call and threads. */
function tableOf(name, all) {
  const { task, tokens, count } = models[name];
  const rows = task === 'generation' ? generation(all, count) : all;
  const columns = unique(rows.map(({ what }) => what)).flatMap((what) =>
    unique(rows.map(({ threads }) => threads)).map((threads) => ({ what, threads })),
  );
  const title = ({ what, threads }) =>
    [...(what === 'whole' ? [] : [what]), threadsOf(threads)].join(', ');
  const rate = ({ what, ms }) => (1000 * (what === 'prompt' ? tokens : count)) / ms;
  const value = (row) => number(task === 'generation' ? rate(row) : row.ms);
  const cell = (row) => {
    if (!row) return '';
    const ratio = row.ms / oursFor(row, rows);
    return value(row) + (row.engine === 'glassformer' ? '' : ` (${ratio.toFixed(2)}×)`);
  };
  const lines = unique(rows.map(nameOf)).map((engine) => [
    engine,
    ...columns.map(({ what, threads }) =>
      cell(
        rows.find((row) => nameOf(row) === engine && row.what === what && row.threads === threads),
      ),
    ),
  ]);
  const unit = {
    classification: `${tokens} tokens: milliseconds`,
    pictures: `${tokens} rows: milliseconds`,
    translation: `${tokens} tokens into ${count}: milliseconds`,
    generation: `${count} tokens after ${tokens}: tokens per second`,
  }[task];
  return `**${name}**, ${unit}\n\n${table(['', ...columns.map(title)], lines)}`;
}

/** The peaks of memory: a row per model and engine, a column per precision and threads. */
function reportMemory(results) {
  const rows = Object.keys(models).flatMap((model) =>
    (results[model] ?? []).map((row) => ({
      ...row,
      name: `${model}: ${engineOf(row)}`,
      kind: ['f32', 'F16'].includes(row.precision) ? 'f32 (llama.cpp: F16)' : 'int8 (Q8_0)',
    })),
  );
  const columns = unique(rows.map(({ kind }) => kind)).flatMap((kind) =>
    unique(rows.map(({ threads }) => threads)).map((threads) => ({ kind, threads })),
  );
  const cell = (name, { kind, threads }) => {
    const found = rows.filter(
      (row) => row.name === name && row.kind === kind && row.threads === threads,
    );
    return found.length > 0 ? megabytes(Math.max(...found.map(({ peak }) => peak))) : '';
  };
  return table(
    ['MB', ...columns.map(({ kind, threads }) => `${kind}, ${threadsOf(threads)}`)],
    unique(rows.map(({ name }) => name)).map((name) => [
      name,
      ...columns.map((column) => cell(name, column)),
    ]),
  );
}

function reportLines(rows) {
  const [{ lines, threads }] = rows;
  const seconds = (row) => {
    const ours = rows.find(
      ({ engine, precision }) => engine === 'glassformer' && precision === row.precision,
    );
    const text = (row.ms / 1000).toFixed(2);
    return row === ours ? text : `${text} (${(row.ms / ours.ms).toFixed(2)}×)`;
  };
  const names = unique(rows.map(({ engine, build }) => `${engine}, ${build}`));
  const precisions = unique(rows.map(({ precision }) => precision));
  const cells = names.map((name) => [
    name,
    ...precisions.map((precision) =>
      seconds(
        rows.find((row) => `${row.engine}, ${row.build}` === name && row.precision === precision),
      ),
    ),
  ]);
  return `**MiniLM-L6**, ${lines.toLocaleString('en-US')} lines of 4 to 20 words, ${threadsOf(threads)}: seconds of the whole process

${table(['', ...precisions], cells)}`;
}

function reportStarts({ processes, page }) {
  const start = processes.map(({ engine, ms, peak }) => [engine, ms.toFixed(0), megabytes(peak)]);
  const slow = Object.entries(page).map(([engine, { milliseconds, bytes }]) => [
    engine,
    (milliseconds / 1000).toFixed(1),
    (bytes.engine / 1e6).toFixed(2),
    (bytes.model / 1e6).toFixed(2),
  ]);
  return `${table(['from the start of a process to the first verdict', 'ms', 'peak of memory, MB'], start)}

${table(['a page on a line of 1.6 Mbit/s and 150 ms, nothing cached', 'seconds to the first verdict', 'MB of the engine', 'MB of the model'], slow)}`;
}

function conditions(results) {
  const { cpu, cores, date, versions } = results.machine;
  const others = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const builds = Object.values(results).flatMap((rows) => (Array.isArray(rows) ? rows : []));
  const build = builds.find((row) => /^native-/.test(row.build))?.build;
  return `${cpu}, ${cores} cores, ${date}; Glassformer's command line (${build}), ${others.join(', ')}. In brackets: their time divided by ours, with as many threads and the same precision (llama.cpp: our faster one), natively or as WebAssembly like theirs. Above 1, Glassformer is faster.`;
}

/** Returns the parts of the report, by the names of their places in the documentation. */
function partsOf(results) {
  const tables = Object.keys(models)
    .filter((name) => results[name])
    .map((name) => tableOf(name, results[name]));
  return {
    peers: [
      conditions(results),
      ...tables,
      ...(results.lines ? [reportLines(results.lines)] : []),
    ].join('\n\n'),
    starts: results.starts ? reportStarts(results.starts) : undefined,
    memory: reportMemory(results),
  };
}

export const report = (results) =>
  Object.values(partsOf(results))
    .filter((part) => part)
    .join('\n\n');

/** Puts each part between its marks in the documentation. */
export function writeDocument(results) {
  let text = readFileSync(document, 'utf8');
  for (const [name, part] of Object.entries(partsOf(results))) {
    if (!part) continue;
    const place = new RegExp(`(<!-- bench: ${name} -->\n)[^]*?(<!-- /bench -->)`);
    if (!place.test(text)) throw new Error(`${document} has no place for ${name}`);
    text = text.replace(place, (_, begin, end) => `${begin}\n${part}\n\n${end}`);
  }
  writeFileSync(document, text);
}
