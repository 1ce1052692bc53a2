/** The estimates of a transplant by gradients, compared with the measured changes. */
import { decimals } from '../../ui/text/format.ts';
import { deltaAt, type Carried, type TransplantTable } from './transplant.ts';

/** A cell with both numbers. */
export interface PreviewedCell extends Carried {
  estimate: number;
  measured: number;
}

/** Returns the cells with both numbers whose vectors differ between the texts. */
export function previewedCells(
  estimates: TransplantTable,
  measured: TransplantTable,
): PreviewedCell[] {
  const [rows = 0, cells = 0] = measured.delta.shape;
  const all = Array.from({ length: rows * cells }, (_, i) => {
    const at = { row: Math.floor(i / cells), cell: i % cells };
    return { ...at, estimate: deltaAt(estimates, at), measured: deltaAt(measured, at) };
  });
  return all.filter(
    ({ estimate, measured }) =>
      // The change is exactly 0 if both texts have the same vector.
      Number.isFinite(estimate) && Number.isFinite(measured) && measured !== 0,
  );
}

/** Returns Pearson's correlation of the two numbers; undefined if one of them does not vary. */
export function correlation(cells: readonly PreviewedCell[]): number | undefined {
  const mean = (of: (cell: PreviewedCell) => number) =>
    cells.reduce((sum, cell) => sum + of(cell), 0) / cells.length;
  const [x, y] = [mean(({ estimate }) => estimate), mean(({ measured }) => measured)];
  const product = mean(({ estimate, measured }) => (estimate - x) * (measured - y));
  const ofX = mean(({ estimate }) => (estimate - x) ** 2);
  const ofY = mean(({ measured }) => (measured - y) ** 2);
  return ofX > 0 && ofY > 0 ? product / Math.sqrt(ofX * ofY) : undefined;
}

/** States the correlation in a sentence. */
export function correlationTold(cells: readonly PreviewedCell[]): string {
  const found = cells.length >= 3 ? correlation(cells) : undefined;
  return found === undefined
    ? 'Too few vectors differ to compare the estimates with Δ.'
    : `The correlation of the estimates with Δ is ${decimals(2)(found)}, over ${cells.length} cells.`;
}
