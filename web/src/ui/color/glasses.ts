/**
 * The colors of the data. They differ in hue and in lightness, so that color-blind people can tell
 * them apart: cobalt is attention (sequential), amber and sea green are the ends of a verdict
 * (diverging).
 */
export type Theme = 'light' | 'dark';

interface Glass {
  /** Attention from 0 to the maximum, with monotonic lightness. */
  attention: readonly string[];
  /** The first label, neutral and the last label, as text colors on the page. */
  evidence: readonly [string, string, string];
}

export const glasses: Record<Theme, Glass> = {
  light: {
    attention: ['#eceff4', '#c3d1f3', '#7f9eea', '#3b62d0', '#1b329c', '#0d1850'],
    evidence: ['#c2600a', '#e9ecea', '#0a8464'],
  },
  dark: {
    attention: ['#161e24', '#1f2f5c', '#2f4cab', '#4f7bf0', '#9dbcff', '#f2f6ff'],
    evidence: ['#ea9a3c', '#222c2f', '#2fc397'],
  },
};

/** Returns the color of label `index` of `count`. */
export function labelColor(theme: Theme, index: number, count: number): string {
  const [first, nothing, last] = glasses[theme].evidence;
  const share = count < 2 ? 1 : (2 * index) / (count - 1) - 1;
  const end = share < 0 ? first : last;
  return Math.abs(share) === 1
    ? end
    : `color-mix(in lab, ${end} ${100 * Math.abs(share)}%, ${nothing})`;
}

/** Returns the index of the shade, from 0 to 255, for a weight 0 … max. */
export const shadeOf = (weight: number, max: number): number =>
  max > 0 ? Math.round(255 * Math.sqrt(Math.min(1, weight / max))) : 0;
