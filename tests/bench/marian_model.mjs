// A model of random weights in Marian's binary format, intgemm8, like Firefox's translators: an
// encoder with the sizes of `config` (a config.json) and with norms after each sublayer, and a
// decoder with an SSRU instead of self-attention. It never chooses the token `end`, so that
// translations have the greatest length: the benchmark needs only its time.

export const types = { float32: 0x404, intgemm8: 0x4101, int8: 0x101 };
const multiplier = 600; // weights of ±64 / 600: activations keep their size
const aligned = (bytes) => Math.ceil(bytes / 256) * 256;

export function floats(shape, value = () => 0) {
  const data = new Float32Array(aligned(4 * shape[0] * shape[1]) / 4);
  for (let i = 0; i < shape[0] * shape[1]; ++i) data[i] = value(i);
  return { type: types.float32, shape, data };
}

/** Returns the elements, followed by the multiplier that quantized them. */
export function integers(shape, value, quantized = multiplier) {
  const count = shape[0] * shape[1];
  const data = new Int8Array(aligned(count + 4));
  for (let i = 0; i < count; ++i) data[i] = value(i);
  new DataView(data.buffer).setFloat32(count, quantized, true);
  return { type: types.intgemm8, shape, data };
}

/** {name: tensor} */
function tensorsOf(
  { d_model: d, d_ff: f, encoder_layers, decoder_layers, target_vocab_size: v },
  end,
) {
  let seed = 1;
  const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) | 0) >> 25 || 1; // ±64
  const tensors = {};
  const weight = (name, shape) => {
    tensors[name] = integers(shape, random);
    tensors[`${name}_QuantMultA`] = floats([1, 1], () => 32); // activations up to 4
  };
  const bias = (name, size) => (tensors[name] = floats([1, size]));
  const norm = (name) => {
    tensors[`${name}_ln_scale`] = floats([1, d], () => 1);
    bias(`${name}_ln_bias`, d);
  };
  const attention = (name) => {
    for (const part of 'qkvo') {
      weight(`${name}_W${part}`, [d, d]);
      bias(`${name}_b${part}`, d);
    }
    norm(`${name}_Wo`);
  };
  const feedForward = (name) => {
    weight(`${name}_W1`, [d, f]);
    bias(`${name}_b1`, f);
    weight(`${name}_W2`, [f, d]);
    bias(`${name}_b2`, d);
    norm(`${name}_ffn`);
  };
  for (let layer = 1; layer <= encoder_layers; ++layer) {
    attention(`encoder_l${layer}_self`);
    feedForward(`encoder_l${layer}_ffn`);
  }
  for (let layer = 1; layer <= decoder_layers; ++layer) {
    weight(`decoder_l${layer}_rnn_W`, [d, d]);
    weight(`decoder_l${layer}_rnn_Wf`, [d, d]);
    bias(`decoder_l${layer}_rnn_bf`, d);
    norm(`decoder_l${layer}_rnn_ffn`);
    attention(`decoder_l${layer}_context`);
    feedForward(`decoder_l${layer}_ffn`);
  }
  tensors.Wemb = integers([v, d], random);
  tensors.Wemb_QuantMultA = integers([1, 1], () => 127, 127 / 32);
  tensors.none_QuantMultA = floats([1, 1], () => 32);
  tensors.decoder_ff_logit_out_b = floats([1, v], (i) => (i === end ? -1e9 : 0));
  return tensors;
}

