// Measures what each head of a model does on texts that the model was not trained on:
//
//   node tests/evaluate/heads.mjs --data DIR [--model DIR]… [--texts 1000] [--shares]
//
// DIR as for run.mjs. Writes MODEL/heads.json and prints the card's table. It has, per head: the
// share of attention that goes to each set of tokens, that share with even attention, the entropy
// relative to the highest possible one, and the rise of the cross-entropy without the head. With
// --shares, only shares and entropy are measured, and the rest of heads.json stays: for a changed
// definition of words with the same model.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildNative, buildPackage, root } from '../../tools/build.mjs';
import { crossSets, meanShares, shares, squareSets, wordsOf } from './head_shares.mjs';
import { glassformer, pipeLines, readLines, table } from './lines.mjs';
import { bleuCounts, bleuOf, bootstrap } from './scores.mjs';

const sentenceFiles = ['sst2.dev', 'uci_imdb.dev'];
const contextOf = { encoder: 'self_attn', decoder: 'self_attn', cross: 'encoder_attn' };
const stackOf = { encoder: 'encoder', decoder: 'decoder', cross: 'decoder' };
const nameOf = ({ attention, layer }) =>
  `${stackOf[attention]}.layers.${layer}.${contextOf[attention]}.context`;

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const rounded = (value, digits = 4) => Number(value.toFixed(digits));

/** Returns the mean of paired differences, and its 95 % confidence interval. */
function interval(differences) {
  const [low, high] = bootstrap(differences.length, (drawn) =>
    mean(drawn.map((i) => differences[i])),
  );
  return { mean: rounded(mean(differences)), low: rounded(low), high: rounded(high) };
}

/** Collects the mean context of each head over all tokens, by the tensor's name. */
class MeanContexts {
  #sums = new Map();

  add(trace) {
    for (const [name, { shape, data }] of Object.entries(trace)) {
      if (!name.endsWith('.context')) continue;
      const [tokens, heads, size] = shape;
      const sum = this.#sums.get(name) ?? { size, count: 0, data: new Float64Array(heads * size) };
      for (const [i, value] of data.entries()) sum.data[i % (heads * size)] += value;
      sum.count += tokens;
      this.#sums.set(name, sum);
    }
  }

  /** Returns a patch of a head's context with its mean, for this number of rows. */
  patch(head, rows) {
    const name = nameOf(head);
    const { size, count, data } = this.#sums.get(name);
    const value = new Float32Array(rows * size);
    for (const i of value.keys()) value[i] = data[head.head * size + (i % size)] / count;
    return { name, heads: [head.head], value: { shape: [rows, 1, size], data: value } };
  }
}

/** Computes cross-entropy per token and right tokens of a causal model from its logits [T, V]. */
function nextTokens({ shape: [, size], data }, ids) {
  let sum = 0;
  let right = 0;
  for (const [i, id] of ids.slice(1).entries()) {
    const row = data.subarray(i * size, (i + 1) * size);
    const largest = row.reduce((a, b) => Math.max(a, b), -Infinity);
    sum += largest - row[id] + Math.log(row.reduce((total, x) => total + Math.exp(x - largest), 0));
    if (row[id] === largest) right += 1;
  }
  return { loss: sum / (ids.length - 1), right, answers: ids.length - 1 };
}

