export { AttentionMap } from './attention.js';
export { Classifier } from './classifier.js';
export { clearCache } from './clear.js';
export { GlassformerError } from './errors.js';
export type { ErrorCode } from './errors.js';
export { Translator } from './translator.js';
export type {
  AlignmentLink,
  AlignmentOptions,
  Asset,
  Binary,
  Candidate,
  Classification,
  ClassifierInfo,
  ClassifyOptions,
  Compute,
  Head,
  Hypothesis,
  LastStep,
  LoadOptions,
  ModelFile,
  ModelFiles,
  ModelInfo,
  Outcome,
  OutputToken,
  Progress,
  SentenceTranslation,
  StreamOptions,
  StreamedSentence,
  Texts,
  Token,
  TokenStep,
  TranslateOptions,
  Translation,
  TranslationStep,
  TrustedUrl,
  WorkerLike,
  TranslatorInfo,
  TranslatorLoadOptions,
} from './types.js';
