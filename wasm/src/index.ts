export { Classifier } from './classifier.js';
export { GlassformerError } from './errors.js';
export type { ErrorCode } from './errors.js';
export type {
  Asset,
  AttentionMap,
  Binary,
  Classification,
  ClassifyOptions,
  Head,
  LoadOptions,
  ModelFile,
  ModelFiles,
  ModelInfo,
  Progress,
  Token,
} from './types.js';
