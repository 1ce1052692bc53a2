// Written by tools/schema.mjs from src/tasks/task_facts.cpp. Do not edit.

import type { Classifier } from './classifier.js';
import type { Embedder } from './embedder.js';
import type { Generator } from './generator.js';
import type { ImageClassifier } from './image_classifier.js';
import type { MaskFiller } from './mask_filler.js';
import type { QuestionAnswerer } from './question_answerer.js';
import type { Summarizer } from './summarizer.js';
import type { TokenClassifier } from './token_classifier.js';
import type { Translator } from './translator.js';
import type { ZeroShotImageClassifier } from './zero_shot_image_classifier.js';

export { Classifier } from './classifier.js';
export { Embedder } from './embedder.js';
export { Generator } from './generator.js';
export { ImageClassifier } from './image_classifier.js';
export { MaskFiller } from './mask_filler.js';
export { QuestionAnswerer } from './question_answerer.js';
export { Summarizer } from './summarizer.js';
export { TokenClassifier } from './token_classifier.js';
export { Translator } from './translator.js';
export { ZeroShotImageClassifier } from './zero_shot_image_classifier.js';

/** The class of each task's models. */
export interface ModelOfTask {
  'text-classification': Classifier;
  'token-classification': TokenClassifier;
  'question-answering': QuestionAnswerer;
  'fill-mask': MaskFiller;
  'feature-extraction': Embedder;
  'image-classification': ImageClassifier;
  'zero-shot-image-classification': ZeroShotImageClassifier;
  translation: Translator;
  'text-generation': Generator;
  'text2text-generation': Generator;
  summarization: Summarizer;
}
