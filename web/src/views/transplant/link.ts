/** The transplant view's state in a link. */
import type { Link } from '../../ui/link.ts';
import { sites, type Carried, type Part } from '../../panels/transplant/transplant.ts';

export interface TransplantLink extends Part {
  base: string;
  donor: string;
  /** The patched vector, if any. */
  carried: Carried | undefined;
}

/** Joins both texts, one per line. To the model, a line break is a space. */
export const pairText = (base: string, donor: string): string =>
  [base, donor].map((text) => text.replace(/[\r\n]+/g, ' ')).join('\n');

export function toTransplantLink({ base, donor, site, head, carried }: TransplantLink): Link {
  return {
    text: pairText(base, donor),
    ...(site !== 'residual' && { site }),
    ...(site === 'head' && { head: `${head}` }),
    ...(carried && { cell: `${carried.row}.${carried.cell}` }),
  };
}

/** Reads a link; skips malformed values. */
export function fromTransplantLink(link: Link): Partial<TransplantLink> {
  const lines = link.text?.split('\n') ?? [];
  const site = sites.find((each) => each === link.site);
  const part = site && { site, head: /^\d{1,4}$/.test(link.head ?? '') ? Number(link.head) : 0 };
  const cell = /^(\d{1,4})\.(\d{1,4})$/.exec(link.cell ?? '');
  if (lines.length !== 2) return { ...part };
  return {
    base: lines[0]!,
    donor: lines[1]!,
    ...part,
    // A cell only makes sense together with its texts.
    ...(cell && { carried: { row: Number(cell[1]), cell: Number(cell[2]) } }),
  };
}
