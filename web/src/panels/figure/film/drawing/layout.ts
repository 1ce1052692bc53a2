/** Where the parts of a film stand, in units of the film. */

/** A column of vectors, or a box. */
export interface Column {
  x: number;
  width: number;
}

export interface Layout {
  width: number;
  height: number;
  /** Pixels per unit. */
  scale: number;
  /** Whether the picture is wider than high. */
  wide: boolean;
  /** The rows of the figure: one per stack, only that of the present one, or none. */
  map: { top: number; rowHeight: number; rows: number; left: number; right: number };
  /** Where the vectors and the boxes are. */
  top: number;
  bottom: number;
  label: Column;
  before: Column;
  box: Column;
  after: Column;
  caption: { top: number; width: number; title: number; text: number; lines: number };
}

/** The least height, in CSS pixels, in which a wide picture has room for the figure. */
const leastForMap = 430;

/**
 * Returns the places in a picture of this size, of a model with this number of stacks. `ratio` is the
 * number of its pixels per CSS pixel.
 */
export function layoutOf(
  { width, height, ratio }: { width: number; height: number; ratio: number },
  stacks: number,
): Layout {
  const wide = width > 1.1 * height;
  const low = wide && height / ratio < leastForMap;
  const scale = wide
    ? Math.min(width / 1200, height / (low ? 480 : 700))
    : Math.min(width / 390, height / 620);
  const own = { width: width / scale, height: height / scale, scale, wide };
  const rows = low ? 0 : wide ? stacks : 1;
  const inner = wide ? 1140 : 366;
  const left = (own.width - inner) / 2;
  const side = wide ? 36 : 12;
  const rowHeight = wide ? (stacks > 1 ? 80 : 88) : 86;
  const map = { top: wide ? 20 : 10, rowHeight, rows, left: side, right: own.width - side };
  const captionTop = own.height - (low ? 104 : wide ? 128 : 160);
  const column = (x: number, columnWidth: number): Column => ({ x: left + x, width: columnWidth });
  const columns = wide
    ? {
        label: column(0, 150),
        before: column(170, 200),
        box: column(438, 330),
        after: column(836, 200),
      }
    : {
        label: column(0, 66),
        before: column(72, 70),
        box: column(156, 130),
        after: column(298, 68),
      };
  return {
    ...own,
    ...columns,
    map,
    top: map.top + rows * rowHeight + (wide ? 14 : 6),
    bottom: captionTop - (wide ? 16 : 10),
    caption: {
      top: captionTop,
      ...(wide
        ? { width: Math.min(1040, own.width - 80), title: 16, text: 25, lines: 2 }
        : { width: own.width - 36, title: 13, text: 18, lines: 5 }),
    },
  };
}
