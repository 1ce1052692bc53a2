/** Fetches the measurements of a model's heads: heads.json in its folder. */
import { measurements } from '../../../models/measurements.ts';
import type { Measured } from '../head-roles.ts';

export const measuredHeads = measurements<Measured>('heads.json', async (json) =>
  (await import('./heads-file.ts')).measuredIn(json),
);
