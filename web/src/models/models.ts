/** The languages that English is translated into; each has a model of its own. */
export const targets = ['de', 'fr'] as const;
export type Target = (typeof targets)[number];

export type ModelName = 'sentiment' | `en-${Target}` | 'writer';

/** The folder of a model, beside the page. */
export const folderOf = (name: ModelName): URL => new URL(`models/${name}`, document.baseURI);

const own = ['config.json', 'heads.json', 'manifest.json', 'model.safetensors', 'tokenizer.model'];
/** The writer's are in a published format. */
const published = [
  'config.json',
  'generation_config.json',
  'heads.json',
  'manifest.json',
  'model.safetensors',
  'tokenizer.json',
  'tokenizer_config.json',
];

/** The files of such a folder that the page reads; see web/build/models.ts. */
export const filesOf = (name: ModelName): readonly string[] =>
  name === 'writer' ? published : own;
