// A translator in Firefox's format, with random weights. It translates words of two letters into
// such words, and ends its sentences. The same weights exist as floats and as integers.

import {
  floats,
  integers,
  marianContainer,
  shortlistOf,
  yamlOf,
} from '../../bench/marian_model.mjs';

const shape = {
  d_model: 64,
  d_ff: 128,
  n_heads: 8,
  encoder_layers: 2,
  decoder_layers: 2,
  source_vocab_size: 160,
  target_vocab_size: 160,
};

/** Generates random numbers from 0 to 1 from a seed. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Returns a matrix [outputs, inputs] of integers up to 64, with one 127, which determines the
 * multiplier. Its neighbor is 0, because Bergamot adds two products in 16 bits.
 */
function randomMatrix(random, outputs, inputs, deviation) {
  const values = Int8Array.from({ length: outputs * inputs }, () =>
    Math.round(128 * random() - 64),
  );
  const largest = Math.floor(random() * values.length);
  values[largest] = 127;
  values[largest ^ 1] = 0;
  return { values, outputs, inputs, multiplier: 37 / deviation };
}

/** Returns Marian's {name: tensor}. `kind`: 'f32' or 'int8'. */
function tensorsOf(kind, seed, shared, { d_model: d, d_ff: f, ...sizes }) {
  const random = randomNumbers(seed);
  const spread = (range) => (2 * random() - 1) * range;
  const tensors = {};
  // `table`: not transposed, also in floats.
  const matrix = (name, [inputs, outputs], { deviation, table = false }) => {
    const { values, multiplier } = randomMatrix(random, outputs, inputs, deviation);
    const dimensions = table ? [outputs, inputs] : [inputs, outputs];
    if (kind === 'int8') {
      tensors[name] = integers(dimensions, (i) => values[i], multiplier);
    } else {
      const transposed = (i) => (i % outputs) * inputs + Math.floor(i / outputs);
      tensors[name] = floats(dimensions, (i) => values[table ? i : transposed(i)] / multiplier);
    }
    return (output) =>
      values.subarray(output * inputs, (output + 1) * inputs).reduce((a, b) => a + b, 0) /
      multiplier;
  };
  // Returns the sum of each output's weights. Inputs are multiplied by alpha and rounded to
  // integers.
  const alpha = 28; // for activations up to 4.5
  const scale = 0.4; // of the last norm, and so of logits
  const weight = (name, sides, gain = 1) => {
    const own = name.endsWith('Wo') ? 40 : alpha; // contexts are smaller
    if (kind === 'int8') tensors[`${name}_QuantMultA`] = floats([1, 1], () => own);
    return matrix(name, sides, { deviation: gain / Math.sqrt(sides[0]) });
  };
  const vector = (name, size, value) => (tensors[name] = floats([1, size], value));
  const bias = (name, size) => vector(name, size, () => spread(0.2));
  const norm = (name, size = 1) => {
    vector(`${name}_ln_scale`, d, () => size * (1 + spread(0.2)));
    vector(`${name}_ln_bias`, d, () => size * spread(0.1));
  };
  const attention = (name) => {
    for (const part of 'qkvo') {
      weight(`${name}_W${part}`, [d, d], part === 'q' || part === 'k' ? 1.5 : 1);
      bias(`${name}_b${part}`, d);
    }
    norm(`${name}_Wo`);
  };
  const feedForward = (name, size) => {
    weight(`${name}_W1`, [d, f]);
    bias(`${name}_b1`, f);
    const sum = weight(`${name}_W2`, [f, d], 2.5);
    // Hidden values have a mean of 0.4. Without this correction, all tokens would become alike.
    vector(`${name}_b2`, d, (output) => -0.4 * sum(output));
    norm(`${name}_ffn`, size);
  };
  for (let layer = 1; layer <= sizes.encoder_layers; ++layer) {
    attention(`encoder_l${layer}_self`);
    feedForward(`encoder_l${layer}_ffn`);
  }
  for (let layer = 1; layer <= sizes.decoder_layers; ++layer) {
    weight(`decoder_l${layer}_rnn_W`, [d, d], 2);
    weight(`decoder_l${layer}_rnn_Wf`, [d, d]);
    bias(`decoder_l${layer}_rnn_bf`, d);
    norm(`decoder_l${layer}_rnn_ffn`);
    attention(`decoder_l${layer}_context`);
    feedForward(`decoder_l${layer}_ffn`, layer === sizes.decoder_layers ? scale : 1);
  }
  const tables = shared
    ? [['Wemb', sizes.target_vocab_size]]
    : [
        ['encoder_Wemb', sizes.source_vocab_size],
        ['decoder_Wemb', sizes.target_vocab_size],
      ];
  for (const [name, size] of tables) {
    matrix(name, [d, size], { deviation: 0.4 / Math.sqrt(d), table: true });
    if (kind === 'int8') {
      tensors[`${name}_QuantMultA`] = integers([1, 1], () => 127, (127 * scale) / alpha);
    }
  }
  if (kind === 'int8' && shared) tensors.none_QuantMultA = floats([1, 1], () => alpha / scale);
  // The end is the likeliest token about once in six words.
  vector(
    'decoder_ff_logit_out_b',
    sizes.target_vocab_size,
    (i) => scale * (i === 0 ? 0.9 : spread(0.1)),
  );
  return tensors;
}

