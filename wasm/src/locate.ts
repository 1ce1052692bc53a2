import { GlassformerError, messageOf } from './errors.js';
import { nodeModule } from './node.js';
import { checkOption, checkOptions, isA } from './options.js';
import type { FolderFile, Sources } from './protocol.js';
import type { Asset, LoadOptions, ModelFiles, TrustedUrl } from './types.js';

const folderFiles = [
  'manifest.json',
  'config.json',
  'model.safetensors',
  'tokenizer.model',
  'source.model',
  'target.model',
  'shortlist.bin',
] as const;
const assets = [
  ...folderFiles,
  'glassformer.wasm',
  'glassformer.relaxed.wasm',
  'worker.js',
] as const;

/** Absolute form of a URL, of a relative one, or in Node of a path. */
export function absoluteUrl(location: string | URL): URL {
  try {
    if (typeof location !== 'string') return new URL(location.href);
    if (/^[a-z][a-z\d+.-]+:/i.test(location)) return new URL(location);
    const node = nodeModule('node:url');
    // A request resolves like fetch: against the document's base or the worker's own address.
    return node ? node.pathToFileURL(location) : new URL(new Request(location).url);
  } catch (error) {
    throw new GlassformerError('invalid_option', `"${location}" is no URL: ${messageOf(error)}`);
  }
}

/** Absolute URLs that replace the default ones; the worker's may be a TrustedScriptURL. */
export type Urls = { [name in Exclude<Asset, 'worker.js'>]?: string } & {
  'worker.js'?: string | TrustedUrl;
};

/** The overridden URLs of `LoadOptions.urls`, made absolute. */
export function resolveUrls(urls: LoadOptions['urls'] = {}): Urls {
  checkOptions(urls, assets, 'urls');
  const resolved: Urls = {};
  for (const name of assets) {
    const url = urls[name];
    if (url === undefined) continue;
    if (name === 'worker.js' && isA(url, 'TrustedScriptURL')) {
      resolved[name] = url as TrustedUrl;
      continue;
    }
    checkOption(typeof url === 'string' || isA(url, 'URL'), `urls["${name}"]`, 'a URL');
    resolved[name] = absoluteUrl(url as string | URL).href;
  }
  return resolved;
}

/** Where each file of a model comes from, if it is there. */
export function locateModel(folder: string | URL | ModelFiles, urls: Urls): Sources {
  const files: Sources = {};
  if (typeof folder === 'string' || isA(folder, 'URL')) {
    const base = absoluteUrl(folder as string | URL);
    for (const file of folderFiles) {
      // Any query, such as an access token, stays.
      const url = new URL(base);
      url.pathname = `${url.pathname.replace(/\/$/, '')}/${file}`;
      files[file] = urls[file] ?? url.href;
    }
    return files;
  }
  checkOptions(folder, folderFiles, 'model files');
  for (const file of folderFiles) {
    const given = (folder as Partial<Record<FolderFile, Uint8Array | URL>>)[file];
    const valid = given === undefined || isA(given, 'Uint8Array') || isA(given, 'URL');
    checkOption(valid, `model files: ${file}`, 'a Uint8Array or a URL');
    const source = urls[file] ?? (isA(given, 'URL') ? (given as URL).href : (given as Uint8Array));
    if (source !== undefined) files[file] = source;
  }
  return files;
}
