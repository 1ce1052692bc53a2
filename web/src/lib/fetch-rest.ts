import { fetchContent } from './content.ts';

type Rest = typeof import('../rest.ts');

/** A part of what is fetched once it is wanted, when its texts are there, too. */
export async function fetchRest<Name extends keyof Rest>(name: Name): Promise<Rest[Name]> {
  const [rest] = await Promise.all([import('../rest.ts'), fetchContent()]);
  return rest[name];
}
