// Checkpoints as large as those that people use, as their makers publish them, with random weights.

import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const vocabulary = 30522;
const positions = 512;

/** The tensors of a linear layer, of a norm, of a table: name, shape, deviation, mean. */
const linear = (name, out, into) => [
  [`${name}.weight`, [out, into], into ** -0.5, 0],
  [`${name}.bias`, [out], 0.02, 0],
];
const norm = (name, size) => [
  [`${name}.weight`, [size], 0.02, 1],
  [`${name}.bias`, [size], 0.02, 0],
];
const table = (name, rows, size) => [[`${name}.weight`, [rows, size], 1, 0]];
const times = (count, make) => Array.from({ length: count }, (_, index) => make(index)).flat();

function bert({ layers, width, heads, inner }) {
  const config = {
    architectures: ['BertForSequenceClassification'],
    model_type: 'bert',
    hidden_act: 'gelu',
    hidden_size: width,
    intermediate_size: inner,
    num_attention_heads: heads,
    num_hidden_layers: layers,
    layer_norm_eps: 1e-12,
    max_position_embeddings: positions,
    type_vocab_size: 2,
    vocab_size: vocabulary,
    pad_token_id: 0,
  };
  const tensors = [
    ...table('bert.embeddings.word_embeddings', vocabulary, width),
    ...table('bert.embeddings.position_embeddings', positions, width),
    ...table('bert.embeddings.token_type_embeddings', 2, width),
    ...norm('bert.embeddings.LayerNorm', width),
    ...times(layers, (layer) => {
      const name = `bert.encoder.layer.${layer}`;
      return [
        ...['query', 'key', 'value'].flatMap((part) =>
          linear(`${name}.attention.self.${part}`, width, width),
        ),
        ...linear(`${name}.attention.output.dense`, width, width),
        ...norm(`${name}.attention.output.LayerNorm`, width),
        ...linear(`${name}.intermediate.dense`, inner, width),
        ...linear(`${name}.output.dense`, width, inner),
        ...norm(`${name}.output.LayerNorm`, width),
      ];
    }),
    ...linear('bert.pooler.dense', width, width),
    ...linear('classifier', 2, width),
  ];
  return { config, tensors };
}

function distilbert({ layers, width, heads, inner }) {
  const config = {
    architectures: ['DistilBertForSequenceClassification'],
    model_type: 'distilbert',
    activation: 'gelu',
    dim: width,
    hidden_dim: inner,
    n_heads: heads,
    n_layers: layers,
    max_position_embeddings: positions,
    sinusoidal_pos_embds: false,
    vocab_size: vocabulary,
    pad_token_id: 0,
  };
  const tensors = [
    ...table('distilbert.embeddings.word_embeddings', vocabulary, width),
    ...table('distilbert.embeddings.position_embeddings', positions, width),
    ...norm('distilbert.embeddings.LayerNorm', width),
    ...times(layers, (layer) => {
      const name = `distilbert.transformer.layer.${layer}`;
      return [
        ...['q_lin', 'k_lin', 'v_lin', 'out_lin'].flatMap((part) =>
          linear(`${name}.attention.${part}`, width, width),
        ),
        ...norm(`${name}.sa_layer_norm`, width),
        ...linear(`${name}.ffn.lin1`, inner, width),
        ...linear(`${name}.ffn.lin2`, width, inner),
        ...norm(`${name}.output_layer_norm`, width),
      ];
    }),
    ...linear('pre_classifier', width, width),
    ...linear('classifier', 2, width),
  ];
  return { config, tensors };
}

/** The shapes of models that everybody knows, by their names. */
export const shapes = {
  'MiniLM-L6': bert({ layers: 6, width: 384, heads: 12, inner: 1536 }),
  'DistilBERT-base': distilbert({ layers: 6, width: 768, heads: 12, inner: 3072 }),
};

const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

/** How many numbers a model of this shape has. */
export const parametersOf = ({ tensors }) =>
  tensors.reduce((sum, [, shape]) => sum + sizeOf(shape), 0);

/** Marsaglia's xorshift, uniform with a deviation and a mean. */
function generator(seed) {
  let state = seed;
  return (numbers, deviation, mean) => {
    const step = (deviation * Math.sqrt(12)) / 2 ** 32;
    for (let i = 0; i < numbers.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      numbers[i] = mean + state * step;
    }
  };
}

/** A file of tensors, written one by one. */
function writeSafetensors(path, tensors, fill) {
  let end = 0;
  const entries = tensors.map(([name, shape]) => {
    const begin = end;
    end += 4 * sizeOf(shape);
    return [name, { dtype: 'F32', shape, data_offsets: [begin, end] }];
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const file = openSync(path, 'w');
  try {
    writeSync(file, length);
    writeSync(file, header);
    for (const [, shape, deviation, mean] of tensors) {
      const numbers = new Float32Array(sizeOf(shape));
      fill(numbers, deviation, mean);
      const bytes = new Uint8Array(numbers.buffer);
      for (let at = 0; at < bytes.length; at += writeSync(file, bytes, at));
    }
  } finally {
    closeSync(file);
  }
}

/** The words of the benchmark's texts, so that each is one token. */
const english =
  `the first hour is gripping and beautifully shot two leads are joy to watch but ending
drags on for so long that even most patient viewer will look door was ready love it in end could not
still there good film somewhere here`.split(/\s+/);

/** Those, and words of two syllables or more; every letter is there too, so that any text can be read. */
function vocabularyLines() {
  const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
  const lines = [
    ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'],
    ...letters,
    ...letters.map((letter) => `##${letter}`),
    ...'.,!?\'"-:;()',
    ...english,
  ];
  const syllables = [...'bdfgklmnprstv'].flatMap((one) => [...'aeiou'].map((two) => one + two));
  for (let i = 0; lines.length < vocabulary; i++) {
    const word = [];
    for (let rest = i + syllables.length; rest > 0; rest = Math.floor(rest / syllables.length)) {
      word.push(syllables[rest % syllables.length]);
    }
    lines.push(word.join(''));
  }
  return lines;
}

/** A text of so many words, each of one token. */
export function textOf(words) {
  const known = vocabularyLines().slice(-20_000);
  return Array.from({ length: words }, (_, i) => known[(i * 7919) % known.length]).join(' ');
}

/** Writes such a folder: everything in one file, or in `shards`. */
export function writeCheckpoint(folder, { config, tensors }, shards = 1) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name, text) => writeFileSync(join(folder, name), text);
  write('config.json', JSON.stringify({ ...config, id2label: { 0: 'NEGATIVE', 1: 'POSITIVE' } }));
  write('vocab.txt', vocabularyLines().join('\n') + '\n');
  const tokenizer = { tokenizer_class: 'BertTokenizer', do_lower_case: true };
  write('tokenizer_config.json', JSON.stringify({ ...tokenizer, model_max_length: positions }));
  const fill = generator(2463534242);
  if (shards === 1) {
    writeSafetensors(join(folder, 'model.safetensors'), tensors, fill);
    return;
  }
  const weightMap = {};
  for (let shard = 0; shard < shards; shard++) {
    const number = (value) => String(value).padStart(5, '0');
    const name = `model-${number(shard + 1)}-of-${number(shards)}.safetensors`;
    const own = tensors.filter(
      (_, index) => Math.floor((index * shards) / tensors.length) === shard,
    );
    for (const [tensor] of own) weightMap[tensor] = name;
    writeSafetensors(join(folder, name), own, fill);
  }
  const metadata = { total_size: 4 * parametersOf({ tensors }) };
  write('model.safetensors.index.json', JSON.stringify({ metadata, weight_map: weightMap }));
}
