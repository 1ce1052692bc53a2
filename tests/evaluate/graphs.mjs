// Measures attribution graphs of a writer on texts that it was not trained on:
//
//   node tests/evaluate/graphs.mjs --data DIR [--model DIR] [--texts 100]
//
// DIR as for run.mjs. Writes MODEL/features/graphs.json and prints a table: the mean replacement score
// and completeness of the graphs of the next token after the first twelve words, and, of the ten edges
// with the most influence of each, how well the predicted changes correlate with those in the model,
// and how often both have the same sign. All with their 95 % confidence intervals.
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../tools/build.mjs';
import { beginning, glassformer, pipeLines, sentences, table } from './lines.mjs';
import { correlation, interval, intervalOf, mean, told } from './scores.mjs';

async function measure(folder, data, most) {
  const texts = sentences(data)
    .flatMap((text) => beginning(text) ?? [])
    .slice(0, most);
  const method = ['--method', 'attribution_graph', '--json', '--compute', 'f32'];
  const dictionaries = ['--dictionaries', join(folder, 'features')];
  const lines = await pipeLines(
    glassformer,
    ['explain', folder, ...method, ...dictionaries],
    texts,
  );
  const graphs = lines.map((line) => JSON.parse(line));
  const changes = (of) =>
    graphs.map(({ nodes, checks }) =>
      checks
        .filter(({ from, to }) => of(nodes[from], nodes[to]))
        .map(({ predicted, measured }) => [predicted, measured]),
    );
  const compared = (of) => {
    const pairs = changes(of);
    const drawnFrom = (drawn) => drawn.flatMap((i) => pairs[i]);
    return {
      edges: pairs.flat().length,
      correlation: intervalOf(texts.length, (drawn) => correlation(drawnFrom(drawn))),
      sameSign: intervalOf(texts.length, (drawn) =>
        mean(drawnFrom(drawn).map(([a, b]) => Number(Math.sign(a) === Math.sign(b)))),
      ),
    };
  };
  const isFirst = ({ name }) => name.includes('.layers.0.');
  return {
    texts: texts.length,
    replacement: interval(graphs.map(({ replacement }) => replacement)),
    completeness: interval(graphs.map(({ completeness }) => completeness)),
    all: compared(() => true),
    first: compared(isFirst),
    later: compared((from) => !isFirst(from)),
  };
}

async function main() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      model: { type: 'string', default: join(root, 'weights/writer') },
      texts: { type: 'string', default: '100' },
    },
  });
  if (!values.data) {
    throw new Error('usage: node tests/evaluate/graphs.mjs --data DIR [--model DIR] [--texts N]');
  }
  const folder = resolve(values.model);
  const result = await measure(folder, resolve(values.data), Number(values.texts));
  writeFileSync(join(folder, 'features/graphs.json'), `${JSON.stringify(result)}\n`);
  console.log(`${result.texts} texts`);
  console.log(`replacement ${told(result.replacement)}, completeness ${told(result.completeness)}`);
  const rows = Object.entries({ all: result.all, first: result.first, later: result.later }).map(
    ([name, { edges, ...of }]) => [name, edges, told(of.correlation), told(of.sameSign)],
  );
  console.log(table(['features of layers', 'edges', 'correlation', 'same sign'], rows));
}

await main();
