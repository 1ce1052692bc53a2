import { GlassformerError } from './errors.js';

// Which class opens a model, by its task, as the engine names that.
const classes = {
  'text-classification': 'Classifier',
  'token-classification': 'TokenClassifier',
  'question-answering': 'QuestionAnswerer',
  'feature-extraction': 'Embedder',
  translation: 'Translator',
  'text-generation': 'Generator',
};

/** What a class is for. */
export type Task = keyof typeof classes;

/** Throws `wrong_task`, with the cure, where a model is for another task than the one expected. */
export function checkTask(expected: Task | undefined, got: string): void {
  if (expected === undefined || got === expected) return;
  const name = classes[got as Task] as string | undefined;
  throw new GlassformerError(
    'wrong_task',
    `config.json: expected a model for ${expected}, got one for ${got}` +
      (name ? `; ${name}.load opens it, and load whatever there is` : ''),
  );
}
