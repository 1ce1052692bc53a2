// Checkpoints of common sizes, in their published format, with random weights.

import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const vocabulary = 30522;
const positions = 512;
const labels = { id2label: { 0: 'NEGATIVE', 1: 'POSITIVE' } };

// Tensors of a linear layer, a norm and a table: [name, shape, deviation, mean, first numbers].
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
    ...labels,
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
  return { model: 'Classifier', config, tensors, tokenizer: wordPieces };
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
    ...labels,
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
  return { model: 'Classifier', config, tensors, tokenizer: wordPieces };
}

function vit({ layers, width, heads, inner, side, patch, classes }) {
  const names = Array.from({ length: classes }, (_, index) => [index, `class ${index}`]);
  const config = {
    architectures: ['ViTForImageClassification'],
    model_type: 'vit',
    hidden_act: 'gelu',
    hidden_size: width,
    intermediate_size: inner,
    num_attention_heads: heads,
    num_hidden_layers: layers,
    layer_norm_eps: 1e-12,
    image_size: side,
    patch_size: patch,
    num_channels: 3,
    qkv_bias: true,
    id2label: Object.fromEntries(names),
  };
  const embeddings = 'vit.embeddings';
  const projection = `${embeddings}.patch_embeddings.projection`;
  const tensors = [
    [`${embeddings}.cls_token`, [1, 1, width], 0.02, 0],
    [`${embeddings}.position_embeddings`, [1, 1 + (side / patch) ** 2, width], 0.02, 0],
    [`${projection}.weight`, [width, 3, patch, patch], (3 * patch * patch) ** -0.5, 0],
    [`${projection}.bias`, [width], 0.02, 0],
    ...times(layers, (layer) => {
      const name = `vit.encoder.layer.${layer}`;
      return [
        ...norm(`${name}.layernorm_before`, width),
        ...['query', 'key', 'value'].flatMap((part) =>
          linear(`${name}.attention.attention.${part}`, width, width),
        ),
        ...linear(`${name}.attention.output.dense`, width, width),
        ...norm(`${name}.layernorm_after`, width),
        ...linear(`${name}.intermediate.dense`, inner, width),
        ...linear(`${name}.output.dense`, width, inner),
      ];
    }),
    ...norm('vit.layernorm', width),
    ...linear('classifier', classes, width),
  ];
  return { model: 'ImageClassifier', config, tensors, tokenizer: pictureSteps };
}

/** Writes the steps before the model in place of a tokenizer. */
function pictureSteps({ image_size: side }) {
  const steps = {
    image_processor_type: 'ViTImageProcessor',
    do_resize: true,
    size: { height: side, width: side },
    resample: 2,
    do_rescale: true,
    rescale_factor: 1 / 255,
    do_normalize: true,
    image_mean: [0.5, 0.5, 0.5],
    image_std: [0.5, 0.5, 0.5],
  };
  return { 'preprocessor_config.json': JSON.stringify(steps) };
}

function gpt2({ layers, width, heads, vocabulary, context }) {
  const config = {
    architectures: ['GPT2LMHeadModel'],
    model_type: 'gpt2',
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    n_ctx: context,
    n_embd: width,
    n_head: heads,
    n_layer: layers,
    n_positions: context,
    vocab_size: vocabulary,
    bos_token_id: vocabulary - 1,
    eos_token_id: vocabulary - 1,
  };
  // Its matrices are stored as [in, out].
  const transposed = (name, into, out) => [
    [`${name}.weight`, [into, out], into ** -0.5, 0],
    [`${name}.bias`, [out], 0.02, 0],
  ];
  const tensors = [
    ['transformer.wte.weight', [vocabulary, width], width ** -0.5, 0],
    ['transformer.wpe.weight', [context, width], width ** -0.5, 0],
    ...times(layers, (layer) => {
      const name = `transformer.h.${layer}`;
      return [
        ...norm(`${name}.ln_1`, width),
        ...transposed(`${name}.attn.c_attn`, width, 3 * width),
        ...transposed(`${name}.attn.c_proj`, width, width),
        ...norm(`${name}.ln_2`, width),
        ...transposed(`${name}.mlp.c_fc`, width, 4 * width),
        ...transposed(`${name}.mlp.c_proj`, 4 * width, width),
      ];
    }),
    ...norm('transformer.ln_f', width),
  ];
  return { model: 'Generator', config, tensors, tokenizer: byteMerges };
}

