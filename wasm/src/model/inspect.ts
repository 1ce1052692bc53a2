import type { GlassformerError } from '../base/errors.js';
import { toError } from '../engine/engine.js';
import type { StoredTensor } from '../engine/weights.js';
import type { LoadOptions, ModelFiles } from '../loading/options.js';
import type { Architecture } from './architecture.js';
import type { ModelInfo } from './info.js';
import { openFolder } from './open_model.js';

/** Facts about a model whose weights were not read. */
export interface Inspection {
  /** As of the loaded model; absent if its configuration cannot be read. */
  info?: Omit<ModelInfo, 'backend' | 'binary'>;
  architecture?: Architecture;
  /** The `model_type` of config.json, such as "bert"; "bergamot" for a translator of Firefox. */
  family?: string;
  /** The class that a published config.json names, such as "BertForSequenceClassification". */
  publishedClass?: string;
  /** All tensors in the files of weights, in order; empty if they cannot be read. */
  tensors: StoredTensor[];
  /** The error that `load` would throw, as far as it is known without the weights. */
  problem?: GlassformerError;
}

/**
 * Returns what a model is, without reading its weights: only configuration, tokenizer and the headers
 * of the weights. The folder is given as for `load`. If it has a config.json but its model cannot be
 * loaded, the reason is in `problem`. Throws if there is no config.json, or files cannot be fetched.
 */
export async function inspect(
  folder: string | URL | ModelFiles,
  options: LoadOptions = {},
): Promise<Inspection> {
  const { host, result } = await openFolder('inspect', undefined, folder, options);
  host.dispose();
  const { model, config, container, tensors, problem } = result;
  const { model_type: family, architectures } = config;
  const publishedClass: unknown = Array.isArray(architectures) ? architectures[0] : undefined;
  const inspection: Inspection = { tensors };
  if (model) {
    const { architecture, ...info } = model as unknown as ModelInfo & {
      architecture: Architecture;
    };
    Object.assign(inspection, { info, architecture });
  }
  if (container) inspection.family = 'bergamot';
  else if (typeof family === 'string') inspection.family = family;
  if (typeof publishedClass === 'string') inspection.publishedClass = publishedClass;
  if (problem) inspection.problem = toError(problem);
  return inspection;
}
