// glassformer/read: the URLs of the binaries for models that read texts, a smaller download, for the option
// `urls` of `load`:
//
//     import { Classifier } from 'glassformer';
//     import urls from 'glassformer/read';
//     const classifier = await Classifier.load(folder, { urls });

import { installed } from './engine/installed.js';

/** The URLs of the binaries by their names. */
const urls: Readonly<Record<string, string>> = {
  'glassformer.read.wasm': installed(new URL('./glassformer.read.wasm', import.meta.url)),
  'glassformer.read.relaxed.wasm': installed(
    new URL('./glassformer.read.relaxed.wasm', import.meta.url),
  ),
};

export default urls;
