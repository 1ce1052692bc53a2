/** A drawing as strokes, and the picture that the model reads of it. */

/** A point of the pad, from 0 to 1 in both directions. */
export interface Point {
  x: number;
  y: number;
}
export type Stroke = readonly Point[];

/** Height and width of the model's pictures, in pixels. */
export const side = 28;

/** MNIST's digits fill a box of this size, and their center of mass is in the middle. */
const box = 20;
/** The width of a stroke, in pixels of the picture. */
const pen = 2.4;
/** Each pixel's brightness is the share of as many squared points that a stroke covers. */
const fine = 5;

/**
 * Returns a picture of strokes as MNIST's were made: scaled to fit a box of 20 × 20 pixels, with its
 * center of mass in the middle (LeCun et al. 1998), white on black.
 */
export function pictureOf(strokes: readonly Stroke[]): Uint8Array<ArrayBuffer> {
  const points = strokes.flat();
  if (points.length === 0) return new Uint8Array(side * side);
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const extent = Math.max(Math.max(...xs) - left, Math.max(...ys) - top);
  // A dot stays a dot.
  const scale = extent > 0.02 ? (box - pen) / extent : 0;
  const scaled = strokes.map((stroke) =>
    stroke.map(({ x, y }) => ({ x: (x - left) * scale, y: (y - top) * scale })),
  );
  const mass = centerOf(coverage(scaled, { x: box / 4, y: box / 4 }, 2 * side));
  const middle = { x: side / 2 - mass.x + box / 4, y: side / 2 - mass.y + box / 4 };
  return coverage(scaled, middle).bytes;
}

/** Returns a stroke as an SVG path on a field of 100 × 100. */
export const pathOf = (stroke: Stroke): string =>
  stroke.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${100 * x} ${100 * y}`).join('') +
  (stroke.length === 1 ? 'h0' : '');

/** How a form of a drawing differs: the degrees that it is turned by, its slant, its relative width. */
export interface Form {
  turn?: number;
  slant?: number;
  width?: number;
}

/** Returns strokes in another form. They may leave the pad; `pictureOf` scales them. */
export function inForm(
  strokes: readonly Stroke[],
  { turn = 0, slant = 0, width = 1 }: Form,
): Stroke[] {
  const [sine, cosine] = [Math.sin((turn * Math.PI) / 180), Math.cos((turn * Math.PI) / 180)];
  return strokes.map((stroke) =>
    stroke.map(({ x, y }) => {
      const right = (x - 0.5) * width - (y - 0.5) * slant;
      return {
        x: 0.5 + right * cosine - (y - 0.5) * sine,
        y: 0.5 + right * sine + (y - 0.5) * cosine,
      };
    }),
  );
}

interface Covered {
  bytes: Uint8Array<ArrayBuffer>;
  size: number;
}

/** Returns the brightness of size × size pixels, each stroke moved by `offset`. */
function coverage(strokes: readonly Stroke[], offset: Point, size = side): Covered {
  const dots = size * fine;
  const covered = new Uint8Array(dots * dots);
  const radius = (pen / 2) * fine;
  const place = ({ x, y }: Point) => ({ x: (x + offset.x) * fine, y: (y + offset.y) * fine });
  for (const stroke of strokes) {
    for (const [i, point] of stroke.entries()) {
      const to = place(point);
      const from = place(stroke[Math.max(0, i - 1)]!);
      cover(covered, dots, from, to, radius);
    }
  }
  const bytes = new Uint8Array(size * size);
  for (let y = 0; y < dots; y++) {
    for (let x = 0; x < dots; x++) {
      const at = Math.floor(y / fine) * size + Math.floor(x / fine);
      bytes[at]! += covered[y * dots + x]!;
    }
  }
  return { bytes: bytes.map((count) => Math.round((255 * count) / fine ** 2)), size };
}

/** Marks the dots within `radius` of a line. */
function cover(covered: Uint8Array, dots: number, from: Point, to: Point, radius: number): void {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const within = (value: number) => Math.max(0, Math.min(dots - 1, value));
  const low = (a: number, b: number) => within(Math.floor(Math.min(a, b) - radius));
  const high = (a: number, b: number) => within(Math.ceil(Math.max(a, b) + radius));
  for (let y = low(from.y, to.y); y <= high(from.y, to.y); y++) {
    for (let x = low(from.x, to.x); x <= high(from.x, to.x); x++) {
      const [px, py] = [x + 0.5 - from.x, y + 0.5 - from.y];
      const along = length > 0 ? Math.max(0, Math.min(1, (px * dx + py * dy) / length)) : 0;
      const [ex, ey] = [px - along * dx, py - along * dy];
      if (ex * ex + ey * ey <= radius * radius) covered[y * dots + x] = 1;
    }
  }
}

function centerOf({ bytes, size }: Covered): Point {
  let [sum, x, y] = [0, 0, 0];
  for (const [i, byte] of bytes.entries()) {
    sum += byte;
    x += byte * ((i % size) + 0.5);
    y += byte * (Math.floor(i / size) + 0.5);
  }
  return sum > 0 ? { x: x / sum, y: y / sum } : { x: size / 2, y: size / 2 };
}

/** Strokes in a link: "12.34_13.40" for two points in hundredths; strokes are separated by "~". */
export const strokesText = (strokes: readonly Stroke[]): string =>
  strokes
    .map((stroke) => stroke.map(({ x, y }) => `${hundredths(x)}.${hundredths(y)}`).join('_'))
    .join('~');

const hundredths = (value: number) => Math.round(100 * value);

/** Reads strokes from a link; skips malformed points. */
export function strokesIn(text: string): Stroke[] {
  return text
    .split('~')
    .map((stroke) =>
      stroke.split('_').flatMap((point) => {
        const [, x, y] = /^(\d{1,3})\.(\d{1,3})$/.exec(point) ?? [];
        if (x === undefined || y === undefined) return [];
        return [{ x: Math.min(1, Number(x) / 100), y: Math.min(1, Number(y) / 100) }];
      }),
    )
    .filter((stroke) => stroke.length > 0);
}

/**
 * Returns a copy of a picture [height, width, channels] in which a part is black: a patch that is
 * wiped. Sizes are in pixels.
 */
export function wiped<Picture extends { width: number; height: number; data: Uint8Array }>(
  picture: Picture,
  part: { left: number; top: number; width: number; height: number },
): Picture {
  const { width, height, data } = picture;
  const channels = data.length / (width * height);
  const copy = data.slice();
  const bottom = Math.min(height, Math.round(part.top + part.height));
  const right = Math.min(width, Math.round(part.left + part.width));
  for (let y = Math.max(0, Math.round(part.top)); y < bottom; y++) {
    const left = Math.max(0, Math.round(part.left));
    copy.fill(0, (y * width + left) * channels, (y * width + right) * channels);
  }
  return { ...picture, data: copy };
}
