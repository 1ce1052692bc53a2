// @glassformer/pipelines: the function `pipeline` of Transformers.js over the models of glassformer.

export { pipeline } from './pipelines/pipeline.js';
export type { Pipeline, PipelineOptions, PipelineTask } from './pipelines/pipeline.js';
export { Tensor } from './pipelines/tensor.js';
