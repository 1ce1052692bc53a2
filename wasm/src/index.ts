export { Classifier } from './classifier.js';
export { GlassformerError } from './errors.js';
export type { ErrorCode } from './errors.js';
export { Translator } from './translator.js';
export type {
  AlignmentLink,
  AlignmentOptions,
  Asset,
  AttentionMap,
  Binary,
  Candidate,
  Classification,
  ClassifierInfo,
  ClassifyOptions,
  Compute,
  Head,
  Hypothesis,
  LoadOptions,
  ModelFile,
  ModelFiles,
  ModelInfo,
  OutputToken,
  Progress,
  SentenceTranslation,
  StreamOptions,
  StreamedSentence,
  Token,
  TranslateOptions,
  Translation,
  TranslationStep,
  TranslatorInfo,
  TranslatorLoadOptions,
} from './types.js';
