import { GlassformerError } from '../base/errors.js';

/** Facts about a task. */
interface TaskFacts {
  /** The name of the class that opens its models. */
  class: string;
  /** Whether the binary for models that read texts runs its models. */
  reads?: boolean;
  /** Options of `load` that only some tasks have. */
  load: readonly ('explain' | 'gradients' | 'shortlist')[];
  /** Whether an answer takes a step per token. Others are computed at once. */
  stepwise?: boolean;
}

// The tasks, as the engine names them. Their options and results are in the files of the classes;
// src/linked lists those of each binary.
const table = {
  'text-classification': {
    class: 'Classifier',
    reads: true,
    load: ['explain', 'gradients'],
  },
  'token-classification': {
    class: 'TokenClassifier',
    reads: true,
    load: ['gradients'],
  },
  'question-answering': {
    class: 'QuestionAnswerer',
    reads: true,
    load: ['gradients'],
  },
  'fill-mask': {
    class: 'MaskFiller',
    reads: true,
    load: ['gradients'],
  },
  'feature-extraction': {
    class: 'Embedder',
    reads: true,
    load: [],
  },
  'image-classification': {
    class: 'ImageClassifier',
    load: ['explain', 'gradients'],
  },
  'zero-shot-image-classification': {
    class: 'ZeroShotImageClassifier',
    load: ['explain', 'gradients'],
  },
  translation: {
    class: 'Translator',
    load: ['explain', 'gradients', 'shortlist'],
    stepwise: true,
  },
  'text-generation': {
    class: 'Generator',
    load: ['explain', 'gradients'],
    stepwise: true,
  },
  'text2text-generation': {
    class: 'Generator',
    load: ['explain', 'gradients'],
    stepwise: true,
  },
} as const satisfies Record<string, TaskFacts>;

/** The name of a task. */
export type Task = keyof typeof table;

/** What a folder is loaded for: the model of a task, or only its tokenizer. */
export type Purpose = Task | 'tokenization';

/** All tasks. */
export const tasks: Readonly<Record<Task, TaskFacts>> = table;

/** Returns the facts about a task, or undefined for a name that no task has. */
export function taskNamed(name: string): TaskFacts | undefined {
  return Object.hasOwn(tasks, name) ? tasks[name as Task] : undefined;
}

/** Throws `wrong_task`, with a cure, if the class of one task cannot open models of another. */
export function checkTask(expected: Purpose | undefined, got: string): void {
  const name = taskNamed(got)?.class;
  if (expected === undefined || name === taskNamed(expected)?.class) return;
  throw new GlassformerError(
    'wrong_task',
    `config.json: expected a model for ${expected}, got one for ${got}` +
      (name ? `; ${name}.load opens it, and load opens any model` : ''),
  );
}
