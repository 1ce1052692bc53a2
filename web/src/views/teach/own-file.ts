/** Describes a visitor's file of examples before the training. */
import { count, counted } from '../../ui/text/format.ts';

export interface OwnFile {
  name: string;
  /** What it holds, or why it cannot be learned from. */
  told: string;
  usable: boolean;
}

/** More labels than this, of which most stand on one line, are texts in the labels' place. */
const manyLabels = 20;
/** The most labels that are named. */
const most = 8;

/** Reads a file of lines: a label, a tab and a text. */
export function readOwnFile(name: string, text: string): OwnFile {
  const told = (told: string, usable = false): OwnFile => ({ name, told, usable });
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line.trim() !== '');
  if (lines.length === 0) return told('The file has no lines.');
  const without = lines.find(({ line }) => !line.includes('\t'));
  if (without) {
    const { number, line } = without;
    const csv = line.includes(',') ? ' Save a table of commas as “text, with tabs” first.' : '';
    return told(`Line ${number} has no tab: each line needs a label, a tab and a text.${csv}`);
  }
  const labels = new Map<string, number>();
  for (const { line } of lines) {
    const label = line.slice(0, line.indexOf('\t')).trim();
    labels.set(label, (labels.get(label) ?? 0) + 1);
  }
  const sorted = [...labels].sort(([, a], [, b]) => b - a);
  const named = sorted.slice(0, most).map(([label, times]) => `“${label}” ${count(times)}`);
  const rest = sorted.length > most ? ` and ${count(sorted.length - most)} more` : '';
  const holds = `${counted(lines.length, 'line')}, ${counted(labels.size, 'label')}: ${named.join(', ')}${rest}.`;
  if (labels.size < 2) return told(`${holds} There must be at least two labels.`);
  if (labels.size > manyLabels && 2 * labels.size > lines.length)
    return told(`${holds} Most labels stand on one line only: is the label before the tab?`);
  return told(holds, true);
}
