// Tasks that write texts.

import { GlassformerError } from '../index.js';
import type {
  GenerateOptions,
  Generator,
  Model,
  TraceOptions,
  TranslateOptions,
  Translator,
} from '../index.js';
import { checkOption, checkOptions } from '../base/checks.js';
import { generateOptions } from '../tasks/options.js';

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Uppercase<First> ? `_${Lowercase<First>}` : First}${SnakeCase<Rest>}`
  : Name;

/** Options with other names in this package. */
const ownNames = { do_sample: 'sample', num_beams: 'beams' } as const;
/** Options that Transformers.js does not have. */
type Own =
  | (typeof ownNames)[keyof typeof ownNames]
  | keyof TraceOptions
  | 'attention'
  | 'ablate'
  | 'badWords'
  | 'hypotheses'
  | 'keep'
  | 'prefix'
  | 'signal'
  | 'specialTokens'
  | 'task';

/** Options of Transformers.js's `generate`. `max_new_tokens` is 256 if it is not given. */
export type GenerateArguments = {
  [Name in keyof Omit<GenerateOptions, Own> as SnakeCase<Name>]?: GenerateOptions[Name];
} & {
  do_sample?: boolean;
  num_beams?: number;
};

/** Options of a translator. */
export type TranslateArguments = GenerateArguments & {
  /** The languages, for a model of many: codes such as "en" or "eng_Latn". */
  src_lang?: string;
  tgt_lang?: string;
};

/** A text that was written. */
export type TextResult<Key extends string> = { [key in Key]: string };

const own: ReadonlySet<string> = new Set<Own>([
  'sample',
  'beams',
  'trace',
  'patch',
  'attention',
  'ablate',
  'badWords',
  'hypotheses',
  'keep',
  'prefix',
  'signal',
  'specialTokens',
  'task',
]);
const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const names: Record<string, string> = {
  ...Object.fromEntries(
    generateOptions.filter((name) => !own.has(name)).map((name) => [snakeCase(name), name]),
  ),
  ...ownNames,
};
const translationNames: Record<string, string> = {
  src_lang: 'from',
  tgt_lang: 'to',
  max_new_tokens: 'maxLength',
  num_beams: 'beams',
  length_penalty: 'lengthPenalty',
  early_stopping: 'earlyStopping',
};

// Returns options under the names that the classes of this package use.
function renamed(options: object, known: Record<string, string>): object {
  checkOptions(options, Object.keys(known), 'pipeline');
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [known[name]!, value]));
}

/** Makes the function of a task whose results have this key. */
export function generator(key: 'generated_text' | 'summary_text' | 'translation_text') {
  return (model: Model, task: string) =>
    async (given: string | string[], options: object = {}): Promise<unknown> => {
      const texts = [given].flat();
      const areTexts = texts.every((text) => typeof text === 'string');
      checkOption(areTexts, 'texts', 'a string or an array of strings');
      if (model.task === 'translation') {
        return (await translated(model, texts, options)).map((text) => ({ [key]: text }));
      }
      if (!('generate' in model)) {
        model.dispose();
        throw new GlassformerError('wrong_task', `expected a model that writes, got ${model.task}`);
      }
      const { return_full_text: full = true, ...others } = options as {
        return_full_text?: boolean;
      };
      const continues = task === 'text-generation';
      if (!continues) checkOptions(options, Object.keys(names), 'pipeline');
      checkOption(typeof full === 'boolean', 'return_full_text', 'true or false');
      const written = await generated(model, texts, others, continues ? undefined : task);
      if (!continues) return written.map((text) => ({ [key]: text }));
      const results = written.map((text, i) => [{ [key]: full ? texts[i] + text : text }]);
      return Array.isArray(given) ? results : results[0];
    };
}

async function translated(model: Translator, texts: string[], options: object): Promise<string[]> {
  const own = renamed(options, translationNames) as TranslateOptions;
  const results = await model.translateBatch(texts, own);
  return results.map(({ text }) => text);
}

async function generated(
  model: Generator,
  texts: string[],
  options: object,
  task: string | undefined,
): Promise<string[]> {
  const own = { maxNewTokens: 256, ...renamed(options, names) } as GenerateOptions;
  // The folder may have settings for the task, such as a prefix.
  if (task && Object.hasOwn(model.info.tasks, task)) own.task = task;
  const results = await model.generateBatch(texts, own);
  return results.map(({ text }) => text);
}
