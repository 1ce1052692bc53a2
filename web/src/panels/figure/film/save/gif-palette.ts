/** The palette of a GIF: the colors of its pictures that matter most. */

export type Color = [red: number, green: number, blue: number];

interface Bin {
  color: Color;
  count: number;
}

/** Returns the colors of some pixels, the most frequent first. Of similar ones, it is the first. */
function binsOf(rgba: Uint8ClampedArray): Bin[] {
  const bins = new Map<number, Bin>();
  for (let i = 0; i < rgba.length; i += 4) {
    const color: Color = [rgba[i]!, rgba[i + 1]!, rgba[i + 2]!];
    const key = color.reduce((all, channel) => (all << 6) | (channel >> 2), 0);
    const bin = bins.get(key);
    if (bin) bin.count += 1;
    else bins.set(key, { color, count: 1 });
  }
  return [...bins.values()].sort((a, b) => b.count - a.count);
}

/** Least distances between colors, one round after another: first all kinds of colors, then shades. */
const rounds = [48, 24, 12, 6, 0];

const distance = (a: Color, b: Color): number =>
  (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;

/** Returns at most `most` colors: frequent ones, and rare ones that differ from them. */
export function paletteOf(rgba: Uint8ClampedArray, most: number): Color[] {
  const bins = binsOf(rgba);
  const palette: Color[] = [];
  for (const least of rounds) {
    for (const { color } of bins) {
      if (palette.length >= most) return palette;
      if (palette.every((each) => distance(each, color) > least * least)) palette.push(color);
    }
  }
  return palette;
}
