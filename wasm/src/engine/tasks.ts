import { GlassformerError } from '../base/errors.js';
import { taskTable } from './task_table.js';

/** Facts about a task. */
interface TaskFacts {
  /** The name of the class that opens its models. */
  class: string;
  /** The task that its folders name, if that is another one. */
  opens?: string;
  /** Whether the binary for models that read texts runs its models. */
  reads?: boolean;
  /** Options of `load` that only some tasks have. */
  load: readonly ('explain' | 'gradients' | 'shortlist')[];
  /** Whether an answer takes a step per token. Others are computed at once. */
  stepwise?: boolean;
}

/** The name of a task. */
export type Task = keyof typeof taskTable;

/** The name of a task that a folder may name as its own. */
export type FolderTask = {
  [Name in Task]: (typeof taskTable)[Name] extends { opens: string } ? never : Name;
}[Task];

/** What a folder is loaded for: the model of a task, or only its tokenizer. */
export type Purpose = Task | 'tokenization';

/** All tasks, as the engine names them. */
export const tasks: Readonly<Record<Task, TaskFacts>> = taskTable;

/** Returns the facts about a task, or undefined for a name that no task has. */
export function taskNamed(name: string): TaskFacts | undefined {
  return Object.hasOwn(tasks, name) ? tasks[name as Task] : undefined;
}

/** Throws `wrong_task`, with a cure, if the class of one task cannot open models of another. */
export function checkTask(expected: Purpose | undefined, got: string): void {
  if (expected === undefined) return;
  const name = taskNamed(got)?.class;
  const wanted = taskNamed(expected);
  if (wanted?.opens ? wanted.opens === got : wanted?.class === name) return;
  throw new GlassformerError(
    'wrong_task',
    `config.json: expected a model for ${wanted?.opens ?? expected}, got one for ${got}` +
      (name ? `; ${name}.load opens it, and load opens any model` : ''),
  );
}
