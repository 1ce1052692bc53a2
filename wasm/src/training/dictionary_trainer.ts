import type { ModelFiles } from '../loading/options.js';
import { checkOption } from '../base/checks.js';
import { begin, Learner } from './learner.js';
import type { Begun } from './learner.js';
import type { DictionaryOptions } from './options.js';

const names = ['kind', 'at', 'features', 'active', 'rate', 'batchTokens', 'heldOut', 'seed'];

/**
 * Learns dictionaries of a model: features of what its layers compute; see `loadDictionaries`. The loss
 * is the share of the variance that they do not explain, the accuracy the share that they do.
 */
export class DictionaryTrainer extends Learner {
  private constructor(begun: Begun) {
    super(begun);
  }

  /**
   * Makes a trainer for the model in a folder. `examples` are lines of the kind that the model has
   * learned from: texts for a writer, a label, a tab and a text for a classifier. Rejects with
   * `wrong_task` for models without such examples, and `unsupported` for translators, which
   * `glassformer train` takes.
   */
  static async from(
    model: string | URL | ModelFiles,
    examples: readonly string[] | string | Blob | Uint8Array,
    options: DictionaryOptions = {},
  ): Promise<DictionaryTrainer> {
    return new DictionaryTrainer(
      await begin(model, linesOf(examples), options, 'DictionaryTrainer.from', names, {
        lessons: 'dictionary',
      }),
    );
  }
}

function linesOf(examples: readonly string[] | string | Blob | Uint8Array) {
  if (!Array.isArray(examples)) return examples as string | Blob | Uint8Array;
  const fits = examples.every((each) => typeof each === 'string' && !/[\r\n]/.test(each));
  checkOption(fits, 'examples', 'lines of text');
  return examples.map((line) => `${line}\n`).join('');
}
