/** The colors and typefaces of a film: those of the page. */
import type { Part } from '../../../../ui/figured.ts';
import type { Theme } from '../../../../ui/color/glasses.ts';

export interface Look {
  theme: Theme;
  page: string;
  ink: string;
  soft: string;
  line: string;
  cobalt: string;
  serif: string;
  sans: string;
  /** The paper's color of a part. */
  hueOf: (part: Part) => string;
}

/** Reads the look of the page. The colors of the parts are those of the boxes of its figure. */
export function lookOf(theme: Theme): Look {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const hues = new Map<Part, string>();
  const hueOf = (part: Part): string => {
    const known = hues.get(part);
    if (known) return known;
    const box = document.querySelector(`.figure .box.${part}`);
    const hue = (box && getComputedStyle(box).getPropertyValue('--hue').trim()) || value('soft');
    hues.set(part, hue);
    return hue;
  };
  const [page, ink, soft, line, cobalt] = ['page', 'ink', 'soft', 'line', 'cobalt'].map(value);
  return {
    ...{ theme, hueOf },
    ...{ page: page!, ink: ink!, soft: soft!, line: line!, cobalt: cobalt! },
    ...{ serif: value('serif'), sans: value('sans') },
  };
}

/** Loads the typefaces that a film is written in. */
export async function loadTypefaces({ serif, sans }: Look): Promise<void> {
  const all = [`500 24px ${serif}`, `400 16px ${sans}`, `600 16px ${sans}`];
  await Promise.all(all.map((font) => document.fonts.load(font))).catch(() => undefined);
}