function llama({ layers, width, heads, groups, inner, vocabulary, context }) {
  const head = width / heads;
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    hidden_size: width,
    intermediate_size: inner,
    num_attention_heads: heads,
    num_key_value_heads: groups,
    num_hidden_layers: layers,
    max_position_embeddings: context,
    rms_norm_eps: 1e-5,
    rope_theta: 10000,
    tie_word_embeddings: true,
    vocab_size: vocabulary,
    bos_token_id: vocabulary - 1,
    eos_token_id: vocabulary - 1,
  };
  const matrix = (name, out, into) => [[`${name}.weight`, [out, into], into ** -0.5, 0]];
  const scale = (name) => [[`${name}.weight`, [width], 0.02, 1]];
  const tensors = [
    ...matrix('model.embed_tokens', vocabulary, width),
    ...times(layers, (layer) => {
      const name = `model.layers.${layer}`;
      return [
        ...scale(`${name}.input_layernorm`),
        ...matrix(`${name}.self_attn.q_proj`, width, width),
        ...matrix(`${name}.self_attn.k_proj`, groups * head, width),
        ...matrix(`${name}.self_attn.v_proj`, groups * head, width),
        ...matrix(`${name}.self_attn.o_proj`, width, width),
        ...scale(`${name}.post_attention_layernorm`),
        ...matrix(`${name}.mlp.gate_proj`, inner, width),
        ...matrix(`${name}.mlp.up_proj`, inner, width),
        ...matrix(`${name}.mlp.down_proj`, width, inner),
      ];
    }),
    ...scale('model.norm'),
  ];
  return { model: 'Generator', config, tensors, tokenizer: byteMerges };
}

function marian({ layers, width, heads, inner, vocabulary }) {
  const config = {
    architectures: ['MarianMTModel'],
    model_type: 'marian',
    activation_function: 'swish',
    d_model: width,
    encoder_layers: layers,
    decoder_layers: layers,
    encoder_attention_heads: heads,
    decoder_attention_heads: heads,
    encoder_ffn_dim: inner,
    decoder_ffn_dim: inner,
    max_position_embeddings: positions,
    scale_embedding: true,
    vocab_size: vocabulary,
    eos_token_id: 0,
    pad_token_id: vocabulary - 1,
    decoder_start_token_id: vocabulary - 1,
  };
  const attention = (name) => [
    ...['q_proj', 'k_proj', 'v_proj', 'out_proj'].flatMap((part) =>
      linear(`${name}.${part}`, width, width),
    ),
    ...norm(`${name}_layer_norm`, width),
  ];
  const block = (name, attentions) => [
    ...attentions.flatMap((each) => attention(`${name}.${each}`)),
    ...linear(`${name}.fc1`, inner, width),
    ...linear(`${name}.fc2`, width, inner),
    ...norm(`${name}.final_layer_norm`, width),
  ];
  const tensors = [
    ['model.shared.weight', [vocabulary, width], width ** -0.5, 0],
    // The end token and padding are never written, so that translations have the requested length.
    ['final_logits_bias', [1, vocabulary], 0.02, 0, { 0: -1e4, [vocabulary - 1]: -1e4 }],
    ...times(layers, (layer) => block(`model.encoder.layers.${layer}`, ['self_attn'])),
    ...times(layers, (layer) =>
      block(`model.decoder.layers.${layer}`, ['self_attn', 'encoder_attn']),
    ),
  ];
  return { model: 'Translator', config, tensors, tokenizer: sentencePieces };
}

/** The shapes of well-known models, by name. */
export const shapes = {
  'MiniLM-L6': bert({ layers: 6, width: 384, heads: 12, inner: 1536 }),
  'DistilBERT-base': distilbert({ layers: 6, width: 768, heads: 12, inner: 3072 }),
  'GPT-2-small': gpt2({ layers: 12, width: 768, heads: 12, vocabulary: 50257, context: 1024 }),
  'ViT-B16': vit({
    ...{ layers: 12, width: 768, heads: 12, inner: 3072, side: 224, patch: 16, classes: 1000 },
  }),
  'OPUS-MT-base': marian({ layers: 6, width: 512, heads: 8, inner: 2048, vocabulary: 58101 }),
};

/** More shapes, which only the comparison with other engines needs. */
export const shapesOfPeers = {
  'BERT-base': bert({ layers: 12, width: 768, heads: 12, inner: 3072 }),
  'SmolLM2-135M': llama({
    ...{ layers: 30, width: 576, heads: 9, groups: 3, inner: 1536, vocabulary: 49152 },
    context: 2048,
  }),
};

const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

/** Returns the number of parameters of a model with this shape. */
export const parametersOf = ({ tensors }) =>
  tensors.reduce((sum, [, shape]) => sum + sizeOf(shape), 0);

