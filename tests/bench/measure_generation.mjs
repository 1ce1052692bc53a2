// Times language models in turn: node measure_generation.mjs '{"model": DIR, "onnx": {"f32": DIR,
// "int8": DIR}, "rounds": N, "lengths": [N]}', in the precisions of `onnx`. After a text of N
// tokens, which is read in one pass, it writes N tokens greedily, one token per step with cached
// keys and values. Prints {samples: [{engine, build, precision, tokens, output_tokens,
// milliseconds: […], firsts: […]}], versions}: the total time, and the time to the first token.
// Fails if engines disagree in f32; in int8 they round activations differently. Needs a Node with
// relaxed SIMD.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ort from 'onnxruntime-web/wasm';
import { Generator } from '../../dist/index.js';
import { textOf } from '../full/checkpoint.mjs';
import { binaries, finish, inTurn, openOnnx, time } from './engines.mjs';

const { model, onnx, rounds, lengths } = JSON.parse(process.argv[2]);
const warmUp = 2500; // milliseconds per engine, until V8 has optimized every loop
const slice = 250; // milliseconds per engine and round

const config = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
const { n_heads: heads, d_model: width, decoder_layers: layers } = config;
const int64 = (values, dims) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);

/** Returns the greedy continuation, as ids. */
async function generate(session, prompt, count) {
  const past = {};
  for (let layer = 0; layer < layers; ++layer)
    past[`past.${layer}`] = new ort.Tensor('float32', [], [2, 1, heads, 0, width / heads]);
  const found = [];
  let ids = prompt;
  for (let seen = 0; found.length < count;) {
    const { token, ...present } = await session.run({
      ...past,
      ids: int64(ids, [1, ids.length]),
      positions: int64(
        ids.map((_, i) => seen + i),
        [ids.length],
      ),
    });
    for (const [name, tensor] of Object.entries(present))
      past[name.replace('present', 'past')] = tensor;
    seen += ids.length;
    ids = [Number(token.data[0])];
    found.push(...ids);
  }
  return found;
}

/** An engine. `run` resolves to the ids of new tokens. */
async function engineOf(names, count, run) {
  const milliseconds = [];
  const firsts = [];
  return {
    ...names,
    ids: await run(count),
    milliseconds,
    firsts,
    warmUp: () => time(() => run(count), warmUp),
    sample: async () => {
      milliseconds.push(...(await time(() => run(count), slice)));
      firsts.push(...(await time(() => run(1), slice / 4)));
    },
  };
}

const samples = [];
for (const [precision, folder] of Object.entries(onnx)) {
  const generators = {};
  for (const [build, binary] of Object.entries(binaries))
    generators[build] = await Generator.load(model, { binary, compute: precision, threads: 1 });
  const session = await openOnnx(join(folder, 'decoder.onnx'));
  for (const tokens of lengths) {
    const text = ` ${textOf(tokens)}`;
    const engines = [];
    let prompt;
    for (const [build, generator] of Object.entries(generators)) {
      const names = { engine: 'glassformer', build, precision };
      const engine = await engineOf(names, tokens, async (count) => {
        const options = { maxNewTokens: count, sample: false, beams: 1 };
        const { promptTokens, tokens: written } = await generator.generate(text, options);
        prompt ??= promptTokens.map(({ id }) => id);
        return written.map(({ id }) => id);
      });
      engines.push(engine);
    }
    if (prompt.length !== tokens) throw new Error(`a prompt of ${prompt.length} tokens`);
    const names = { engine: 'onnxruntime-web', build: 'wasm', precision };
    engines.push(await engineOf(names, tokens, (count) => generate(session, prompt, count)));
    const expected = engines.at(-1).ids.join();
    for (const { build, ids } of precision === 'f32' ? engines : [])
      if (ids.join() !== expected) throw new Error(`${build} ${ids}, onnxruntime-web ${expected}`);
    for (const engine of engines) await engine.warmUp();
    await inTurn(engines, rounds);
    for (const { engine, build, milliseconds, firsts, ids } of engines)
      samples.push({
        engine,
        build,
        precision,
        tokens,
        output_tokens: ids.length,
        milliseconds,
        firsts,
      });
  }
  for (const generator of Object.values(generators)) generator.dispose();
  await session.release();
}
finish(samples);
