// Times translators in turn: node measure_translation.mjs MODEL_DIR ONNX_DIR ROUNDS
// Prints [{engine, build, beams, tokens, output_tokens, milliseconds: […], firsts: […]}]: the time of a
// whole translation, and that to the first token of a greedy one. Fails where the engines disagree
// on a translation. Needs a Node with relaxed SIMD.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as ort from 'onnxruntime-web/wasm';
import { Translator } from '../../dist/index.js';
import { OnnxTranslator } from './onnx_translator.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [model, onnx, rounds] = process.argv.slice(2);
const warmUp = 2000; // milliseconds an engine and sentence: V8 must have optimised every loop
const calls = 5; // an engine, sentence and round

const sentences = [
  'The weather is nice today.',
  'Two young girls in white dresses are playing with a big dog in front of an old house.',
  'The man in the blue jacket is standing on the street, and the woman with the black hair is reading a book in front of the house.',
];

/** The command line measures itself, for a second; resolves to its row of this many beams. */
function sampleNatively(text, beams) {
  const args = ['bench', model, '--text', text, '--json'];
  const result = spawnSync(join(root, 'build/native/glassformer'), args, { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`glassformer bench failed: ${result.stderr}`);
  return JSON.parse(result.stdout).find((row) => row.beams === beams);
}

async function millisecondsOf(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const stopped = new Error('stopped after the first token');
const stop = () => {
  throw stopped;
};

const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
ort.env.wasm.numThreads = 1;
const theirs = await OnnxTranslator.load(onnx, config);
const translators = {
  'wasm-simd128': await Translator.load(model, { binary: 'simd' }),
  'wasm-relaxed': await Translator.load(model, { binary: 'relaxed' }),
};
// As the vocabulary of translation_prepare.py has them: <pad>, <unk>, <s>, </s>.
const special = { start: 2, end: 3, never: new Set([0, 1, 2]) };

const samples = [];
for (const text of sentences) {
  const [{ sourceTokens }] = (await translators['wasm-simd128'].translate(text)).sentences;
  const source = sourceTokens.map(({ id }) => id);
  for (const beams of [1, 4]) {
    const expected = await theirs.translate(source, { beams, special });
    const engines = Object.entries(translators).map(([build, translator]) => ({
      engine: 'glassformer',
      build,
      run: async () => (await translator.translate(text, { beams })).sentences[0].tokens,
      first: async () => {
        for await (const step of translator.stream(text)) return step;
      },
    }));
    engines.push({
      engine: 'onnxruntime-web',
      build: 'wasm',
      run: () => theirs.translate(source, { beams, special }),
      first: () =>
        theirs.translate(source, { beams: 1, special, onToken: stop }).catch((error) => {
          if (error !== stopped) throw error;
        }),
    });
    for (const { build, run } of engines.slice(0, -1)) {
      const ids = (await run()).map(({ id }) => id);
      if (ids.join() !== expected.join())
        throw new Error(`${beams} beams: ${build} ${ids}, onnxruntime-web ${expected}: ${text}`);
    }
    for (const engine of engines) {
      Object.assign(engine, { milliseconds: [], firsts: [] });
      const end = performance.now() + warmUp;
      while (performance.now() < end) await engine.run();
    }
    const native = { engine: 'glassformer', milliseconds: [], firsts: [] };
    for (let round = 0; round < Number(rounds); ++round) {
      const row = sampleNatively(text, beams);
      native.build = row.build;
      native.milliseconds.push(row.ms_median);
      native.firsts.push(row.ms_first_token);
      for (let i = 0; i < engines.length; ++i) {
        const engine = engines[(i + round) % engines.length]; // each goes first
        for (let call = 0; call < calls; ++call)
          engine.milliseconds.push(await millisecondsOf(engine.run));
        for (let call = 0; call < calls; ++call)
          engine.firsts.push(await millisecondsOf(engine.first));
      }
    }
    for (const { engine, build, milliseconds, firsts } of [native, ...engines])
      samples.push({
        engine,
        build,
        beams,
        tokens: source.length,
        output_tokens: expected.length,
        milliseconds,
        firsts,
      });
  }
}
console.log(JSON.stringify(samples));
process.exit(0); // onnxruntime-web keeps Node alive
