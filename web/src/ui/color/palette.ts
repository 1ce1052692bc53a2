/** The glasses' colors between their stops. */
import { glasses, type Theme } from './glasses.ts';
import { along, cssOf, linear, rgbOf } from './lab.ts';

const attentionColors = {
  light: along(glasses.light.attention),
  dark: along(glasses.dark.attention),
};

const evidenceColors = {
  light: along(glasses.light.evidence),
  dark: along(glasses.dark.evidence),
};

/** Color of an attention weight 0 … max; by its square root, so that small weights show too. */
export function attentionScale(theme: Theme, max: number): (weight: number) => string {
  const color = attentionColors[theme];
  return (weight) => cssOf(color(max > 0 ? Math.sqrt(Math.min(1, weight / max)) : 0));
}

/** What shines through under a word that is looked at: text stays legible on it. */
export function attentionTint(theme: Theme, share: number): string {
  const opacity = 0.1 + 0.35 * Math.sqrt(Math.min(1, share));
  const tint = rgbOf(theme === 'dark' ? '#4f7bf0' : '#2b50c8');
  return `rgba(${tint.join(', ')}, ${opacity})`;
}

/** The same colors as 256 opaque RGBA pixels, index round(255 √(weight / max)). */
export function attentionPixels(theme: Theme): Uint8ClampedArray {
  let pixels = pixelTables.get(theme);
  if (pixels) return pixels;
  pixels = new Uint8ClampedArray(256 * 4);
  for (let i = 0; i < 256; i++) {
    pixels.set([...attentionColors[theme](i / 255), 255], i * 4);
  }
  pixelTables.set(theme, pixels);
  return pixels;
}
const pixelTables = new Map<Theme, Uint8ClampedArray>();

/** The same 256 colors in CSS. */
export function attentionShades(theme: Theme): readonly string[] {
  let shades = shadeTables.get(theme);
  if (shades) return shades;
  shades = Array.from({ length: 256 }, (_, i) => cssOf(attentionColors[theme](i / 255)));
  shadeTables.set(theme, shades);
  return shades;
}
const shadeTables = new Map<Theme, readonly string[]>();

/** Stops for a legend's gradient, evenly spaced in the square root of the weight. */
export function attentionStops(theme: Theme): readonly string[] {
  return glasses[theme].attention;
}

/** Color of evidence −1 (all for the first label) … 0 … 1 (all for the last), in 513 steps. */
export function evidenceColor(theme: Theme, share: number): string {
  const step = Math.round(256 * (Math.max(-1, Math.min(1, share)) + 1));
  const known = evidenceTables[theme].get(step);
  if (known !== undefined) return known;
  const color = cssOf(evidenceColors[theme](step / 512));
  evidenceTables[theme].set(step, color);
  return color;
}
const evidenceTables = { light: new Map<number, string>(), dark: new Map<number, string>() };

/** Black or white, whichever has more contrast with `background`: always 4.5 to 1 at least. */
export function inkOn(background: string): string {
  const known = inks.get(background);
  if (known !== undefined) return known;
  const ink = moreContrast(background);
  inks.set(background, ink);
  return ink;
}
const inks = new Map<string, string>();

function moreContrast(background: string): string {
  const [red, green, blue] = rgbOf(background);
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return luminance > 0.179 ? '#000' : '#fff';
}
