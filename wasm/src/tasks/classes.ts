// Written by tools/schema.mjs from src/tasks/task_facts.cpp. Do not edit.

import { Classifier } from './classifier.js';
import { Embedder } from './embedder.js';
import { Generator } from './generator.js';
import { ImageClassifier } from './image_classifier.js';
import { MaskFiller } from './mask_filler.js';
import { QuestionAnswerer } from './question_answerer.js';
import { Summarizer } from './summarizer.js';
import { TokenClassifier } from './token_classifier.js';
import { Translator } from './translator.js';
import { ZeroShotImageClassifier } from './zero_shot_image_classifier.js';

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

/** All classes, by name. */
export const classes = {
  Classifier,
  Embedder,
  Generator,
  ImageClassifier,
  MaskFiller,
  QuestionAnswerer,
  Summarizer,
  TokenClassifier,
  Translator,
  ZeroShotImageClassifier,
};
