// The models of the comparison with other engines: common shapes with random weights, in our format
// and in those of the others.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root, run, unlessDone } from '../../../tools/build.mjs';
import { shapes, shapesOfPeers, textOf } from '../../full/checkpoint.mjs';
import { exportOnnx, makePublished, output } from '../prepare.mjs';

const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const checkpoints = 'tests/full/checkpoint.mjs';
const writers = {
  onnx: 'tests/bench/export_onnx.py',
  ctranslate2: 'tests/bench/peers/ctranslate2/write_model.py',
  gguf: 'tests/bench/peers/write_gguf.py',
};

/**
 * The texts and the numbers of tokens to measure with. `text` has `tokens` tokens. A picture has the
 * model's own size, and as many rows.
 */
export const models = {
  'MiniLM-L6': { task: 'classification', tokens: 128, text: textOf(126) },
  'DistilBERT-base': { task: 'classification', tokens: 128, text: textOf(126) },
  'BERT-base': { task: 'classification', tokens: 128, text: textOf(126) },
  'ViT-B16': { task: 'pictures', tokens: 197, size: [3, 224, 224] },
  'OPUS-MT-base': { task: 'translation', tokens: 20, text: textOf(19), count: 20 },
  'GPT-2-small': { task: 'generation', tokens: 64, text: ` ${textOf(64)}`, count: 64 },
  'SmolLM2-135M': { task: 'generation', tokens: 64, text: ` ${textOf(64)}`, count: 64 },
};

/** Makes a model in our format, unless it exists. Returns its folder. */
export async function makeModel(name) {
  const folder = join(output, name);
  const shape = { ...shapes, ...shapesOfPeers }[name];
  await unlessDone(`bench-${name}`, [checkpoints], [join('build/bench', name)], async () => {
    await makePublished(name, shape);
    // Published folders have no checksums, for which the package keeps a file in memory.
    rmSync(join(folder, 'manifest.json'));
  });
  return folder;
}

/** Writes a model's files for another engine, unless they exist. Returns them by precision. */
export async function exportFor(engine, name, { ctranslate2 } = {}) {
  const model = join(output, name);
  const folder = join(output, engine, name);
  const kinds = engine === 'gguf' ? ['f16', 'q8_0'] : ['f32', 'int8'];
  const paths = Object.fromEntries(
    kinds.map((kind) => [kind, engine === 'gguf' ? `${folder}.${kind}.gguf` : join(folder, kind)]),
  );
  const write = (kind) => {
    const args = ['-B', join(root, writers[engine])];
    if (engine === 'gguf') return run(python, [...args, model, paths[kind], kind]);
    const quantization = kind === 'int8' ? [kind] : [];
    return run(python, [...args, ctranslate2.source, model, paths[kind], ...quantization]);
  };
  await unlessDone(
    `bench-${engine}-${name}`,
    [checkpoints, writers[engine]],
    Object.values(paths).map((path) => relative(root, path)),
    async () => {
      mkdirSync(dirname(folder), { recursive: true });
      if (engine === 'onnx') await exportOnnx(model, kinds);
      else for (const kind of kinds) await write(kind);
    },
  );
  return paths;
}
