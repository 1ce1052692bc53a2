/** What a model is made of, as its folder's config.json says: what the steps of a view follow. */

export type Activation = 'relu' | 'gelu' | 'gelu_tanh';
export type StackName = 'encoder' | 'decoder';

/** A stack of layers. */
export interface Stack {
  name: StackName;
  layers: number;
  heads: number;
  width: number;
  headWidth: number;
  inner: number;
  vocabulary: number;
  /** What a looked-up row is multiplied by. */
  scale: number;
  positions: 'sinusoidal' | 'sinusoidal_halves' | 'learned';
  /** Learned: the row of the first token. */
  firstPosition: number;
  norm: 'pre' | 'post';
  normKind: 'standard' | 'unbiased' | 'rms';
  eps: number;
  embeddingNorm: boolean;
  finalNorm: boolean;
  /** Whether a token sees none after it. */
  causal: boolean;
  /** Whether it looks at the other stack's output. */
  cross: boolean;
  biases: boolean;
  activation: Activation;
  /** The table that tokens are looked up in. */
  embedding: string;
}

export type Answer =
  | { kind: 'classes'; pooling: 'mean' | 'first'; labels: readonly string[] }
  /** A logit for each piece of the vocabulary, from a table of weights and, where it has one, a bias. */
  | { kind: 'next'; weight: string; bias: string | undefined };

/** A tensor of a file that another name stands for: some of its rows, or of its columns. */
export interface Alias {
  name: string;
  transposed: boolean;
  first: number;
}

export interface Architecture {
  encoder?: Stack;
  decoder?: Stack;
  answer: Answer;
  /** What the file calls a tensor, where it does not go by our name. */
  inFile: (name: string) => Alias;
}

export class UnknownArchitecture extends Error {
  override name = 'UnknownArchitecture';
}

/** A config.json's fields, read with their types checked. */
class Fields {
  constructor(private readonly values: Readonly<Record<string, unknown>>) {}

  number(name: string): number {
    const value = this.values[name];
    return typeof value === 'number' ? value : this.#refuse(name, 'a number');
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const found = choices.find((each) => each === this.values[name]);
    return found ?? this.#refuse(name, choices.join(', '));
  }

  flag(name: string, otherwise = false): boolean {
    const { [name]: value = otherwise } = this.values;
    return typeof value === 'boolean' ? value : this.#refuse(name, 'true or false');
  }

  strings(name: string): string[] {
    const value = this.values[name];
    const valid = Array.isArray(value) && value.every((each) => typeof each === 'string');
    return valid ? (value as string[]) : this.#refuse(name, 'an array of strings');
  }

  has = (name: string): boolean => this.values[name] !== undefined;

  refuseAny(names: readonly string[]): void {
    for (const name of names) if (this.has(name)) this.#refuse(name, 'nothing');
  }

  #refuse(name: string, expected: string): never {
    const got = JSON.stringify(this.values[name]);
    throw new UnknownArchitecture(`config.json: ${name}: expected ${expected}, got ${got}`);
  }
}

/** What a model folder's config.json says. */
export function architectureOf(config: Readonly<Record<string, unknown>>): Architecture {
  const fields = new Fields(config);
  return config.model_type === 'gpt2' ? fromGpt2(fields) : fromOurs(fields);
}

const own = (name: string): Alias => ({ name, transposed: false, first: 0 });