// Per task: its texts, and a function that runs a text with some heads changed. It returns { loss,
// tokens?, attention? } and, if answers are right or wrong, their number and the number of right
// ones.
const tasks = {
  'text-classification': {
    class: 'Classifier',
    sites: ['encoder'],
    read: (data) =>
      sentenceFiles.flatMap((name) =>
        readLines(join(data, 'sentiment', `${name}.tsv.gz`)).map((line) => {
          const tab = line.indexOf('\t');
          return { label: Number(line.slice(0, tab)), text: line.slice(tab + 1) };
        }),
      ),
    async run(model, { text, label }, options) {
      const { tokens, scores, attention, trace } = await model.classify(text, options);
      const { score } = scores[label];
      const right = Number(score === Math.max(...scores.map((each) => each.score)));
      const loss = -Math.log(Math.max(score, 1e-12));
      const rows = { encoder: tokens.length };
      return { loss, right, answers: 1, tokens, attention, trace, rows };
    },
  },
  translation: {
    class: 'Translator',
    sites: ['encoder', 'decoder', 'cross'],
    async read(data, { source_language: from, target_language: to }, folder, most) {
      const lines = readLines(join(data, 'translation', `tatoeba.${from}-${to}.test.tsv.gz`));
      const pairs = lines.map((line) => line.split('\t')).slice(0, 2 * most);
      const tokenized = await pipeLines(
        glassformer,
        ['tokenize', folder, '--special'],
        pairs.map(([, target]) => target),
      );
      return pairs.map(([text, reference], i) => ({
        text,
        reference,
        ids: tokenized[i].split(' ').map(Number),
      }));
    },
    async run(model, { text, ids }, options) {
      const wanted = { beams: 1, prefixes: [ids], maxLength: ids.length, ...options };
      const { sentences } = await model.translate(text, wanted);
      if (sentences.length !== 1) return undefined;
      const [{ tokens, sourceTokens, attention, trace }] = sentences;
      const loss = -mean(tokens.map(({ logprob }) => logprob));
      const rows = { encoder: sourceTokens.length, decoder: tokens.length, cross: tokens.length };
      return { loss, tokens: sourceTokens, written: tokens, attention, trace, rows };
    },
    /** Translates greedily with the native command: it is faster and gives the same answers. */
    answers(folder, texts, head) {
      const ablated = head ? ['--ablate', `${head.attention}.${head.layer}.${head.head}`] : [];
      const lines = texts.map(({ text }) => text);
      return pipeLines(glassformer, ['translate', folder, '--beams', '1', ...ablated], lines);
    },
  },
  'text-generation': {
    class: 'Generator',
    sites: ['decoder'],
    read: (data) =>
      sentenceFiles.flatMap((name) =>
        readLines(join(data, 'sentiment', `${name}.tsv.gz`)).map((line) => ({
          text: line.slice(line.indexOf('\t') + 1),
        })),
      ),
    async run(model, { text }, options) {
      const trace = [...(options.trace ?? []), 'logits'];
      const wanted = { maxNewTokens: 1, sample: false, beams: 1, ...options, trace };
      const result = await model.generate(text, wanted);
      const { promptTokens: tokens } = result;
      if (tokens.length < 3) return undefined;
      const ids = tokens.map(({ id }) => id);
      const read = nextTokens(result.trace.logits, ids);
      return { ...result, ...read, tokens, rows: { decoder: tokens.length } };
    },
  },
};

/** Returns the heads of a model, in the order of their sites. */
function headsOf(attention, sites) {
  return sites.flatMap((site) => {
    const { layers, heads } = attention[site];
    return Array.from({ length: layers * heads }, (_, i) => ({
      attention: site,
      layer: Math.floor(i / heads),
      head: i % heads,
    }));
  });
}

/** Reads the cost of each head from heads.json, if it has the same texts and heads. */
function knownCosts(folder, texts, all) {
  const known = JSON.parse(readFileSync(join(folder, 'heads.json'), 'utf8'));
  const same = ({ attention, layer, head }, i) =>
    attention === all[i].attention && layer === all[i].layer && head === all[i].head;
  if (known.texts !== texts || known.heads.length !== all.length || !known.heads.every(same)) {
    throw new Error(`${folder}/heads.json has other texts or heads: run without --shares`);
  }
  return known.heads.map(({ zero, mean, accuracyLost, bleuLost }) => ({
    ...{ zero, mean, accuracyLost, bleuLost },
  }));
}

async function heads(folder, data, most, sharesOnly) {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const task = tasks[config.task ?? 'text-generation'];
  const model = await (await import(join(root, 'dist/index.js')))[task.class].load(folder);
  const texts = (await task.read(data, config, folder, most)).filter(({ text }) => text.trim());
  const names = task.sites.map((attention) => nameOf({ attention, layer: '*' }));

  const base = [];
  const contexts = new MeanContexts();
  const totals = meanShares();
  for (const text of texts) {
    if (base.length === most) break;
    const result = await task.run(model, text, { attention: true, trace: names });
    if (!result) continue;
    contexts.add(result.trace);
    const own = wordsOf(result.tokens);
    for (const site of task.sites) {
      const map = result.attention[site];
      if (site === 'cross') {
        totals.add(site, shares(map, crossSets(wordsOf(result.written), own)));
      } else {
        const read = site === 'encoder' || !result.written ? own : wordsOf(fedOf(result.written));
        totals.add(site, shares(map, squareSets(read, site === 'decoder')));
      }
    }
    base.push({ ...result, text, trace: undefined, attention: undefined });
  }
  const first = await task.run(model, base[0].text, { attention: true });
  const all = headsOf(first.attention, task.sites);
  const costs = sharesOnly ? knownCosts(folder, base.length, all) : await costsOf();
  model.dispose();
  return {
    texts: base.length,
    compute: model.info.compute,
    ...(base[0].answers ? { accuracy: rounded(accuracyOf(base), 1) } : {}),
    heads: all.map((head, i) => ({
      ...{ ...head, ...totals.of(head), ...costs[i] },
      ...beginning(basename(folder), head),
    })),
  };

  async function costsOf() {
    const own = base.map(({ text }) => text);
    const plain = await task.answers?.(folder, own);
    const found = [];
    for (const [i, head] of all.entries()) {
      const without = { ablate: [head] };
      const zero = [];
      const mean = [];
      for (const { text, rows } of base) {
        zero.push(await task.run(model, text, without));
        mean.push(
          await task.run(model, text, { patch: [contexts.patch(head, rows[head.attention])] }),
        );
      }
      const answers = await task.answers?.(folder, own, head);
      const lost = (runs) => interval(runs.map(({ loss }, j) => loss - base[j].loss));
      found.push({
        zero: lost(zero),
        mean: lost(mean),
        ...(answers ? bleuLost(own, plain, answers) : accuracyLost(base, zero)),
      });
      process.stderr.write(`\r${basename(folder)}: ${i + 1} of ${all.length} heads`);
    }
    process.stderr.write('\n');
    return found;
  }
}