/** Generates uniform numbers with a deviation and a mean, with Marsaglia's xorshift. */
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

/** Writes a file of tensors, one by one. */
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
    for (const [, shape, deviation, mean, some] of tensors) {
      const numbers = new Float32Array(sizeOf(shape));
      fill(numbers, deviation, mean);
      Object.assign(numbers, some);
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

const syllables = [...'bdfgklmnprstv'].flatMap((one) => [...'aeiou'].map((two) => one + two));

/** Yields words of syllables; the prefixes of a word come before it: ba, be, … baba, babe, … */
function words(count) {
  const found = syllables.map((one) => [one]);
  for (let i = 0; found.length < count; i++) {
    for (const next of syllables) found.push([...found[i], next]);
  }
  return found.slice(0, count);
}

/**
 * Returns these words, the words of the benchmark, and every letter, so that any text can be read.
 */
function wordPieces() {
  const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
  const lines = [
    ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'],
    ...letters,
    ...letters.map((letter) => `##${letter}`),
    ...'.,!?\'"-:;()',
    ...english,
  ];
  lines.push(
    ...words(vocabulary - lines.length + syllables.length)
      .slice(syllables.length)
      .map((word) => word.join('')),
  );
  return {
    'vocab.txt': `${lines.join('\n')}\n`,
    'tokenizer_config.json': JSON.stringify({
      tokenizer_class: 'BertTokenizer',
      do_lower_case: true,
      model_max_length: positions,
    }),
  };
}

/** Writes every byte, then merges of syllables after a space until the vocabulary is full. */
function byteMerges({ vocab_size: size }) {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const plain = (byte) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const rest = bytes.filter((byte) => !plain(byte));
  const tokens = bytes.map((byte) =>
    String.fromCodePoint(plain(byte) ? byte : 256 + rest.indexOf(byte)),
  );
  const merges = syllables.map((one) => [one[0], one[1]]);
  const space = tokens[32];
  for (const word of words(size - tokens.length - merges.length - 1)) {
    const last = word.at(-1);
    merges.push([space + word.slice(0, -1).join(''), last]);
  }
  tokens.push(...merges.map((pair) => pair.join('')), '<|endoftext|>');
  return {
    'vocab.json': JSON.stringify(Object.fromEntries(tokens.map((token, id) => [token, id]))),
    'merges.txt': `#version: 0.2\n${merges.map((pair) => pair.join(' ')).join('\n')}\n`,
    'tokenizer_config.json': JSON.stringify({ tokenizer_class: 'GPT2Tokenizer' }),
  };
}

/** Returns a field of a protocol buffer message: a length and bytes. */
function field(number, bytes) {
  const length = [];
  for (let rest = bytes.length; ; rest >>= 7) {
    length.push(rest < 128 ? rest : (rest & 127) | 128);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}

/** Returns a SentencePiece model with one piece per word, and the vocabulary. */
function sentencePieces({ vocab_size: size }) {
  const pieces = words(size - 3).map((word) => `▁${word.join('')}`);
  const piece = (text, score, type) => {
    const tail = Buffer.from([0x15, 0, 0, 0, 0, 0x18, type]);
    tail.writeFloatLE(score, 1);
    return field(1, Buffer.concat([field(1, Buffer.from(text)), tail]));
  };
  const model = Buffer.concat([
    piece('<unk>', 0, 2),
    piece('<s>', 0, 3),
    piece('</s>', 0, 3),
    ...pieces.map((text, i) => piece(text, -Math.log(i + 10), 1)),
  ]);
  const tokens = ['</s>', '<unk>', ...pieces, '<pad>'];
  return {
    'source.spm': model,
    'target.spm': model,
    'vocab.json': JSON.stringify(Object.fromEntries(tokens.map((token, id) => [token, id]))),
    'tokenizer_config.json': JSON.stringify({ tokenizer_class: 'MarianTokenizer' }),
  };
}

/** Returns a text with this number of words. Each word is one token in every vocabulary here. */
export function textOf(count) {
  const known = words(20_000).slice(10_000);
  return Array.from({ length: count }, (_, i) => known[(i * 7919) % known.length].join('')).join(
    ' ',
  );
}

/** Writes a folder of such a model, with the weights in one file or in `shards`. */
export function writeCheckpoint(folder, { config, tensors, tokenizer }, shards = 1) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name, text) => writeFileSync(join(folder, name), text);
  write('config.json', JSON.stringify(config));
  for (const [name, contents] of Object.entries(tokenizer(config))) write(name, contents);
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