function fromOurs(fields: Fields): Architecture {
  fields.refuseAny([
    'token_types',
    'attention_window',
    'score_divisor',
    'divide_by_layer',
    'gated',
  ]);
  const task = fields.choice('task', ['text-classification', 'translation', 'text-generation']);
  const width = fields.number('d_model');
  const heads = fields.number('n_heads');
  const stack = {
    heads,
    width,
    headWidth: fields.has('d_head') ? fields.number('d_head') : width / heads,
    inner: fields.number('d_ff'),
    scale: fields.flag('scale_embedding') ? Math.sqrt(width) : 1,
    positions: fields.choice('positions', ['sinusoidal', 'sinusoidal_halves', 'learned']),
    firstPosition: fields.has('position_offset') ? fields.number('position_offset') : 0,
    norm: fields.choice('norm', ['pre', 'post']),
    normKind: fields.choice('layer_norm', ['standard', 'unbiased', 'rms']),
    eps: fields.number('layer_norm_eps'),
    embeddingNorm: fields.flag('embedding_norm'),
    finalNorm: fields.flag('final_norm'),
    biases: fields.flag('attention_bias'),
    activation: fields.choice('activation', ['relu', 'gelu', 'gelu_tanh']),
  };
  if (task === 'text-classification') {
    fields.refuseAny(['head_dense', 'head_bias']);
    return {
      encoder: {
        ...stack,
        name: 'encoder',
        layers: fields.number('encoder_layers'),
        vocabulary: fields.number('vocab_size'),
        causal: fields.choice('attention', ['full', 'causal']) === 'causal',
        cross: false,
        embedding: 'encoder.embed_tokens',
      },
      answer: {
        kind: 'classes',
        pooling: fields.choice('pooling', ['mean', 'first']),
        labels: fields.strings('labels'),
      },
      inFile: own,
    };
  }
  const sharing = fields.choice('embeddings', ['shared', 'tied', 'separate']);
  const table = sharing === 'shared' ? 'embed_tokens' : 'decoder.embed_tokens';
  const answer: Answer = {
    kind: 'next',
    weight: sharing === 'separate' ? 'lm_head.weight' : `${table}.weight`,
    bias: fields.flag('lm_head_bias') ? 'lm_head.bias' : undefined,
  };
  const decoder: Stack = {
    ...stack,
    name: 'decoder',
    layers: fields.number('decoder_layers'),
    vocabulary: fields.number(task === 'translation' ? 'target_vocab_size' : 'vocab_size'),
    causal: true,
    cross: task === 'translation',
    embedding: table,
  };
  if (task === 'text-generation') return { decoder, answer, inFile: own };
  const encoder: Stack = {
    ...stack,
    name: 'encoder',
    layers: fields.number('encoder_layers'),
    vocabulary: fields.number('source_vocab_size'),
    causal: false,
    cross: false,
    embedding: sharing === 'shared' ? table : 'encoder.embed_tokens',
  };
  return { encoder, decoder, answer, inFile: own };
}

/** GPT-2 as its makers wrote it (Radford et al. 2019): q, k and v are columns of one matrix. */
function fromGpt2(fields: Fields): Architecture {
  const width = fields.number('n_embd');
  const heads = fields.number('n_head');
  const decoder: Stack = {
    name: 'decoder',
    layers: fields.number('n_layer'),
    heads,
    width,
    headWidth: width / heads,
    inner: fields.has('n_inner') ? fields.number('n_inner') : 4 * width,
    vocabulary: fields.number('vocab_size'),
    scale: 1,
    positions: 'learned',
    firstPosition: 0,
    norm: 'pre',
    normKind: 'standard',
    eps: fields.number('layer_norm_epsilon'),
    embeddingNorm: false,
    finalNorm: true,
    causal: true,
    cross: false,
    biases: true,
    activation: { gelu_new: 'gelu_tanh', gelu: 'gelu', relu: 'relu' }[
      fields.choice('activation_function', ['gelu_new', 'gelu', 'relu'])
    ] as Activation,
    embedding: 'decoder.embed_tokens',
  };
  const names: Record<string, string> = {
    self_attn_layer_norm: 'ln_1',
    'self_attn.out_proj': 'attn.c_proj',
    final_layer_norm: 'ln_2',
    fc1: 'mlp.c_fc',
    fc2: 'mlp.c_proj',
  };
  const tables: Record<string, string> = {
    embed_tokens: 'wte',
    embed_positions: 'wpe',
    layer_norm: 'ln_f',
  };
  const inFile = (name: string): Alias => {
    const [, layer, part, kind] =
      /^decoder\.(?:layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? [];
    if (part === undefined) return own(name);
    if (layer === undefined) return own(`transformer.${tables[part] ?? part}.${kind}`);
    const fused = ['q', 'k', 'v'].findIndex((each) => part === `self_attn.${each}_proj`);
    const theirs = fused < 0 ? (names[part] ?? part) : 'attn.c_attn';
    return {
      name: `transformer.h.${layer}.${theirs}.${kind}`,
      transposed: kind === 'weight' && !theirs.startsWith('ln'),
      first: Math.max(0, fused) * width,
    };
  };
  return {
    decoder,
    answer: { kind: 'next', weight: 'decoder.embed_tokens.weight', bias: undefined },
    inFile,
  };
}