export function yamlOf({
  d_model,
  d_ff,
  encoder_layers,
  decoder_layers,
  n_heads,
  source_vocab_size,
  target_vocab_size,
  shared = true,
}) {
  return `bert-train-type-embeddings: true
bert-type-vocab-size: 2
dec-cell: ssru
dec-cell-base-depth: 2
dec-cell-high-depth: 1
dec-depth: ${decoder_layers}
dim-emb: ${d_model}
dim-rnn: 1024
dim-vocabs:
  - ${source_vocab_size}
  - ${target_vocab_size}
enc-cell: gru
enc-cell-depth: 1
enc-depth: ${encoder_layers}
enc-type: bidirectional
factors-combine: sum
factors-dim-emb: 0
ignore-model-config: false
input-types: []
layer-normalization: false
lemma-dim-emb: 0
output-omit-bias: false
right-left: false
skip: false
tied-embeddings: ${!shared}
tied-embeddings-all: ${shared}
tied-embeddings-src: false
transformer-aan-activation: swish
transformer-aan-depth: 2
transformer-aan-nogate: false
transformer-decoder-autoreg: rnn
transformer-depth-scaling: false
transformer-dim-aan: 2048
transformer-dim-ffn: ${d_ff}
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: ${n_heads}
transformer-no-projection: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-tied-layers: []
transformer-train-position-embeddings: false
type: transformer
ulr: false
ulr-dim-emb: 0
ulr-trainable-transformation: false
version: v1.9.56
`;
}

/** Returns the bytes of the file. */
export function marianModel(config, end) {
  return marianContainer(tensorsOf(config, end), yamlOf(config));
}

/** Returns a container with these tensors, {type, shape, data} by name, and its configuration. */
export function marianContainer(tensors, configuration) {
  const yaml = Buffer.from(`${configuration}\0`);
  const padded = new Int8Array(aligned(yaml.length));
  padded.set(yaml);
  const entries = Object.entries(tensors).sort(([a], [b]) => (a < b ? -1 : 1));
  entries.push(['special:model.yml', { type: types.int8, shape: [yaml.length], data: padded }]);

  const words = (...values) => Buffer.from(BigUint64Array.from(values, BigInt).buffer);
  const head = [words(1, entries.length)];
  for (const [name, { type, shape, data }] of entries)
    head.push(words(name.length + 1, type, shape.length, data.byteLength));
  for (const [name] of entries) head.push(Buffer.from(`${name}\0`));
  for (const [, { shape }] of entries) head.push(Buffer.from(Int32Array.from(shape).buffer));
  const length = head.reduce((sum, { byteLength }) => sum + byteLength, 8);
  const gap = aligned(length + 1) - length; // data starts on a multiple of 256
  head.push(words(gap), Buffer.alloc(gap));
  return Buffer.concat([
    ...head,
    ...entries.map(([, { data }]) => Buffer.from(data.buffer, 0, data.byteLength)),
  ]);
}

/**
 * Returns a shortlist like those of Firefox's translators: for each source token 50 target tokens
 * that may translate it, and the 50 most frequent ones of all.
 */
export function marianShortlist({ source_vocab_size: size }) {
  const frequent = 50;
  const best = 50;
  const offsets = BigUint64Array.from({ length: size + 1 }, (_, id) => BigInt(id * best));
  const candidates = Uint32Array.from({ length: size * best }, (_, i) => {
    const [id, rank] = [Math.floor(i / best), i % best];
    return ((id * 7919) % (size - best * 7)) + rank * 7; // ascending, spread over the vocabulary
  });
  return shortlistOf({ frequent, best }, offsets, candidates);
}

/** Returns the file of a shortlist: the candidates of a source token are between two offsets. */
export function shortlistOf({ frequent, best }, offsets, candidates) {
  const sizes = [frequent, best, offsets.length, candidates.length].map(BigInt);
  const bytes = ({ buffer }) => Buffer.from(buffer);
  const checked = Buffer.concat([BigUint64Array.from(sizes), offsets, candidates].map(bytes));
  let sum = 0n;
  for (let at = 0; at + 8 <= checked.length; at += 8) {
    const word = checked.readBigUInt64LE(at);
    sum ^= BigInt.asUintN(64, word + 0x9e3779b9n + (sum << 6n) + (sum >> 2n));
  }
  return Buffer.concat([bytes(BigUint64Array.of(0xf11a48d5013417f5n, sum)), checked]);
}
