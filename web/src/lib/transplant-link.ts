/** The transplant view's state, as a link carries it. */
import type { Link } from './address.ts';
import { sites, type Carried, type Site } from './transplant.ts';

export interface TransplantLink {
  base: string;
  donor: string;
  site: Site;
  /** The vector that is carried, if any. */
  carried: Carried | undefined;
}

/** Both texts as one, a line each; to the model a line break is a space. */
export const pairText = (base: string, donor: string): string =>
  [base, donor].map((text) => text.replace(/[\r\n]+/g, ' ')).join('\n');

export function toTransplantLink({ base, donor, site, carried }: TransplantLink): Link {
  return {
    text: pairText(base, donor),
    ...(site !== 'residual' && { site }),
    ...(carried && { cell: `${carried.row}.${carried.cell}` }),
  };
}

/** Reads what it can; anything malformed is left out. */
export function fromTransplantLink(link: Link): Partial<TransplantLink> {
  const lines = link.text?.split('\n') ?? [];
  const site = sites.find((each) => each === link.site);
  const cell = /^(\d{1,4})\.(\d{1,4})$/.exec(link.cell ?? '');
  if (lines.length !== 2) return site ? { site } : {};
  return {
    base: lines[0]!,
    donor: lines[1]!,
    ...(site && { site }),
    // A cell is one of two texts: without them it is nobody's.
    ...(cell && { carried: { row: Number(cell[1]), cell: Number(cell[2]) } }),
  };
}