const varint = (value) => {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    if (rest <= 127n) return Buffer.from(bytes);
  }
};
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const block = (field, content) =>
  Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
const text = (field, value) => block(field, Buffer.from(value));
const single = (field, value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), bytes]);
};

/** Returns the word of a token: two letters. */
export const wordOf = (id, letters = 'abcdefghijklmnopqrstuvwxyz') =>
  letters[Math.floor(id / 26) % 26] + letters[id % 26];

/** Returns a SentencePiece model: the end token, the unknown token, and words. */
function vocabulary(size, letters) {
  const piece = (name, type, score) =>
    block(1, Buffer.concat([text(1, name), single(2, score), number(3, type)]));
  const words = Array.from({ length: size - 2 }, (_, i) =>
    piece(`\u2581${wordOf(i, letters)}`, 1, -1 - i / size),
  );
  const trainer = [number(3, 1), number(40, 1), number(41, -1), number(42, 0), number(43, -1)];
  return Buffer.concat([
    piece('</s>', 3, 0),
    piece('<unk>', 2, 0),
    ...words,
    block(2, Buffer.concat(trainer)),
    block(3, text(1, 'identity')),
  ]);
}

function shortlist({ source_vocab_size: sources, target_vocab_size: targets }, seed) {
  const random = randomNumbers(seed);
  const offsets = [0n];
  const candidates = [];
  for (let id = 0; id < sources; ++id) {
    const some = Array.from({ length: 12 }, () => Math.floor(random() * targets));
    candidates.push(...[...new Set(some)].sort((a, b) => a - b));
    offsets.push(BigInt(candidates.length));
  }
  return shortlistOf(
    { frequent: 9, best: 12 },
    BigUint64Array.from(offsets),
    Uint32Array.from(candidates),
  );
}

/** Returns the files of a model, by their names in Firefox. */
export function firefoxModel({
  kind = 'int8',
  shared = true,
  seed = shared ? 13 : 17,
  ...changes
} = {}) {
  const sizes = { ...shape, ...(shared ? {} : { target_vocab_size: 168 }), ...changes };
  const model = marianContainer(tensorsOf(kind, seed, shared, sizes), yamlOf({ ...sizes, shared }));
  const vocabularies = shared
    ? { 'vocab.ende.spm': vocabulary(sizes.source_vocab_size) }
    : {
        'srcvocab.ende.spm': vocabulary(sizes.source_vocab_size),
        'trgvocab.ende.spm': vocabulary(sizes.target_vocab_size, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'),
      };
  return {
    'model.ende.intgemm.alphas.bin': model,
    ...vocabularies,
    'lex.50.50.ende.s2t.bin': shortlist(sizes, seed),
  };
}

/** Returns a number of sentences of the model's words. */
export function firefoxTexts(count, seed = 7) {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, () => {
    const words = 1 + Math.floor(random() * 14);
    return Array.from({ length: words }, () => wordOf(Math.floor(random() * 158))).join(' ');
  });
}
