// glassformer/threads: the URLs of the binaries with threads, for the option
// `urls` of `load`:
//
//     import { Classifier } from 'glassformer';
//     import urls from 'glassformer/threads';
//     const classifier = await Classifier.load(folder, { urls });

import { installed } from './engine/installed.js';

/** The URLs of the binaries by their names. */
const urls: Readonly<Record<string, string>> = {
  'glassformer.threads.wasm': installed(new URL('./glassformer.threads.wasm', import.meta.url)),
  'glassformer.threads.relaxed.wasm': installed(
    new URL('./glassformer.threads.relaxed.wasm', import.meta.url),
  ),
};

export default urls;
