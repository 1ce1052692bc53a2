import { GlassformerError } from './errors.js';

// Which class opens a model, by its task, as the engine names that.
const classes = {
  'text-classification': 'Classifier',
  'token-classification': 'TokenClassifier',
  'question-answering': 'QuestionAnswerer',
  'feature-extraction': 'Embedder',
  translation: 'Translator',
  'text-generation': 'Generator',
  'text2text-generation': 'Generator',
};

/** What a class is for. */
export type Task = keyof typeof classes;

/** Throws `wrong_task`, with the cure, where the class of one task does not open a model of another. */
export function checkTask(expected: Task | undefined, got: string): void {
  const name = classes[got as Task] as string | undefined;
  if (expected === undefined || name === classes[expected]) return;
  throw new GlassformerError(
    'wrong_task',
    `config.json: expected a model for ${expected}, got one for ${got}` +
      (name ? `; ${name}.load opens it, and load whatever there is` : ''),
  );
}
