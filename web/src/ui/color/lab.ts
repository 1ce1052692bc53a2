/**
 * Colors mixed as the eye sees them: in CIELAB, with D50 as white, from and to sRGB (CIE 15:2004;
 * the matrices are Bradford-adapted, as in CSS Color 4).
 */
export type Rgb = readonly [red: number, green: number, blue: number]; // 0 … 255
type Lab = readonly [lightness: number, a: number, b: number];

/** Of '#rrggbb' or 'rgb(r, g, b)'. */
export function rgbOf(color: string): Rgb {
  const found = color.startsWith('#')
    ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
    : (color.match(/\d+/g) ?? []).map(Number);
  const [red, green, blue] = found;
  if (red === undefined || green === undefined || blue === undefined || found.some(Number.isNaN))
    throw new Error(`color: expected #rrggbb or rgb(r, g, b), got ${color}`);
  return [red, green, blue];
}

export const cssOf = ([red, green, blue]: Rgb): string => `rgb(${red}, ${green}, ${blue})`;

/** A channel of sRGB 0 … 255 as light 0 … 1. */
export function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function channelOf(light: number): number {
  const share = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.max(0, Math.min(1, share)));
}

const white = [0.96422, 1, 0.82521] as const;
const edge = 6 / 29;

function labOf(color: string): Lab {
  const [r, g, b] = rgbOf(color).map(linear) as [number, number, number];
  const root = (part: number) =>
    part > edge ** 3 ? Math.cbrt(part) : part / (3 * edge ** 2) + 4 / 29;
  const y = root(0.2225045 * r + 0.7168786 * g + 0.0606169 * b);
  const x = root((0.4360747 * r + 0.3850649 * g + 0.1430804 * b) / white[0]);
  const z = root((0.0139322 * r + 0.0971045 * g + 0.7141733 * b) / white[2]);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function rgbOfLab([lightness, a, b]: Lab): Rgb {
  const cube = (part: number) => (part > edge ? part ** 3 : 3 * edge ** 2 * (part - 4 / 29));
  const middle = (lightness + 16) / 116;
  const x = white[0] * cube(middle + a / 500);
  const y = white[1] * cube(middle);
  const z = white[2] * cube(middle - b / 200);
  return [
    channelOf(3.1338561 * x - 1.6168667 * y - 0.4906146 * z),
    channelOf(-0.9787684 * x + 1.9161415 * y + 0.033454 * z),
    channelOf(0.0719453 * x - 0.2289914 * y + 1.4052427 * z),
  ];
}

/** The color at 0 … 1 of the way along `stops`, which are equally far apart. */
export function along(stops: readonly string[]): (share: number) => Rgb {
  const labs = stops.map(labOf);
  return (share) => {
    const at = Math.max(0, Math.min(1, share)) * (labs.length - 1);
    const first = Math.min(Math.floor(at), labs.length - 2);
    const [from, to] = [labs[first]!, labs[first + 1]!];
    const mixed = from.map((value, i) => value + (at - first) * (to[i]! - value));
    return rgbOfLab(mixed as unknown as Lab);
  };
}
