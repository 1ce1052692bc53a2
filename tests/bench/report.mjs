// Writes the results as Markdown.
import { precisions, shapes, bytesOf } from './shapes.mjs';

function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(header),
    line(header.map((_, i) => (i === 0 ? '---' : '---:'))),
    ...rows.map(line),
  ].join('\n');
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;
const times = (ratio) => `${ratio.toFixed(2)}×`;
const nameOf = ({ engine, build }) => `${engine}, ${build}`;
const unique = (values) => [...new Set(values)];

/**
 * Returns a table with a row per engine and a column per entry of `columns`, {title, ...selector}.
 */
function engineTable(results, columns, cell) {
  return table(
    ['', ...columns.map(({ title }) => title)],
    unique(results.map(nameOf)).map((name) => [
      name,
      ...columns.map(({ title, ...wanted }) => {
        const row = results.find(
          (result) =>
            nameOf(result) === name &&
            Object.entries(wanted).every(([key, value]) => result[key] === value),
        );
        return row ? cell(row) : '';
      }),
    ]),
  );
}

/** Returns “1.61×, 1.73×, 61 %”. Some engines have no share of the ceiling. */
const shares = ({ ratio, ratio_undisturbed, of_ceiling }) =>
  [
    times(ratio),
    times(ratio_undisturbed),
    ...(of_ceiling === undefined ? [] : [percent(of_ceiling)]),
  ].join(', ');

const meaning =
  'speed-up over onnxruntime-web; the same for the fastest tenth of calls, which nothing disturbed; the share of the ceiling that these reach';

function reportClassifier(results) {
  const columns = unique(results.map(({ tokens }) => tokens)).flatMap((tokens) =>
    unique(results.map(({ precision }) => precision)).map((precision) => ({
      title: `${tokens} tokens, ${precision}`,
      tokens,
      precision,
    })),
  );
  return `
${results[0].model}, input to verdict: median ms (${meaning})

${engineTable(results, columns, (row) => `${row.ms_median.toFixed(2)} (${shares(row)})`)}`;
}

function reportSentence(results) {
  const found = unique(results.map(({ precision }) => precision));
  const columns = [1, 4].flatMap((beams) =>
    found.map((precision) => ({
      title: `${beams === 1 ? 'greedy' : `${beams} beams`}, ${precision}`,
      beams,
      precision,
    })),
  );
  const streaming = results.filter((row) => row.ms_first_token !== undefined);
  const firsts = found.map((precision) => ({ title: precision, beams: 1, precision }));
  return `
${results[0].model}, a sentence of ${results[0].tokens} tokens: tokens per second (${meaning})

${engineTable(results, columns, (row) => `${row.tokens_per_second.toFixed(0)} (${shares(row)})`)}

Milliseconds to the first token of a stream:

${engineTable(streaming, firsts, (row) => row.ms_first_token.toFixed(1))}`;
}

function reportGenerator(results) {
  const [{ tokens, output_tokens: written }] = results;
  const columns = unique(results.map(({ precision }) => precision)).map((precision) => ({
    title: precision,
    precision,
  }));
  return `
${results[0].model}, ${written} tokens after ${tokens}, greedily: tokens per second (${meaning})

${engineTable(results, columns, (row) => `${row.tokens_per_second.toFixed(1)} (${shares(row)})`)}

Milliseconds to the first token:

${engineTable(results, columns, (row) => row.ms_first_token.toFixed(0))}`;
}

const reportTranslator = (results) =>
  unique(results.map(({ tokens }) => tokens))
    .map((tokens) => reportSentence(results.filter((row) => row.tokens === tokens)))
    .join('\n');

const reports = {
  'text-classification': reportClassifier,
  'image-classification': reportClassifier,
  'text-generation': reportGenerator,
  translation: reportTranslator,
};

function reportMachine(machine) {
  const columns = machine.map((row) => `${row.build}, ${row.precision}`);
  const rate = (value) => value.toFixed(0);
  const ceiling = (row, shape) => {
    const streamed = row.stream[bytesOf(shape, row.precision)]; // read once for all rows
    return streamed ? Math.min(row.tile, shape[0] * streamed) : row.tile;
  };
  return `
Peak of this core, in billions of operations per second (a multiply-add counts as two):

${table(
  ['', ...columns],
  [
    ['registers only', ...machine.map(({ chains }) => rate(chains))],
    ['register tile fed from L1', ...machine.map(({ tile }) => rate(tile))],
    ...Object.keys(machine[0].stream).map((bytes) => [
      `stream of ${(bytes / 1e6).toFixed(1)} MB of weights`,
      ...machine.map(({ stream }) => rate(stream[bytes])),
    ]),
  ],
)}

Our products, and their share of the limit of tile and stream:

${table(
  ['rows × inner × columns', ...columns],
  shapes.map((shape) => [
    shape.join(' × '),
    ...machine.map((row) => {
      const ours = row.products[shape.join('x')];
      return `${rate(ours)} (${percent(ours / ceiling(row, shape))})`;
    }),
  ]),
)}`;
}

function reportLibraries(libraries) {
  if (!libraries)
    return `
To compare the native products with OpenBLAS and oneDNN, install Debian's libopenblas-dev and libdnnl-dev.`;
  const cell = (precision, shape) => {
    const row = libraries.find((r) => r.precision === precision && r.shape === shape.join('x'));
    return `${row.ours.toFixed(0)}, ${row.theirs.toFixed(0)} (${times(row.ratio)})`;
  };
  return `
Native products, in billions of operations per second: ours, theirs (speed-up over theirs)

${table(
  ['rows × inner × columns', 'f32, OpenBLAS', 'int8, oneDNN with VNNI'],
  shapes.map((shape) => [
    shape.join(' × '),
    ...precisions.map((precision) => cell(precision, shape)),
  ]),
)}`;
}

function reportDownloads({ cold, sizes }) {
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  const start = cold
    ? `
Cold start in Node, from the start of the process to the first verdict: glassformer ${cold.glassformer.toFixed(0)} ms, onnxruntime-web ${cold['onnxruntime-web'].toFixed(0)} ms (of which Node itself ${cold.node.toFixed(0)} ms).
`
    : '';
  return `${start}
${table(
  ['size', 'raw', 'gzip'],
  sizes.map(({ engine, file, bytes, gzip }) => [
    `${engine} ${file}`,
    kilobytes(bytes),
    kilobytes(gzip),
  ]),
)}`;
}

/** Returns the contents of results.json as Markdown. */
export function report({ versions, results, machine, libraries, ...downloads }) {
  const { cpu, node, onnxruntime } = versions;
  const models = unique(results.map(({ model }) => model)).map((model) => {
    const rows = results.filter((row) => row.model === model);
    return reports[rows[0].task](rows);
  });
  return [
    `${cpu}, one thread; Node ${node}, onnxruntime-web ${onnxruntime}.`,
    ...models,
    reportMachine(machine),
    reportLibraries(libraries),
    reportDownloads(downloads),
  ].join('\n');
}
