import type { Input, TaskName } from './model-tasks.ts';

/** The first input for a model of each task. */
export const firstInputs: Record<TaskName, Input> = {
  'text-classification': {
    first: 'A gripping, beautifully shot film.',
    second: '',
  },
  'token-classification': {
    first: 'Ada Lovelace met Charles Babbage in London.',
    second: '',
  },
  'question-answering': {
    first: 'Where did they meet?',
    second: 'Ada Lovelace met Charles Babbage in London, at a party.',
  },
  'fill-mask': {
    first: 'Paris is the [MASK] of France.',
    second: '',
  },
  'feature-extraction': {
    first: 'The cat sleeps on the sofa.\nA kitten is lying on the couch.\nShares fell again.',
    second: '',
  },
  translation: {
    first: 'Where is the station?',
    second: '',
  },
  'text-generation': {
    first: 'This film is',
    second: '',
  },
  chat: { first: '', second: '' },
  'text2text-generation': {
    first: 'translate English to German: Where is the station?',
    second: '',
  },
};
