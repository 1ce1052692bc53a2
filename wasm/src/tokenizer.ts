// glassformer/tokenizer: the tokenizer of a model, without the model.

export { Tokenizer } from './tokenizer/tokenizer.js';
export type {
  DecodeOptions,
  EncodeOptions,
  TokenizerInfo,
  TokenizerLoadOptions,
} from './tokenizer/tokenizer.js';
export type { Encoding } from './index.js';
