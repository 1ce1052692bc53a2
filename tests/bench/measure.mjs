// Times classifiers in turn: node measure.mjs '{"model": DIR, "onnx": {"f32": DIR, "int8": DIR},
// "rounds": N, "lengths": […]}', in the precisions of `onnx`.
// Prints {samples: [{engine, build, precision, tokens, milliseconds: […]}], versions}. Fails if the
// engines disagree on a text. Needs a Node with relaxed SIMD.
import { join } from 'node:path';
import * as ort from 'onnxruntime-web/wasm';
import { Classifier } from '../../dist/index.js';
import { benchNatively, binaries, engineHere, finish, inTurn, openOnnx } from './engines.mjs';

const { model, onnx, rounds, lengths } = JSON.parse(process.argv[2]);
const tolerance = { f32: 1e-5, int8: 0.05 }; // the engines round activations differently

const words =
  `The first hour is gripping and beautifully shot , and the two leads are a joy to watch ,
but the ending drags on for so long that even the most patient viewer will look for the door . I was
ready to love it , and in the end I could not . Still , there is a good film in here somewhere .`
    .replaceAll(',', ' ,')
    .split(/\s+/);

/** Returns a text of exactly `wanted` tokens: words while they fit, then words of one token. */
async function textOf(wanted, classifier) {
  const count = async (text) => (await classifier.classify(text)).tokens.length;
  let text = words[0];
  for (let i = 1; (await count(`${text} ${words[i % words.length]}`)) <= wanted; ++i)
    text += ` ${words[i % words.length]}`;
  for (const filler of ['.', 'a', 'the', '!', 'it', 'film'])
    while ((await count(text)) < wanted && (await count(`${text} ${filler}`)) <= wanted)
      text += ` ${filler}`;
  if ((await count(text)) !== wanted) throw new Error(`no text of ${wanted} tokens found`);
  return text;
}

/** Measures the native build on its own text of this many tokens. */
function nativeEngine(precision, tokens) {
  const engine = { engine: 'glassformer', precision, milliseconds: [] };
  engine.warmUp = () => {};
  engine.sample = () => {
    const [row] = benchNatively(model, precision, ['--lengths', String(tokens)]);
    if (row.tokens !== tokens) throw new Error(`glassformer bench: ${row.tokens} tokens`);
    engine.build = row.build;
    engine.milliseconds.push(row.ms_median);
  };
  return engine;
}

const precisions = Object.keys(onnx);
const classifiers = [];
const sessions = {};
for (const precision of precisions) {
  for (const [build, binary] of Object.entries(binaries)) {
    const classifier = await Classifier.load(model, { binary, compute: precision, threads: 1 });
    classifiers.push({ build, precision, classifier });
  }
  sessions[precision] = await openOnnx(join(onnx[precision], 'classifier.onnx'));
}
const { labels } = classifiers[0].classifier.info;

function check(tokens, { build, precision }, ours, theirs) {
  ours.forEach((score, i) => {
    if (!(Math.abs(score - theirs[i]) < tolerance[precision]))
      throw new Error(
        `${tokens} tokens: ${build}, ${precision} ${score}, onnxruntime-web ${theirs[i]}`,
      );
  });
}

const samples = [];
for (const tokens of lengths) {
  const text = await textOf(tokens, classifiers[0].classifier);
  const { tokens: read } = await classifiers[0].classifier.classify(text);
  const ids = BigInt64Array.from(read, ({ id }) => BigInt(id));
  const feeds = { ids: new ort.Tensor('int64', ids, [1, tokens]) };
  const scoresOf = {};
  const theirs = precisions.map((precision) =>
    engineHere({ engine: 'onnxruntime-web', build: 'wasm', precision }, async () => [
      ...(await sessions[precision].run(feeds)).scores.data,
    ]),
  );
  for (const { precision, work } of theirs) scoresOf[precision] = await work();
  const ours = classifiers.map(({ build, precision, classifier }) =>
    engineHere({ engine: 'glassformer', build, precision }, async () => {
      const { scores } = await classifier.classify(text);
      return scores.map(({ score }) => score);
    }),
  );
  for (const engine of ours) check(tokens, engine, await engine.work(), scoresOf[engine.precision]);

  const native = precisions.map((precision) => nativeEngine(precision, tokens));
  const engines = [...native, ...ours, ...theirs];
  for (const engine of engines) await engine.warmUp();
  await inTurn(engines, rounds);
  for (const { engine, build, precision, milliseconds } of engines)
    samples.push({ engine, build, precision, tokens, milliseconds });
}
finish(samples);
