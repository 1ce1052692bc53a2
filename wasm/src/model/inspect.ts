import type { ModelInfo } from './info.js';
import type { Architecture } from './architecture.js';
import type { LoadOptions, ModelFiles } from '../loading/options.js';
import { inspectModel } from './open_model.js';

/** A tensor in a model's files. */
export interface StoredTensor {
  /** The name in the file. */
  name: string;
  /** Such as "F16". */
  dtype: string;
  shape: number[];
  /** Whether the model does not use it. */
  ignored: boolean;
}

/** Facts about a model whose weights were not read. */
export interface Inspection {
  info: Omit<ModelInfo, 'binary'>;
  architecture: Architecture;
  /** The `model_type` of config.json, such as "bert"; "bergamot" for a translator of Firefox. */
  family: string;
  /** The class that a published config.json names, such as "BertForSequenceClassification". */
  publishedClass?: string;
  /** All tensors in the files of weights, in their order. */
  tensors: StoredTensor[];
}

/**
 * Reads what a model is, without its weights: configuration, tokenizer and the headers of its
 * weights. Everything that loading checks before it reads weights is checked. The folder is named as
 * for `load`.
 */
export function inspect(
  folder: string | URL | ModelFiles,
  options: LoadOptions = {},
): Promise<Inspection> {
  return inspectModel(folder, options);
}
