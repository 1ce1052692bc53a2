// Measures one model in all engines that run its task: each precision with one and with all threads.
import { join } from 'node:path';
import { root } from '../../../tools/build.mjs';
import { Engine, inTurn } from './engine.mjs';
import { exportFor, makeModel, models } from './models.mjs';
import { NativeEngine } from './native.mjs';

const script = (name) => join(root, 'tests/bench/peers', name);

const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** Returns a row per engine and kind of call: medians, and the fastest tenth. */
function rowsOf({ names, facts, samples, peak }) {
  return Object.entries(samples).map(([what, times]) => ({
    ...names,
    build: facts.build,
    what,
    ms: quantile(times, 1 / 2),
    ms_fast: quantile(times, 1 / 10),
    peak,
  }));
}

/** Returns engines of other projects for a model, as functions that start them for some threads. */
async function others(name, { node, entries, ctranslate2 }) {
  const { task, count, size } = models[name];
  const inNode = (file, options, names) => (threads, ids) =>
    new Engine({ ...names, threads }, node, [
      script(file),
      JSON.stringify({ ...options, threads, ids, count, size }),
    ]);
  if (task === 'classification' || task === 'pictures') {
    const graphs = await exportFor('onnx', name);
    return ['onnxruntime-node', 'onnxruntime-web'].flatMap((engine) =>
      Object.entries(graphs).map(([precision, folder]) => {
        const graph = join(folder, 'classifier.onnx');
        const names = { engine, precision, wasm: engine === 'onnxruntime-web' };
        return inNode('onnxruntime.mjs', { module: entries[engine], graph }, names);
      }),
    );
  }
  if (task === 'generation') {
    const files = await exportFor('gguf', name);
    return Object.entries(files).map(([kind, file]) => {
      const names = { engine: 'llama.cpp', precision: kind.toUpperCase() };
      return inNode('llama.mjs', { module: entries['node-llama-cpp'], file }, names);
    });
  }
  if (!ctranslate2) return [];
  const folders = await exportFor('ctranslate2', name, { ctranslate2 });
  return Object.entries(folders).map(([precision, folder]) => (threads, ids) => {
    const kind = precision === 'f32' ? 'float32' : precision;
    const tokens = ids.map((id) => (id === 0 ? '</s>' : `t${id}`));
    const names = { engine: 'CTranslate2', precision, threads };
    const args = [folder, kind, String(threads), String(count), ...tokens];
    return new Engine(names, ctranslate2.program, args, ctranslate2.env);
  });
}

/** Our command line and our WebAssembly in Node. */
function ours(name, model, node, precision, threads) {
  const { task, text, count, size } = models[name];
  const options = { model, task, precision, threads, text, count, size };
  const names = { engine: 'glassformer', precision, threads };
  return {
    native: new NativeEngine({ ...names, wasm: false }, options),
    wasm: new Engine({ ...names, wasm: true }, node, [
      script('glassformer.mjs'),
      JSON.stringify(options),
    ]),
  };
}

/**
 * Fails if engines that compute in floats write different tokens. With weights in half precision,
 * the first eight must be the same.
 */
function check(name, engines) {
  const writtenBy = (kind, length) =>
    engines
      .filter(({ names, facts }) => names.precision === kind && facts.written)
      .map(({ facts }) => facts.written.slice(0, length).join());
  const { count } = models[name];
  for (const written of [writtenBy('f32', count), [...writtenBy('f32', 8), ...writtenBy('F16', 8)]])
    if (new Set(written).size > 1)
      throw new Error(`${name}: engines disagree\n${written.join('\n')}`);
}

/** Returns the rows of a model. */
export async function compare(name, tools, plan) {
  const engines = [];
  try {
    await measure(name, tools, plan, engines);
  } catch (error) {
    // A waiting process would keep this one from ending.
    for (const { child } of engines) child?.kill();
    throw error;
  }
  return engines.flatMap(rowsOf);
}

async function measure(name, tools, { threads: most, rounds, slice }, engines) {
  const model = await makeModel(name);
  const starters = await others(name, tools);
  let source;
  for (const threads of most > 1 ? [1, most] : [1]) {
    for (const precision of ['f32', 'int8']) {
      const { native, wasm } = ours(name, model, tools.node, precision, threads);
      engines.push(await native.start(), await wasm.start());
      source = wasm.facts.source;
      for (const read of [native.facts.tokens, source?.length ?? models[name].tokens])
        if (read !== models[name].tokens) throw new Error(`${name}: ${read} tokens`);
    }
    for (const start of starters) engines.push(await start(threads, source).start());
  }
  check(name, engines);
  await inTurn(engines, { rounds, slice });
}
