import { GlassformerError } from '../base/errors.js';
import type { FileFacts } from './manifest.js';
import type { Sources } from './locate.js';

/** The beginning of our caches' names. All scripts of an origin share its caches. */
export const family = 'glassformer-models-';

// The number is the version of the layout: each file is stored under its URL, with its hash in a
// header; a file that the folder does not have is stored as an empty response with another header.
const cacheName = `${family}1`;
const hashHeader = 'x-sha256';
const absentHeader = 'x-absent';

/** Returns the browser's caches, if there are any. */
export function cacheStorage(): CacheStorage | undefined {
  try {
    return globalThis.caches;
  } catch {
    return undefined; // in a sandboxed frame even the access throws
  }
}

/** Returns whether a file comes from a server. */
export function isHttp(source: unknown): source is string {
  return typeof source === 'string' && /^https?:/.test(source);
}

/** Throws if option `cache` cannot be fulfilled. */
export function checkCache({ files, folder }: Sources): void {
  if (![folder, ...Object.values(files)].some(isHttp)) {
    throw new GlassformerError('invalid_option', 'cache: expected a model at an HTTP URL');
  }
  if (!cacheStorage()) {
    throw new GlassformerError(
      'unsupported_runtime',
      'cache: there is no Cache API here; browsers have it at https: URLs and on localhost',
    );
  }
}

/** Returns the cache; undefined if the browser refuses it, as some do in private windows. */
export function openCache(): Promise<Cache | undefined> {
  return caches.open(cacheName).catch(() => undefined);
}

/** A stored file, and its size and hash when it was stored. */
export interface KeptFile {
  response: Response;
  facts: FileFacts;
}

export async function findKept(cache: Cache, url: string): Promise<KeptFile | undefined> {
  const response = await cache.match(url).catch(() => undefined);
  const sha256 = response?.headers.get(hashHeader);
  if (!response || !sha256) return undefined;
  return { response, facts: { size: Number(response.headers.get('content-length')), sha256 } };
}

/** Stores a file, if there is space. */
export async function keep(
  cache: Cache,
  url: string,
  bytes: Uint8Array,
  sha256: string,
): Promise<void> {
  const headers = { 'content-length': String(bytes.length), [hashHeader]: sha256 };
  await cache.put(url, new Response(bytes as BodyInit, { headers })).catch(() => {});
}

/** Records that a folder does not have a file. */
export async function keepAbsence(cache: Cache, url: string): Promise<void> {
  const headers = { [absentHeader]: '1' };
  await cache.put(url, new Response(null, { headers })).catch(() => {});
}

/** Returns whether the file did not exist when the server was last asked. */
export async function wasAbsent(cache: Cache, url: string): Promise<boolean> {
  const response = await cache.match(url).catch(() => undefined);
  return response?.headers.has(absentHeader) ?? false;
}
