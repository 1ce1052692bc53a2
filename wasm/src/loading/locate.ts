import { GlassformerError, messageOf } from '../base/errors.js';
import type { Source } from './chunks.js';
import { nodeModule } from '../base/node.js';
import { checkOption, isA } from '../base/checks.js';

import type { LoadOptions, ModelFiles, TrustedUrl } from './options.js';

/** The places of a model's files. */
export interface Sources {
  /** By name: files in hand, and files whose URLs were given one by one. */
  files: Record<string, Source>;
  /** URL of the folder with all other files, if there is one. */
  folder?: string;
  /** Whether the folder is a repository of a model hub. */
  hub?: boolean;
}

/** Returns a URL as an absolute one. In Node, `location` may be a path. */
export function absoluteUrl(location: string | URL): URL {
  try {
    if (typeof location !== 'string') return new URL(location.href);
    if (/^[a-z][a-z\d+.-]+:/i.test(location)) return new URL(location);
    const node = nodeModule('node:url');
    // A request resolves URLs like fetch: against the document's base or the worker's own address.
    return node ? node.pathToFileURL(location) : new URL(new Request(location).url);
  } catch (error) {
    throw new GlassformerError('invalid_option', `"${location}" is not a URL: ${messageOf(error)}`);
  }
}

/** Absolute URLs that replace the default ones. That of the worker may be a TrustedScriptURL. */
export type Urls = Record<string, string | undefined> & { 'worker.js'?: string | TrustedUrl };

/** Returns the URLs of `LoadOptions.urls` as absolute ones. */
export function resolveUrls(urls: LoadOptions['urls'] = {}): Urls {
  checkOption(typeof urls === 'object' && urls !== null, 'urls', 'an object');
  const resolved: Record<string, unknown> = {};
  for (const [name, url] of Object.entries(urls)) {
    if (url === undefined) continue;
    if (name === 'worker.js' && isA(url, 'TrustedScriptURL')) {
      resolved[name] = url;
      continue;
    }
    checkOption(typeof url === 'string' || isA(url, 'URL'), `urls["${name}"]`, 'a URL');
    resolved[name] = absoluteUrl(url as string | URL).href;
  }
  return resolved as Urls;
}

const defaultHub = 'https://huggingface.co';

/** Returns the URL of a model's folder, which is a location or a name on a hub. */
export function folderUrl(
  folder: string | URL,
  hubUrl: string | URL = defaultHub,
): { url: URL; hub: boolean } {
  const name = /^hf:(.*)$/s.exec(String(folder))?.[1];
  if (name === undefined) return { url: absoluteUrl(folder), hub: false };
  const [, model, revision = 'main'] = /^([\w.-]+(?:\/[\w.-]+)?)(?:@(.+))?$/.exec(name) ?? [];
  // A segment "." or ".." would leave the folder of the model or of the hub.
  const valid =
    model !== undefined && ![...model.split('/'), ...revision.split('/')].some(isUnsafe);
  checkOption(valid, String(folder), 'hf:owner/name or hf:owner/name@revision');
  const url = absoluteUrl(hubUrl);
  url.pathname = `${trimmed(url)}/${model}/resolve/${encodeURIComponent(revision)}`;
  return { url, hub: true };
}

function isUnsafe(segment: string): boolean {
  return /^\.{0,2}$|[\p{Cc}\p{Cs}\\]/u.test(segment);
}

function trimmed({ pathname }: URL): string {
  return pathname.replace(/\/$/, '');
}

/** Returns the places of a model's files. */
export function locateModel(
  folder: string | URL | ModelFiles,
  { 'worker.js': _, ...urls }: Urls,
  hubUrl: string | URL | undefined,
): Sources {
  const given = hubUrl === undefined || typeof hubUrl === 'string' || isA(hubUrl, 'URL');
  checkOption(given, 'hubUrl', 'a URL');
  const files: Sources['files'] = {};
  const replace = (): void => {
    for (const [name, url] of Object.entries(urls)) if (url !== undefined) files[name] = url;
  };
  if (typeof folder === 'string' || isA(folder, 'URL')) {
    const { url, hub } = folderUrl(folder as string | URL, hubUrl);
    replace();
    return { files, folder: url.href, hub };
  }
  checkOption(typeof folder === 'object' && folder !== null, 'model files', 'an object');
  for (const [name, file] of Object.entries(folder as ModelFiles)) {
    if (file === undefined) continue;
    const valid = (['Uint8Array', 'Blob', 'File', 'URL'] as const).some((type) => isA(file, type));
    checkOption(valid, `model files: ${name}`, 'a Uint8Array, a Blob or a URL');
    files[name] = isA(file, 'URL') ? (file as URL).href : (file as Uint8Array | Blob);
  }
  replace();
  return { files };
}

/** Returns the place of a file; undefined if there is no folder and no such file in hand. */
export function sourceOf({ files, folder, hub }: Sources, name: string): Source | undefined {
  if (Object.hasOwn(files, name)) return files[name];
  if (folder === undefined || (hub && name === 'manifest.json')) return undefined;
  // Keeps a query, such as an access token.
  const url = new URL(folder);
  const segments = name.split('/');
  if (segments.some(isUnsafe)) {
    const message = `${JSON.stringify(name)}: expected a file in the model's folder`;
    throw new GlassformerError('missing_file', message);
  }
  url.pathname = `${trimmed(url)}/${segments.map(encodeURIComponent).join('/')}`;
  return url.href;
}
