import { checkOption } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import { taskNamed, tasks } from '../engine/tasks.js';
import type { FolderTask, Task } from '../engine/tasks.js';
import type { ModelFiles, TranslatorLoadOptions } from '../loading/options.js';
import type { ModelInfo } from '../model/info.js';
import { openModel } from '../model/open_model.js';
import type { OpenedModel } from '../model/open_model.js';
import * as classes from './classes.js';

/** A model of the task that its folder names. */
export type Model = classes.ModelOfTask[FolderTask];

// Their constructors are private to this package.
const constructors = classes as unknown as Record<
  string,
  new (model: OpenedModel<ModelInfo>) => classes.ModelOfTask[Task]
>;

/**
 * Loads the model in a folder. Returns an object of its task's class. Takes the options of the
 * classes' own `load`, and `task`: a model of another task is refused with `wrong_task`, and the
 * result has the type of that task's class. Without `task`, the result's own `task` tells which
 * model it is, and narrows its type.
 */
export function load<Name extends Task>(
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions & { task: Name },
): Promise<classes.ModelOfTask[Name]>;
export function load(
  folder: string | URL | ModelFiles,
  options?: TranslatorLoadOptions,
): Promise<Model>;
export async function load(
  folder: string | URL | ModelFiles,
  options: TranslatorLoadOptions & { task?: Task } = {},
): Promise<classes.ModelOfTask[Task]> {
  const { task: wanted, ...others } = options;
  const known = Object.keys(tasks);
  checkOption(wanted === undefined || known.includes(wanted), 'task', `one of ${known.join(', ')}`);
  const model = await openModel<ModelInfo>(wanted, folder, others);
  const task = wanted ?? model.info.task;
  const Class = constructors[taskNamed(task)?.class ?? ''];
  if (Class) return new Class(model);
  model.session.dispose();
  throw new GlassformerError(
    'wrong_task',
    `expected a model for one of ${known.join(', ')}, got ${task}`,
  );
}
