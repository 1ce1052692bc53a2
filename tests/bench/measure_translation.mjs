// Times translators in turn: node measure_translation.mjs '{"model": DIR, "onnx": {"f32": DIR,
// "int8": DIR}, "rounds": N, "lengths": [N]?}', in the precisions of `onnx`. Our own models
// translate sentences. Published models with random weights never end, and translate N tokens into
// N tokens. Prints {samples: [{engine, build, precision, beams, tokens, output_tokens,
// milliseconds: […], firsts: […]}], versions}: the time of a whole translation, and the time to the
// first token of a greedy one. Fails if engines disagree on a translation in f32; in int8 they
// round activations differently, so each counts its own tokens. Bergamot translates with random
// weights into as many tokens as onnxruntime-web. Needs a Node with relaxed SIMD.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Translator } from '../../dist/index.js';
import { textOf } from '../full/checkpoint.mjs';
import { Bergamot } from './bergamot.mjs';
import { benchNatively, binaries, finish, inTurn, time } from './engines.mjs';
import { OnnxTranslator } from './onnx_translator.mjs';

const { model, onnx, rounds, lengths } = JSON.parse(process.argv[2]);
const warmUp = 2000; // milliseconds per engine and sentence, until V8 has optimized every loop
const slice = 100; // milliseconds per engine, sentence and round

const sentences = lengths?.map((length) => textOf(length - 1)) ?? [
  'The weather is nice today.',
  'Two young girls in white dresses are playing with a big dog in front of an old house.',
  'The man in the blue jacket is standing on the street, and the woman with the black hair is reading a book in front of the house.',
];

const stopped = new Error('stopped after the first token');
const stop = () => {
  throw stopped;
};

// Ids in the vocabulary of weights/train/translator/prepare.py: <pad>, <unk>, <s>, </s>.
const own = { start: 2, end: 3, never: new Set([0, 1, 2]) };

const shortlisted = (build, shortlist) => (shortlist ? `${build}, shortlist` : build);

/** Measures the native build, greedy and with 4 beams, in one process. */
function nativeEngines({ precision, shortlist }, text) {
  const engines = [1, 4].map((beams) => ({
    engine: 'glassformer',
    precision,
    beams,
    milliseconds: [],
    firsts: [],
  }));
  const sample = () => {
    const options = ['--text', text, ...(shortlist ? ['--shortlist'] : [])];
    for (const row of benchNatively(model, precision, options)) {
      const engine = engines.find(({ beams }) => beams === row.beams);
      engine.build = shortlisted(row.build, shortlist);
      engine.output_tokens = row.output_tokens;
      engine.milliseconds.push(row.ms_median);
      engine.firsts.push(row.ms_first_token);
    }
  };
  return { engines, sample };
}

/**
 * An engine in this process. `run` resolves to ids; `first`, if any, resolves at the first token.
 */
async function engineHere(names, run, first) {
  const milliseconds = [];
  const firsts = [];
  const ids = await run();
  return {
    ...names,
    ids,
    output_tokens: ids.length,
    milliseconds,
    firsts,
    warmUp: () => time(run, warmUp),
    sample: async () => {
      milliseconds.push(...(await time(run, slice)));
      if (first) firsts.push(...(await time(first, slice / 2)));
    },
  };
}

const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
const last = config.target_vocab_size - 1;
const special = lengths ? { start: last, end: 0, never: new Set([0, last]) } : own;
/** Options that make our search equal to the other one: by default, ours skips repeated tokens. */
const search = (source) => (lengths ? { maxLength: source.length, earlyStopping: true } : {});
const precisions = Object.keys(onnx);
const translators = [];
const peers = {};
// Our engine in every precision, and in int8 with the model's shortlist, if it has one.
const kinds = precisions.map((precision) => ({ precision, shortlist: false }));
if (onnx.int8 && existsSync(join(model, 'shortlist.bin'))) {
  kinds.push({ precision: 'int8', shortlist: true });
}
for (const { precision, shortlist } of kinds) {
  for (const [build, binary] of Object.entries(binaries)) {
    const translator = await Translator.load(model, {
      binary,
      compute: precision,
      shortlist,
      threads: 1,
    });
    translators.push({ build: shortlisted(build, shortlist), precision, translator });
  }
}
for (const precision of precisions) {
  peers[precision] = await OnnxTranslator.load(onnx[precision], config);
}

const bergamot = onnx.int8 && !lengths && (await Bergamot.load(model, config, special.end));

const ours = ({ build, precision, translator }, text, source, beams) =>
  engineHere(
    { engine: 'glassformer', build, precision, beams },
    async () =>
      (await translator.translate(text, { beams, ...search(source) })).sentences[0].tokens.map(
        ({ id }) => id,
      ),
    async () => {
      for await (const step of translator.stream(text)) return step;
    },
  );

const theirs = (precision, source, beams) => {
  const options = { special, ...(lengths ? { longest: source.length } : {}) };
  return engineHere(
    { engine: 'onnxruntime-web', build: 'wasm', precision, beams },
    () => peers[precision].translate(source, { beams, ...options }),
    () =>
      peers[precision].translate(source, { beams: 1, ...options, onToken: stop }).catch((error) => {
        if (error !== stopped) throw error;
      }),
  );
};

/** Bergamot without and with a shortlist, greedily. */
function bergamots(text, tokens, ids) {
  return Promise.all(
    [false, true].map((shortlist) => {
      const build = shortlist ? 'wasm with a shortlist' : 'wasm';
      const outputTokens = ids.length;
      const translate = bergamot.translation(text, { tokens, outputTokens, shortlist });
      const names = { engine: 'bergamot-translator', build, precision: 'int8', beams: 1 };
      return engineHere(names, () => (translate(), ids));
    }),
  );
}

const samples = [];
for (const text of sentences) {
  const [{ sourceTokens }] = (await translators[0].translator.translate(text)).sentences;
  const source = sourceTokens.map(({ id }) => id);
  const engines = [];
  for (const beams of [1, 4]) {
    for (const translator of translators) engines.push(await ours(translator, text, source, beams));
    for (const precision of precisions) engines.push(await theirs(precision, source, beams));
  }
  const theirIds = (precision, beams) =>
    engines.find(
      (other) =>
        other.engine === 'onnxruntime-web' &&
        other.precision === precision &&
        other.beams === beams,
    ).ids;
  if (bergamot) engines.push(...(await bergamots(text, source.length, theirIds('int8', 1))));
  for (const { beams, build, ids } of engines.filter(({ precision }) => precision === 'f32')) {
    const expected = theirIds('f32', beams);
    if (ids.join() !== expected.join())
      throw new Error(`${beams} beams: ${build} ${ids}, onnxruntime-web ${expected}: ${text}`);
  }
  const native = lengths ? [] : kinds.map((kind) => nativeEngines(kind, text));
  for (const engine of engines) await engine.warmUp();
  await inTurn([...native, ...engines], rounds);
  for (const { engine, build, precision, beams, output_tokens, milliseconds, firsts } of [
    ...native.flatMap((both) => both.engines),
    ...engines,
  ])
    samples.push({
      engine,
      build,
      precision,
      beams,
      tokens: source.length,
      output_tokens,
      milliseconds,
      firsts,
    });
}
finish(samples);
