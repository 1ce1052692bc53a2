/** The languages that English is translated into; each has a model of its own. */
export const targets = ['de', 'fr'] as const;
export type Target = (typeof targets)[number];

export type ModelName = 'sentiment' | `en-${Target}`;

/** The folder of a model, beside the page. */
export const folderOf = (name: ModelName): URL => new URL(`models/${name}`, document.baseURI);

/** The files of such a folder that the page reads; see models in vite.config.ts. */
export const files = ['config.json', 'manifest.json', 'model.safetensors', 'tokenizer.model'];
