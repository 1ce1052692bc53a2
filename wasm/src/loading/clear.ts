import { cacheStorage, family } from './cache.js';
import { folderUrl } from './locate.js';
import type { LoadOptions } from './options.js';

/**
 * Deletes what option `cache` has kept: of the model in a folder, or of all models. Where nothing
 * can be kept, it does nothing.
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
