/** Fetches the measurements of a model's heads: heads.json in its folder. */
import type { Measured } from '../head-roles.ts';
import { folderOf, type ModelName } from '../../../models/models.ts';

const known = new Map<ModelName, Promise<Measured | undefined>>();

/** Returns undefined if there are no measurements, or if they cannot be fetched. */
export function measuredHeads(name: ModelName): Promise<Measured | undefined> {
  let measured = known.get(name);
  if (!measured) {
    measured = fetch(`${folderOf(name).href}/heads.json`)
      .then((response) => (response.ok ? response.json() : undefined))
      .then(async (json: unknown) => (await import('./heads-file.ts')).measuredIn(json))
      .catch(() => {
        known.delete(name);
        return undefined;
      });
    known.set(name, measured);
  }
  return measured;
}
