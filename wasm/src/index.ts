export { AttentionMap } from './attention.js';
export { Classifier } from './classifier.js';
export { clearCache } from './clear.js';
export { Embedder } from './embedder.js';
export type { EmbedOptions, EmbedderInfo, Embedding, Pooling } from './embedder.js';
export type {
  AttentionEdge,
  ExplainGenerationMethod,
  ExplainGenerationOptions,
  ExplainMethod,
  ExplainOptions,
  ExplainTranslationMethod,
  ExplainTranslationOptions,
  Explanations,
  GenerationExplanations,
  Guess,
  OrderTest,
  TranslationExplanations,
} from './explain.js';
export { GlassformerError } from './errors.js';
export type { ErrorCode } from './errors.js';
export { Generator } from './generator.js';
export type {
  GenerateOptions,
  GeneratedToken,
  Generation,
  GenerationStep,
  GeneratorInfo,
  NextOptions,
  NextToken,
  Prediction,
  SampleOptions,
  TaskPromptOptions,
} from './generator.js';
export { load } from './open.js';
export type { Model, ModelOfTask } from './open.js';
export { QuestionAnswerer } from './question_answerer.js';
export type { Answer, AnswerOptions, Question } from './question_answerer.js';
export { TokenClassifier } from './token_classifier.js';
export type {
  Aggregation,
  Entity,
  TokenClassification,
  TokenClassifyOptions,
} from './token_classifier.js';
export { Translator } from './translator.js';
export type {
  AlignmentLink,
  AlignmentOptions,
  Binary,
  Candidate,
  Classification,
  ClassifyOptions,
  Compute,
  ClassifierInfo,
  Clipped,
  EarlyStopping,
  ExplainableLoadOptions,
  Head,
  Hypothesis,
  LastStep,
  LoadOptions,
  ModelFiles,
  ModelInfo,
  Outcome,
  OutputToken,
  Patch,
  Progress,
  ReadOptions,
  SentenceTranslation,
  StreamOptions,
  StreamedSentence,
  TensorNames,
  TextPair,
  Texts,
  Token,
  TokenStep,
  TraceOptions,
  TracedTensor,
  TranslateOptions,
  Translation,
  TranslationAttention,
  TranslationStep,
  TrustedUrl,
  WithAttention,
  WithTrace,
  WorkerLike,
  TranslatorInfo,
  TranslatorLoadOptions,
} from './types.js';
