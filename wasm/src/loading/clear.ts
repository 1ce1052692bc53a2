import { cacheStorage, family } from './cache.js';
import { folderUrl } from './locate.js';
import type { LoadOptions } from './options.js';

/**
 * Deletes the files that option `cache` has stored: those of the model in a folder, or of all models.
 * Does nothing if there is no Cache API.
 */
export async function clearCache(
  folder?: string | URL,
  { hubUrl }: Pick<LoadOptions, 'hubUrl'> = {},
): Promise<void> {
  const storage = cacheStorage();
  const names = (await storage?.keys().catch(() => undefined)) ?? [];
  for (const name of names.filter((name) => name.startsWith(family))) {
    if (folder === undefined) {
      await storage!.delete(name);
      continue;
    }
    const { origin, pathname } = folderUrl(folder, hubUrl).url;
    const start = `${origin}${pathname.replace(/\/$/, '')}/`;
    const cache = await storage!.open(name);
    for (const request of await cache.keys()) {
      if (request.url.startsWith(start)) await cache.delete(request);
    }
  }
}
