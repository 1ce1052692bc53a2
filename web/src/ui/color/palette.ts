/** The data colors between their stops, interpolated in CIELAB. */
import { rgb } from 'd3-color';
import { interpolateLab, piecewise } from 'd3-interpolate';
import { glasses, type Theme } from './glasses.ts';

const attentionColors = {
  light: piecewise(interpolateLab, [...glasses.light.attention]),
  dark: piecewise(interpolateLab, [...glasses.dark.attention]),
};

const evidenceColors = {
  light: piecewise(interpolateLab, [...glasses.light.evidence]),
  dark: piecewise(interpolateLab, [...glasses.dark.evidence]),
};

/** Returns the color scale for weights 0 … max. The square root makes small weights visible. */
export function attentionScale(theme: Theme, max: number): (weight: number) => string {
  const color = attentionColors[theme];
  return (weight) => color(max > 0 ? Math.sqrt(Math.min(1, weight / max)) : 0);
}

/** Returns the background of a word under the pointer. Text stays legible on it. */
export function attentionTint(theme: Theme, share: number): string {
  const tint = rgb(theme === 'dark' ? '#4f7bf0' : '#2b50c8');
  return `${tint.copy({ opacity: 0.1 + 0.35 * Math.sqrt(Math.min(1, share)) })}`;
}

/** Returns the same colors as 256 opaque RGBA pixels, index round(255 √(weight / max)). */
export function attentionPixels(theme: Theme): Uint8ClampedArray {
  let pixels = pixelTables.get(theme);
  if (pixels) return pixels;
  pixels = new Uint8ClampedArray(256 * 4);
  for (const [i, shade] of attentionShades(theme).entries()) {
    const { r, g, b } = rgb(shade);
    pixels.set([r, g, b, 255], i * 4);
  }
  pixelTables.set(theme, pixels);
  return pixels;
}
const pixelTables = new Map<Theme, Uint8ClampedArray>();

/** Returns the same 256 colors in CSS. */
export function attentionShades(theme: Theme): readonly string[] {
  let shades = shadeTables.get(theme);
  if (shades) return shades;
  shades = Array.from({ length: 256 }, (_, i) => attentionColors[theme](i / 255));
  shadeTables.set(theme, shades);
  return shades;
}
const shadeTables = new Map<Theme, readonly string[]>();

/** Returns the stops of a legend's gradient, evenly spaced in the square root of the weight. */
export function attentionStops(theme: Theme): readonly string[] {
  return glasses[theme].attention;
}

/** Returns the color of evidence −1 (first label) … 0 … 1 (last label), in 513 steps. */
export function evidenceColor(theme: Theme, share: number): string {
  const step = Math.round(256 * (Math.max(-1, Math.min(1, share)) + 1));
  const known = evidenceTables[theme].get(step);
  if (known !== undefined) return known;
  const color = evidenceColors[theme](step / 512);
  evidenceTables[theme].set(step, color);
  return color;
}
const evidenceTables = { light: new Map<number, string>(), dark: new Map<number, string>() };

/** Returns black or white, whichever has more contrast with `background`: at least 4.5 to 1. */
export function inkOn(background: string): string {
  const known = inks.get(background);
  if (known !== undefined) return known;
  const ink = luminance(background) > 0.179 ? '#000' : '#fff';
  inks.set(background, ink);
  return ink;
}
const inks = new Map<string, string>();

/** Returns the relative luminance (WCAG 2), 0 … 1. */
function luminance(color: string): number {
  const { r, g, b } = rgb(color);
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** Returns the linear light 0 … 1 of an sRGB channel 0 … 255. */
function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
