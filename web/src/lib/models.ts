/** The model folders that the build serves beside the page, and the bytes of their files. */
declare const modelSizes: Record<string, Record<string, number>>; // See models in vite.config.ts.

export type ModelName = 'sentiment' | 'en-de';

export const folderOf = (name: ModelName): URL => new URL(`models/${name}`, document.baseURI);

export const sizesOf = (name: ModelName): Record<string, number> => modelSizes[name] ?? {};
