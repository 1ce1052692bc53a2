import read from 'glassformer/read';
import threads from 'glassformer/threads';

/** The languages that English is translated into, with one model each. */
export const targets = ['de', 'fr'] as const;
export type Target = (typeof targets)[number];

export type ModelName = 'sentiment' | `en-${Target}` | 'writer' | 'digits';

/** Returns the folder of a model, next to the page. */
export const folderOf = (name: ModelName): URL => new URL(`models/${name}`, document.baseURI);

const own = ['config.json', 'heads.json', 'manifest.json', 'model.safetensors', 'tokenizer.model'];
/** The writing model has the tokenizer of a published format. */
const writing = [
  'config.json',
  'heads.json',
  'manifest.json',
  'model.safetensors',
  'tokenizer.json',
  'tokenizer_config.json',
];

/** The model that reads pictures has a published format. */
const pictures = ['config.json', 'manifest.json', 'model.safetensors', 'preprocessor_config.json'];

/** Returns the files in a model's folder that the page reads; see web/build/models.ts. */
export const filesOf = (name: ModelName): readonly string[] =>
  name === 'writer' ? writing : name === 'digits' ? pictures : own;

/** The package's other binaries: a small one for the first verdict, and those with threads. */
export const binaries = { ...read, ...threads };