/**
 * Heads that were set before training, by the model's name and layer: how many tokens after its own
 * position each one looked then. See look_at in weights/train/classifier/model.py.
 */
const began = { sentiment: [0, 1].map(() => [-1.3, 1.3, -2.5, 2.5]) };

/** Returns how a head began, if it was set. */
function beginning(model, { layer, head }) {
  const offset = began[model]?.[layer]?.[head];
  return offset === undefined ? {} : { began: offset };
}

// Returns the input of the decoder: the start token, and its output without the last token.
function fedOf(written) {
  const start = { text: '', start: 0, end: 0 };
  return [start, ...written.slice(0, -1)];
}

const total = (values) => values.reduce((sum, value) => sum + value, 0);

/** Returns the percentage of right answers. */
const accuracyOf = (runs) =>
  (100 * total(runs.map(({ right }) => right))) / total(runs.map(({ answers }) => answers));

// Returns the lost points. With a thousand answers, less than one point is noise.
function accuracyLost(base, zero) {
  return { accuracyLost: rounded(accuracyOf(base) - accuracyOf(zero), 1) };
}

function bleuLost(texts, plain, answers) {
  const score = (list) => bleuOf(list.map((answer, i) => bleuCounts(answer, [texts[i].reference])));
  return { bleuLost: rounded(score(plain) - score(answers), 1) };
}

const percent = (share) => (share === undefined ? '' : `${(100 * share).toFixed(0)} %`);

/** Returns a table with a line per head, sorted by the loss without it. */
function report({ heads }) {
  const sets = ['previous', 'same', 'next', 'first', 'last', 'specials', 'punctuation', 'sameWord'];
  const shown = sets.filter((set) => heads.some(({ share }) => share[set] !== undefined));
  const score = ['accuracyLost', 'bleuLost'].find((name) => heads[0][name] !== undefined);
  const rows = [...heads]
    .sort((a, b) => b.zero.mean - a.zero.mean)
    .map(({ attention, layer, head, share, entropy, zero, mean, ...lost }) => [
      `${attention} ${layer}.${head}`,
      ...shown.map((set) => percent(share[set])),
      entropy.toFixed(2),
      `${zero.mean.toFixed(3)} (${zero.low.toFixed(3)} to ${zero.high.toFixed(3)})`,
      mean.mean.toFixed(3),
      ...(score ? [lost[score].toFixed(1)] : []),
    ]);
  const header = ['head', ...shown, 'entropy', 'loss with zeros (95 %)', 'loss with its mean'];
  return table([...header, ...(score ? [score === 'bleuLost' ? 'BLEU' : 'accuracy'] : [])], rows);
}

async function main() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      model: { type: 'string', multiple: true },
      texts: { type: 'string', default: '1000' },
      shares: { type: 'boolean', default: false },
    },
  });
  if (!values.data) {
    throw new Error(
      'usage: node tests/evaluate/heads.mjs --data DIR [--model DIR]… [--texts N] [--shares]',
    );
  }
  await buildNative();
  await buildPackage({ release: true });
  const shipped = ['sentiment', 'en-de', 'en-fr', 'writer'].map((name) => `weights/${name}`);
  for (const model of values.model ?? shipped.map((name) => join(root, name))) {
    const { data, texts, shares } = values;
    const result = await heads(resolve(model), resolve(data), Number(texts), shares);
    writeFileSync(join(model, 'heads.json'), `${JSON.stringify(result)}\n`);
    const right = result.accuracy === undefined ? '' : `, ${result.accuracy} % right`;
    console.log(`\n## ${basename(model)}: ${result.texts} texts${right}\n`);
    console.log(report(result));
  }
}

await main();
