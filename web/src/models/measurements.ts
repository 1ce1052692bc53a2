/** Measurements of a model that were made beforehand: files in its folder. */
import { folderOf, type ModelName } from './models.ts';

/**
 * Returns a function that fetches such a file and reads its JSON, once per model. It resolves to
 * undefined if there are no measurements, or if they cannot be fetched; then it tries again when asked
 * again.
 */
export function measurements<T>(
  file: string,
  read: (json: unknown) => T | undefined | Promise<T | undefined>,
): (name: ModelName) => Promise<T | undefined> {
  const known = new Map<ModelName, Promise<T | undefined>>();
  return (name) => {
    let measured = known.get(name);
    if (!measured) {
      measured = fetch(`${folderOf(name).href}/${file}`)
        .then((response) => (response.ok ? response.json() : undefined))
        .then(read)
        .catch(() => {
          known.delete(name);
          return undefined;
        });
      known.set(name, measured);
    }
    return measured;
  };
}
