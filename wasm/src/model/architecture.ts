/** A layer: attention or another mixer, and a feed-forward network, each with a residual connection. */
export interface LayerArchitecture {
  /** How rows are mixed: `full`, `causal` or `local` attention, `linear` attention, or `recurrent`. */
  attention: 'full' | 'local' | 'linear' | 'causal' | 'recurrent';
  /** The maximum distance between query and key, if it is limited. */
  attentionWindow?: number;
  nHeads: number;
  /** Key and value heads; each serves nHeads / nKvHeads query heads. */
  nKvHeads: number;
  /** Size of a head. */
  dHead: number;
  /** Whether the query, key and value projections have biases, and the output projection. */
  attentionBias: boolean;
  attentionOutBias: boolean;
  /** Whether each head's query and key are normalized. */
  qkNorm: boolean;
  /** The base of rotary position embeddings, if the layer has them. */
  rotaryBase?: number;
  /** How many numbers of a head they rotate. */
  rotarySize?: number;
  /** With `rotaryScaling: 'per_pair'`: the divisor of each pair's frequency. */
  rotaryFactors?: number[];
  /** Divisor of the attention scores, if it is not √dHead. */
  scoreDivisor?: number;
  /** Whether layer N also divides its scores by N + 1. */
  divideByLayer: boolean;
  /** If scores are capped: they become scoreCap · tanh(score / scoreCap) before the softmax. */
  scoreCap?: number;
  /** Whether norms stand before attention and feed-forward network, or after the residual sum. */
  norm: 'pre' | 'post';
  /** Whether attention has a norm at all. */
  attentionNorm: boolean;
  /** Whether each output has a norm of its own before it is added to the stream. */
  outputNorms: boolean;
  /** Whether attention and feed-forward network both read the layer's input. */
  parallel: boolean;
  /** Hidden units of the feed-forward network. */
  dFf: number;
  activation: 'relu' | 'gelu' | 'gelu_tanh' | 'quick_gelu' | 'silu' | 'tanh' | 'linear';
  /** Whether a second, activated product multiplies the hidden units. */
  gated: boolean;
  feedForwardBias: boolean;
}

/**
 * A stack of layers with its embeddings: an encoder or a decoder. One that reads pictures has the
 * fields of pictures instead of those of tokens.
 */
export interface StackArchitecture {
  /** The size of the pictures that it reads, in pixels. */
  pictureHeight?: number;
  pictureWidth?: number;
  /** 1 for gray pictures, 3 for colors. */
  channels?: number;
  /** The size of a patch, in pixels. */
  patchHeight?: number;
  patchWidth?: number;
  vocabSize: number;
  /** The width of the embeddings before a linear layer projects them to dModel; 0: they have dModel. */
  dEmbedding: number;
  /** The layers are divided into this many groups that share their weights; 0: none are shared. */
  layerGroups: number;
  /** If attention has a bias by distance: its number of buckets. */
  relativeBuckets?: number;
  /** If attention is disentangled: its table of distances has this many rows in each direction. */
  disentangledSpan?: number;
  /** Up to this distance, far distances share rows in growing steps; 0: each has its own. */
  disentangledDistance?: number;
  /** Whether queries are multiplied by distances. */
  contentToPosition?: boolean;
  /** Whether distances are multiplied by keys. */
  positionToContent?: boolean;
  /** Whether the table of distances is normalized. */
  disentangledNorm?: boolean;
  dModel: number;
  /** Maximum number of tokens. */
  maxLength: number;
  positions:
    'sinusoidal' | 'learned' | 'sinusoidal_halves' | 'relative' | 'sinusoidal_endpoint' | 'none';
  /** With learned positions: the row of the first token in their table. */
  positionOffset?: number;
  /** Number of learned vectors for the texts of a pair; 0: none. */
  tokenTypes: number;
  /** Whether embeddings are multiplied by √dModel. */
  scaleEmbedding: boolean;
  /** Whether the sum of the embeddings is normalized. */
  embeddingNorm: boolean;
  layerNorm: 'standard' | 'unbiased' | 'rms';
  layerNormBias: boolean;
  layerNormEps: number;
  /** The first input token of a translator's decoder, as its vocabulary spells it. */
  startToken?: string;
  /** Whether the output of the last layer is normalized. */
  finalNorm: boolean;
  layers: LayerArchitecture[];
}

/** The layers of a model and their sizes, as its configuration defines them. */
export interface Architecture {
  encoder?: StackArchitecture;
  decoder?: StackArchitecture;
  /** Of a model that compares pictures with texts, whose `encoder` reads pictures. */
  textEncoder?: StackArchitecture;
  /** The part that turns the last states into logits or vectors. */
  head: {
    kind:
      'sequence_classes' | 'token_classes' | 'spans' | 'masked_tokens' | 'vectors' | 'next_token';
    outputs: number;
    bias: boolean;
    /** With `sequence_classes`: the states that the head reads. */
    pooling?: 'mean' | 'first';
    /** The activation of a dense layer before the logits, if there is one. */
    denseActivation?: string;
    /** Whether states are divided by √dModel before the logits. */
    scaleStates: boolean;
    /** If logits are capped: they become logitCap · tanh(logit / logitCap). */
    logitCap?: number;
  };
  /** Which embeddings use the same table, with or without the output layer. */
  embeddings: 'shared' | 'tied' | 'separate' | 'stacks';
}
