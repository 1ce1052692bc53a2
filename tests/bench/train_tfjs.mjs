// The speed of training in WebAssembly: the package's Trainer beside TensorFlow.js.
//
//   npm install --prefix build/tfjs @tensorflow/tfjs @tensorflow/tfjs-backend-wasm
//   node tests/bench/train_tfjs.mjs --tfjs build/tfjs
//
// Both learn the shape of the sentiment classifier (4 layers, d 128, 8 heads, feed-forward 512, norms
// first, dropout 0.1, mean pooling) from texts of 256 tokens with Adam, on one thread: the package
// 4,096 tokens a step, TensorFlow.js 512, because 4,096 take more than 19 GB in plain JavaScript. It
// runs on its wasm backend or, if that lacks what training needs, in plain JavaScript. Prints the
// medians of tokens per second as JSON.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Trainer } from '../../dist/index.js';

const { values } = parseArgs({
  options: { tfjs: { type: 'string' }, steps: { type: 'string', default: '5' } },
});
const steps = Number(values.steps);
const [length, vocabulary, layers, d, heads, inner] = [256, 1000, 4, 128, 8, 512];
const ourBatch = 4096; // tokens
const texts = 2; // of a step of TensorFlow.js

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Returns tokens per second of the package, in steps of about 4,096 tokens. */
async function ours() {
  const word = (i, j) => ((i * 7919 + j * 104729) % 26 ** 5).toString(26).replace(/\d/g, 'x');
  const examples = Array.from({ length: 200 }, (_, i) => ({
    label: String(i % 2),
    text: Array.from({ length }, (_, j) => word(i, j)).join(' '),
  }));
  const config = { max_source_length: length };
  const options = { heldOut: 0, batchTokens: ourBatch, shardTokens: 1024 };
  const trainer = await Trainer.from(config, examples, options);
  const speeds = [];
  for await (const { tokens, milliseconds } of trainer.train({ epochs: 10 })) {
    speeds.push((1000 * tokens) / milliseconds);
    if (speeds.length > steps) break;
  }
  trainer.dispose();
  return { binary: trainer.info.binary, speed: median(speeds.slice(1)) };
}

/** The same model and step in TensorFlow.js. */
function theirModel(tf) {
  const normal = (...shape) => tf.variable(tf.randomNormal(shape, 0, 0.05));
  const ones = () => tf.variable(tf.ones([d]));
  const zeros = (n) => tf.variable(tf.zeros([n]));
  const table = normal(vocabulary, d);
  const blocks = Array.from({ length: layers }, () => ({
    norms: [ones(), zeros(d), ones(), zeros(d)],
    q: normal(d, d),
    k: normal(d, d),
    v: normal(d, d),
    out: normal(d, d),
    biases: [zeros(d), zeros(d), zeros(d), zeros(d), zeros(inner), zeros(d)],
    up: normal(d, inner),
    down: normal(inner, d),
  }));
  const last = [ones(), zeros(d)];
  const classifier = [normal(d, 2), zeros(2)];
  const norm = (x, gain, shift) => {
    const { mean, variance } = tf.moments(x, -1, true);
    return x.sub(mean).div(variance.add(1e-5).sqrt()).mul(gain).add(shift);
  };
  const rows = texts * length;
  const split = (x) => x.reshape([texts, length, heads, d / heads]).transpose([0, 2, 1, 3]);
  const attend = (x, { q, k, v, out, biases }) => {
    const [a, b, c] = [q, k, v].map((weight, i) => split(x.matMul(weight).add(biases[i])));
    const scores = a.matMul(b, false, true).div(Math.sqrt(d / heads));
    const context = scores.softmax().matMul(c).transpose([0, 2, 1, 3]).reshape([rows, d]);
    return context.matMul(out).add(biases[3]);
  };
  // The wasm backend has no gradient of gather(). With 1,000 tokens, this product is a small part.
  const embed = (ids) => tf.oneHot(ids, vocabulary).toFloat().matMul(table);
  return (ids, labels) => {
    const drop = (y) => tf.dropout(y, 0.1);
    let x = drop(embed(ids).mul(Math.sqrt(d)));
    for (const block of blocks) {
      const { norms, biases } = block;
      x = x.add(drop(attend(norm(x, norms[0], norms[1]), block)));
      const hidden = norm(x, norms[2], norms[3]).matMul(block.up).add(biases[4]).relu();
      x = x.add(drop(hidden.matMul(block.down).add(biases[5])));
    }
    const pooled = norm(x, ...last)
      .reshape([texts, length, d])
      .mean(1);
    const logits = pooled.matMul(classifier[0]).add(classifier[1]);
    return tf.losses.softmaxCrossEntropy(labels, logits, undefined, 0.1);
  };
}

async function theirs(tf, backend) {
  await tf.setBackend(backend);
  await tf.ready();
  const lossOf = theirModel(tf);
  const optimizer = tf.train.adam(1e-3);
  const speeds = [];
  for (let step = 0; step <= steps; step++) {
    const ids = tf.randomUniform([texts * length], 0, vocabulary, 'int32');
    const labels = tf.oneHot(tf.randomUniform([texts], 0, 2, 'int32'), 2);
    const began = performance.now();
    const loss = optimizer.minimize(() => lossOf(ids, labels), true);
    if (!Number.isFinite((await loss.data())[0])) throw new Error('the loss is not finite');
    speeds.push((1000 * texts * length) / (performance.now() - began));
    tf.dispose([ids, labels, loss]);
  }
  return median(speeds.slice(1));
}

const { binary, speed } = await ours();
const result = { glassformer: Math.round(speed), binary };
if (values.tfjs) {
  const require = createRequire(resolve(values.tfjs, 'package.json'));
  const tf = require('@tensorflow/tfjs');
  const wasm = require('@tensorflow/tfjs-backend-wasm');
  wasm.setThreadsCount(1);
  for (const backend of ['wasm', 'cpu']) {
    try {
      const theirSpeed = await theirs(tf, backend);
      Object.assign(result, { tfjs: tf.version_core, backend, tensorflow: Math.round(theirSpeed) });
      result.ratio = Number((speed / theirSpeed).toFixed(2));
      break;
    } catch (error) {
      result[`${backend} backend`] = error.message.split('\n')[0];
    }
  }
}
console.log(JSON.stringify(result));
process.exit();
