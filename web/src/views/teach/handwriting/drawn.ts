/** Drawn digits with their labels: those to begin with, in a link, and those that are not taught. */
import type { LabeledPicture, Pixels } from 'glassformer';
import { examples } from '../../../panels/pictures/digits.ts';
import {
  inForm,
  pictureOf,
  side,
  strokesIn,
  strokesText,
  type Form,
  type Stroke,
} from '../../../panels/pictures/drawing.ts';

export interface Drawn {
  strokes: readonly Stroke[];
  label: string;
}

export const labels: readonly string[] = examples.map(({ name }) => name);

export const pixelsOf = (strokes: readonly Stroke[]): Pixels => ({
  width: side,
  height: side,
  data: pictureOf(strokes),
});

export const exampleOf = ({ strokes, label }: Drawn): LabeledPicture => ({
  picture: pixelsOf(strokes),
  label,
});

/** Digits that the shipped model gets wrong: a long upstroke, a bar, a thin form. */
export const firstDrawn: readonly Drawn[] = [
  ['1', '20.58_34.40_52.16_52.50_52.86'],
  ['1', '18.52_52.16_53.50_53.86'],
  ['0', '50.15_30.28_26.52_32.78_50.85_70.76_74.50_70.26_50.15~82.10_18.92'],
  ['0', '50.12_42.30_42.68_50.88_58.68_58.30_50.12'],
].map(([label, strokes]) => ({ label: label!, strokes: strokesIn(strokes!) }));

/** The page's ten digits in other forms. */
const inForms = (forms: readonly Form[]): Drawn[] =>
  examples.flatMap(({ name, strokes }) =>
    forms.map((form) => ({ label: name, strokes: inForm(strokesIn(strokes), form) })),
  );

/** Digits that show what a lesson changes besides the taught ones. */
export const probes: readonly Drawn[] = inForms([
  {},
  { slant: 0.25 },
  { turn: -12 },
  { width: 0.75 },
  { turn: 10, width: 1.15 },
]);

/** Digits that the model may rehearse, so that it forgets less. None is a probe. */
export const rehearsals: readonly Drawn[] = inForms([{ slant: -0.2 }, { turn: 8 }, { width: 1.2 }]);

/** Drawings in a link: "7:28.20_46.19*0:50.15_38.20" for a seven and a zero. */
export const digitsOf = (rows: readonly Drawn[]): string =>
  rows.map(({ label, strokes }) => `${label}:${strokesText(strokes)}`).join('*');

/** Returns the drawings of a link; undefined if no drawing can be read. */
export function drawnIn(text: string): Drawn[] | undefined {
  const rows = text.split('*').flatMap((part) => {
    const [, label, drawing] = /^(\d):(.+)$/.exec(part) ?? [];
    const strokes = strokesIn(drawing ?? '');
    return label !== undefined && strokes.length > 0 ? [{ label, strokes }] : [];
  });
  return rows.length > 0 ? rows : undefined;
}
