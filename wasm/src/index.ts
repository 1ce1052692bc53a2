export { AttentionMap } from './model/attention.js';
export * from './tasks/classes.js';
export { clearCache } from './loading/clear.js';
export type { EmbedderInfo, Embedding, Pooling } from './tasks/embedder.js';
export type {
  AttentionEdge,
  CircuitOfPair,
  CircuitPair,
  Explanations,
  GenerationExplanations,
  Guess,
  OrderTest,
  ScoreAttribution,
  ScorePart,
  StatesExplanations,
  TranslationExplanations,
} from './tasks/explain.js';
export type {
  ExplainGenerationMethod,
  ExplainGenerationOptions,
  ExplainMethod,
  ExplainOptions,
  ExplainStatesMethod,
  ExplainStatesOptions,
  ExplainTranslationMethod,
  ExplainTranslationOptions,
} from './tasks/explain_options.js';
export { GlassformerError } from './base/errors.js';
export type { ErrorCode } from './base/errors.js';
export type {
  GeneratedToken,
  Generation,
  GenerationStep,
  GeneratorInfo,
  Prediction,
} from './tasks/generator.js';
export type {
  ExplainImageMethod,
  ExplainImageOptions,
  ImageClassification,
  ImageExplanations,
  PictureSizeOptions,
} from './tasks/image_classifier.js';
export type { FilledText, MaskFillerInfo } from './tasks/mask_filler.js';
export { readPicture } from './model/pictures.js';
export type { PictureSource, Pixels } from './model/pictures.js';
export { load } from './tasks/load.js';
export type { Model } from './tasks/load.js';
export { rank, zeroShot } from './tasks/pairs.js';
export type { RankOptions, RankedText, ZeroShot, ZeroShotOptions } from './tasks/pairs.js';
export { steeringVector } from './tasks/steering.js';
export type { SteerableModel, SteeringOptions, SteeringVector } from './tasks/steering.js';
export type { Answer, Question } from './tasks/question_answerer.js';
export type { Aggregation, TokenClassification } from './tasks/token_classifier.js';
export { DictionaryTrainer } from './training/dictionary_trainer.js';
export { Trainer } from './training/trainer.js';
export type {
  DictionaryOptions,
  Examples,
  GradientNorm,
  LabeledPicture,
  LabeledText,
  ModelConfig,
  Score,
  TrainOptions,
  TrainerOptions,
  TrainingStep,
} from './training/options.js';
export type {
  EarlyStopping,
  LanguagePair,
  LastStep,
  SentenceTranslation,
  StreamOptions,
  StreamedSentence,
  TokenStep,
  Translation,
  TranslationAttention,
  TranslationStep,
} from './tasks/translation.js';
export type { Binary, Compute } from './engine/compute.js';
export type { Backend } from './engine/native.js';
export type { Classification } from './tasks/classifier.js';
export type { ClassifierInfo, ModelInfo, TranslatorInfo } from './model/info.js';
export type {
  Asked,
  Outcome,
  TracedTensor,
  WithAttention,
  WithGradients,
  WithTrace,
  WithContributions,
} from './model/results.js';
export type * from './model/result_types.js';
export type {
  ExplainableLoadOptions,
  GradientLoadOptions,
  LoadOptions,
  ModelFiles,
  Progress,
  TrustedUrl,
  TranslatorLoadOptions,
} from './loading/options.js';
export type {
  AddingPatch,
  Given,
  Head,
  Patch,
  RemovingPatch,
  ReplacingPatch,
  TraceOptions,
} from './model/call_options.js';
export type { TextPair, Texts } from './engine/input.js';
export type { WorkerLike } from './base/node.js';
export { inspect } from './model/inspect.js';
export type { Inspection } from './model/inspect.js';
export type { Architecture, LayerArchitecture, StackArchitecture } from './model/architecture.js';
export type { Weights } from './model/weights.js';
export type { StoredTensor, WeightInfo } from './engine/weights.js';
export type { Task } from './engine/tasks.js';
export type {
  EmbedImageOptions,
  ExplainMatchOptions,
  ImageEmbedding,
  ImageMatch,
} from './tasks/zero_shot_image_classifier.js';

/** @internal For the package's other entries. */
export { openModel, openOptions } from './model/open_model.js';
export type {
  AlignmentOptions,
  AnswerOptions,
  ClassifyImageOptions,
  ClassifyOptions,
  EmbedOptions,
  FillOptions,
  GenerateOptions,
  MatchOptions,
  NextOptions,
  ReadOptions,
  SampleOptions,
  TaskPromptOptions,
  TokenClassifyOptions,
  TrainingOptions,
  TranslateOptions,
} from './tasks/options.js';
