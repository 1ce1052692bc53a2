import { GlassformerError } from '../base/errors.js';

/** Facts about a task. */
interface TaskFacts {
  /** The name of the class that opens its models. */
  class: string;
  /** The smallest binary that runs its models. */
  binary: 'read' | 'generate' | 'translate' | 'pictures' | 'all';
  /** Options of `load` that only some tasks have. */
  load: readonly ('explain' | 'gradients' | 'shortlist')[];
  /** Whether an answer takes a step per token. Others are computed at once. */
  stepwise?: boolean;
}

/**
 * The contents of a binary: the models of tasks, explanations with all of them, these with threads,
 * these and gradients, or training with texts: of new models or of loaded ones. 'pictures' also
 * trains with pictures.
 */
export type Scope = TaskFacts['binary'] | 'threads' | 'gradients' | 'learn' | 'finetune';

// The tasks, as the engine names them. Their options and results are in the files of the classes;
// src/linked lists the tasks of each binary.
const table = {
  'text-classification': {
    class: 'Classifier',
    binary: 'read',
    load: ['explain', 'gradients'],
  },
  'token-classification': {
    class: 'TokenClassifier',
    binary: 'read',
    load: ['gradients'],
  },
  'question-answering': {
    class: 'QuestionAnswerer',
    binary: 'read',
    load: ['gradients'],
  },
  'fill-mask': {
    class: 'MaskFiller',
    binary: 'read',
    load: ['gradients'],
  },
  'feature-extraction': {
    class: 'Embedder',
    binary: 'read',
    load: [],
  },
  'image-classification': {
    class: 'ImageClassifier',
    binary: 'pictures',
    load: ['explain', 'gradients'],
  },
  'zero-shot-image-classification': {
    class: 'ZeroShotImageClassifier',
    binary: 'all',
    load: ['explain', 'gradients'],
  },
  translation: {
    class: 'Translator',
    binary: 'translate',
    load: ['explain', 'gradients', 'shortlist'],
    stepwise: true,
  },
  'text-generation': {
    class: 'Generator',
    binary: 'generate',
    load: ['explain', 'gradients'],
    stepwise: true,
  },
  'text2text-generation': {
    class: 'Generator',
    binary: 'translate',
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
