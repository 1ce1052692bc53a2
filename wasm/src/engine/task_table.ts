// Written by tools/schema.mjs from src/tasks/task_facts.cpp. Do not edit.

export const taskTable = {
  'text-classification': { class: 'Classifier', reads: true, load: ['explain', 'gradients'] },
  'token-classification': { class: 'TokenClassifier', reads: true, load: ['explain', 'gradients'] },
  'question-answering': { class: 'QuestionAnswerer', reads: true, load: ['explain', 'gradients'] },
  'fill-mask': { class: 'MaskFiller', reads: true, load: ['explain', 'gradients'] },
  'feature-extraction': { class: 'Embedder', reads: true, load: ['explain'] },
  'image-classification': { class: 'ImageClassifier', load: ['explain', 'gradients'] },
  'zero-shot-image-classification': {
    class: 'ZeroShotImageClassifier',
    load: ['explain', 'gradients'],
  },
  translation: { class: 'Translator', load: ['explain', 'gradients', 'shortlist'], stepwise: true },
  'text-generation': { class: 'Generator', load: ['explain', 'gradients'], stepwise: true },
  'text2text-generation': { class: 'Generator', load: ['explain', 'gradients'], stepwise: true },
  summarization: { class: 'Summarizer', opens: 'text2text-generation', load: [], stepwise: true },
} as const;
