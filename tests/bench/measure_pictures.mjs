// Times classifiers of pictures in turn, as measure.mjs does those of texts. Ours get a picture of the
// model's size in bytes, onnxruntime-web the pixels that the steps before the model make of it.
import { join } from 'node:path';
import * as ort from 'onnxruntime-web/wasm';
import { ImageClassifier } from '../../dist/index.js';
import { benchNatively, binaries, engineHere, finish, inTurn, openOnnx } from './engines.mjs';

const { model, onnx, rounds } = JSON.parse(process.argv[2]);
const tolerance = { f32: 1e-5, int8: 0.05 }; // the engines round activations differently

const precisions = Object.keys(onnx);
const classifiers = [];
const sessions = {};
for (const precision of precisions) {
  for (const [build, binary] of Object.entries(binaries)) {
    const classifier = await ImageClassifier.load(model, {
      binary,
      compute: precision,
      threads: 1,
    });
    classifiers.push({ build, precision, classifier });
  }
  sessions[precision] = await openOnnx(join(onnx[precision], 'classifier.onnx'));
}
const [{ classifier: first }] = classifiers;
const { labels } = first.info;
const { pictureHeight: height, pictureWidth: width, channels } = first.architecture.encoder;

// Waves of color, so that patches differ.
const data = Uint8Array.from({ length: height * width * channels }, (_, i) =>
  Math.round(127 + 120 * Math.sin(i / 97) * Math.cos(i / 1013)),
);
const picture = { width, height, data };
const { grid } = await first.classify(picture);
const tokens = grid.rows * grid.columns + grid.special.length;

// [height, width, channels] in bytes to [channels, height, width], with mean and deviation 0.5.
const pixels = new Float32Array(data.length);
for (let i = 0; i < height * width; ++i)
  for (let c = 0; c < channels; ++c)
    pixels[c * height * width + i] = data[i * channels + c] / 127.5 - 1;
const feeds = { pixels: new ort.Tensor('float32', pixels, [1, channels, height, width]) };

const theirs = precisions.map((precision) =>
  engineHere({ engine: 'onnxruntime-web', build: 'wasm', precision }, async () => [
    ...(await sessions[precision].run(feeds)).scores.data,
  ]),
);
const ours = classifiers.map(({ build, precision, classifier }) =>
  engineHere({ engine: 'glassformer', build, precision }, async () => {
    const { scores } = await classifier.classify(picture);
    return scores.map(({ score }) => score);
  }),
);
const native = precisions.map((precision) => {
  const engine = { engine: 'glassformer', precision, milliseconds: [], warmUp: () => {} };
  engine.sample = () => {
    const [row] = benchNatively(model, precision, []);
    engine.build = row.build;
    engine.milliseconds.push(row.ms_median);
  };
  return engine;
});

for (const engine of ours) {
  const expected = await theirs.find(({ precision }) => precision === engine.precision).work();
  (await engine.work()).forEach((score, i) => {
    if (!(Math.abs(score - expected[i]) < tolerance[engine.precision]))
      throw new Error(
        `${engine.build}, ${engine.precision}: ${score}, onnxruntime-web ${expected[i]}`,
      );
  });
}
const engines = [...native, ...ours, ...theirs];
for (const engine of engines) await engine.warmUp();
await inTurn(engines, rounds);
finish(
  engines.map(({ engine, build, precision, milliseconds }) => {
    return { engine, build, precision, tokens, milliseconds };
  }),
);
