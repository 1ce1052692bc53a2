import { Classifier } from './classifier.js';
import { Embedder } from './embedder.js';
import { GlassformerError } from './errors.js';
import { Generator } from './generator.js';
import { ModelHandle } from './handle.js';
import { checkOption } from './options.js';
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

/** Which class a task's model is of. */
export interface ModelOfTask {
  'text-classification': Classifier;
  'token-classification': TokenClassifier;
  'question-answering': QuestionAnswerer;
  'feature-extraction': Embedder;
  translation: Translator;
  'text-generation': Generator;
  'text2text-generation': Generator;
}

/**
 * Loads the model in a folder and returns an object of its task's class. Takes what the classes' own
 * `load` take, and `task`: a model of another task is refused with `wrong_task`, and the type of the
 * result is that class. Without `task`, the result's own `task` says what came, and narrows its type.
 */
export function load<Name extends Task>(
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions & { task: Name },
): Promise<ModelOfTask[Name]>;
export function load(
  folder: string | URL | ModelFiles,
  options?: TranslatorLoadOptions,
): Promise<Model>;
export async function load(
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions & { task?: Task } = {},
): Promise<Model> {
  const { task: wanted, ...others } = options;
  const tasks = Object.keys(classes);
  checkOption(wanted === undefined || tasks.includes(wanted), 'task', `one of ${tasks.join(', ')}`);
  const model = await ModelHandle.load<ModelInfo>(wanted, folder, others);
  const { task } = model.info;
  const Class = classes[task];
  if (Class) return new Class(model);
  model.dispose();
  throw new GlassformerError(
    'wrong_task',
    `expected a model for one of ${tasks.join(', ')}, got ${task}`,
  );
}
