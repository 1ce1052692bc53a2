type Rest = typeof import('../rest.ts');

/** A part of what is fetched once it is wanted. */
export const fetchRest = async <Name extends keyof Rest>(name: Name): Promise<Rest[Name]> =>
  (await import('../rest.ts'))[name];
