import { GlassformerError } from '../base/errors.js';
import type { FileFacts } from './manifest.js';
import type { Sources } from './locate.js';

/** How the names of our caches begin: those of an origin are shared by all that lives there. */
export const family = 'glassformer-models-';

// The number stands for the layout: each file under its URL, with its hash in a header; a file that
// the folder does not have, as an empty one with another header.
const cacheName = `${family}1`;
const hashHeader = 'x-sha256';
const absentHeader = 'x-absent';

/** The browser's caches, where there are any. */
export function cacheStorage(): CacheStorage | undefined {
  try {
    return globalThis.caches;
  } catch {
    return undefined; // a sandboxed frame may not even look
  }
}

/** Whether a file comes from a server. */
export function isHttp(source: unknown): source is string {
  return typeof source === 'string' && /^https?:/.test(source);
}

/** Throws where option `cache` asks for what cannot be. */
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

/** The cache; undefined where the browser refuses it, as some do in private windows. */
export function openCache(): Promise<Cache | undefined> {
  return caches.open(cacheName).catch(() => undefined);
}

/** A file that was kept, and what it was then. */
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

/** A file for which there is no room is not kept. */
export async function keep(
  cache: Cache,
  url: string,
  bytes: Uint8Array,
  sha256: string,
): Promise<void> {
  const headers = { 'content-length': String(bytes.length), [hashHeader]: sha256 };
  await cache.put(url, new Response(bytes as BodyInit, { headers })).catch(() => {});
}

/** Remembers that a folder has no such file. */
export async function keepAbsence(cache: Cache, url: string): Promise<void> {
  const headers = { [absentHeader]: '1' };
  await cache.put(url, new Response(null, { headers })).catch(() => {});
}

/** Whether the folder had no such file when the server was last asked. */
export async function wasAbsent(cache: Cache, url: string): Promise<boolean> {
  const response = await cache.match(url).catch(() => undefined);
  return response?.headers.has(absentHeader) ?? false;
}
