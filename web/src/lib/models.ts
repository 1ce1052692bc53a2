/** The model folders that the build serves beside the page, and the bytes of their files. */
declare const modelSizes: Record<string, Record<string, number>>; // See models in vite.config.ts.

/** The languages that English is translated into; each has a model of its own. */
export const targets = ['de', 'fr'] as const;
export type Target = (typeof targets)[number];

export type ModelName = 'sentiment' | `en-${Target}`;

export const folderOf = (name: ModelName): URL => new URL(`models/${name}`, document.baseURI);

export const sizesOf = (name: ModelName): Record<string, number> => modelSizes[name] ?? {};
