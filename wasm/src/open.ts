import { Classifier } from './classifier.js';
import { Embedder } from './embedder.js';
import { GlassformerError } from './errors.js';
import { Generator } from './generator.js';
import { ModelHandle } from './handle.js';
import { QuestionAnswerer } from './question_answerer.js';
import type { Task } from './tasks.js';
import { TokenClassifier } from './token_classifier.js';
import { Translator } from './translator.js';
import type { ModelFiles, ModelInfo, TranslatorLoadOptions } from './types.js';

/** A model of any task. */
export type Model =
  Classifier | TokenClassifier | QuestionAnswerer | Embedder | Translator | Generator;

// Their constructors are for this package alone.
type Made = new (model: ModelHandle<ModelInfo>) => Model;
const classes = {
  'text-classification': Classifier,
  'token-classification': TokenClassifier,
  'question-answering': QuestionAnswerer,
  'feature-extraction': Embedder,
  translation: Translator,
  'text-generation': Generator,
  'text2text-generation': Generator,
} satisfies Record<Task, unknown> as unknown as Record<string, Made | undefined>;

/**
 * Loads the model in a folder, whatever its task: what comes is of that task's class. Takes what the
 * classes' own `load` take.
 */
export async function load(
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions = {},
): Promise<Model> {
  const model = await ModelHandle.load<ModelInfo>(undefined, folder, options);
  const { task } = model.info;
  const Class = classes[task];
  if (Class) return new Class(model);
  model.dispose();
  const known = Object.keys(classes).join(', ');
  throw new GlassformerError('wrong_task', `expected a model for one of ${known}, got ${task}`);
}
