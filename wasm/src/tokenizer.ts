// glassformer/tokenizer: the tokenizer of a model, without the model.

export { Tokenizer } from './tokenizer/tokenizer.js';
export type {
  DecodeOptions,
  EncodeOptions,
  Encoding,
  TokenizerInfo,
  TokenizerLoadOptions,
} from './tokenizer/tokenizer.js';
