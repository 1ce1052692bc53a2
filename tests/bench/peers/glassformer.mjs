// Our WebAssembly in Node: node glassformer.mjs '{"model": DIR, "task", "precision", "threads",
// "text", "count", "size"}'; see engine.mjs. Facts: the ids of the text's tokens and of what is
// written, and the binary. Needs a Node with relaxed SIMD.
import { Classifier, Generator, ImageClassifier, Translator } from '../../../dist/index.js';
import { serve, time } from './serve.mjs';

const { model, task, precision, threads, text, count, size } = JSON.parse(process.argv[2]);
const warmUp = 2000; // milliseconds, until V8 has optimized every loop
const load = {
  backend: 'wasm',
  compute: precision,
  threads,
  ...(threads > 1 ? {} : { binary: 'relaxed' }),
};
const ids = (tokens) => tokens.map(({ id }) => id);

const tasks = {
  async classification() {
    const classifier = await Classifier.load(model, load);
    const { tokens } = await classifier.classify(text);
    const work = () => classifier.classify(text);
    return { info: classifier.info, source: ids(tokens), whole: work };
  },
  async pictures() {
    const classifier = await ImageClassifier.load(model, load);
    const [channels, height, width] = size;
    const data = new Uint8Array(channels * height * width).fill(128);
    return { info: classifier.info, whole: () => classifier.classify({ width, height, data }) };
  },
  async translation() {
    const translator = await Translator.load(model, load);
    const translate = (beams) =>
      translator.translate(text, { beams, maxLength: count, earlyStopping: true });
    const [{ sourceTokens, tokens }] = (await translate(1)).sentences;
    return {
      info: translator.info,
      source: ids(sourceTokens),
      written: ids(tokens),
      greedy: () => translate(1),
      '4 beams': () => translate(4),
    };
  },
  async generation() {
    const generator = await Generator.load(model, load);
    const generate = (maxNewTokens) =>
      generator.generate(text, { maxNewTokens, sample: false, beams: 1 });
    const { promptTokens, tokens } = await generate(count + 1);
    return {
      info: generator.info,
      source: ids(promptTokens),
      written: ids(tokens),
      prompt: () => generate(1),
      'prompt and more': () => generate(count + 1),
    };
  },
};

const { info, source, written, ...works } = await tasks[task]();
for (const work of Object.values(works)) await time(work, warmUp);
const facts = { source, written, binary: info.binary, threads: info.threads };
await serve(facts, async (milliseconds) => {
  const times = {};
  for (const [what, work] of Object.entries(works)) times[what] = await time(work, milliseconds);
  return times;
});
