import { checkOption, isA } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import { concat } from '../base/bytes.js';
import type { Picture } from '../engine/input.js';
import { pictureKind } from '../model/pictures.js';
import type { Examples, LabeledPicture, LabeledText } from './options.js';

/**
 * Returns examples as the engine reads them: a label, a tab and a text per line, in UTF-8; or pictures
 * in the format IDX, then a label per line.
 */
export async function encodeExamples(examples: Examples): Promise<Uint8Array> {
  if (typeof examples === 'string') return new TextEncoder().encode(examples);
  if (isA(examples, 'Uint8Array')) return examples as Uint8Array;
  if (isA(examples, 'File') || isA(examples, 'Blob')) {
    return new Uint8Array(await (examples as Blob).arrayBuffer());
  }
  checkOption(
    Array.isArray(examples),
    'examples',
    'an array of { text, label } or { picture, label }, a string or a file',
  );
  const listed = examples as readonly (LabeledText | LabeledPicture)[];
  if (listed.some((each) => typeof each === 'object' && each !== null && 'picture' in each)) {
    return encodePictures(examples as readonly LabeledPicture[]);
  }
  const lines = Array.from(examples as readonly LabeledText[], toLine);
  return new TextEncoder().encode(lines.join(''));
}

async function encodePictures(examples: readonly LabeledPicture[]): Promise<Uint8Array> {
  const pictures: Picture[] = [];
  for (const [index, { picture, label }] of examples.entries()) {
    const place = `examples[${index}]`;
    checkLabel(label, place);
    pictures.push((await pictureKind.take(picture, `${place}.picture`)) as Picture);
    const [first, one] = [pictures[0]!, pictures.at(-1)!];
    const same = first.width === one.width && first.height === one.height;
    const sizes = `${one.width} x ${one.height}`;
    checkOption(same, place, `${first.width} x ${first.height} pixels as the first, got ${sizes}`);
  }
  const { width, height } = pictures[0]!;
  const gray = pictures.every(({ channels }) => channels === 1);
  const dimensions = [pictures.length, height, width, ...(gray ? [] : [3])];
  const header = new DataView(new ArrayBuffer(4 + 4 * dimensions.length));
  header.setUint32(0, 0x800 + dimensions.length);
  dimensions.forEach((size, i) => header.setUint32(4 + 4 * i, size));
  const labels = examples.map(({ label }) => `${label}\n`).join('');
  return concat([
    new Uint8Array(header.buffer),
    ...pictures.map((picture) => (gray ? picture.bytes : colorsOf(picture))),
    new TextEncoder().encode(labels),
  ]);
}

/** Returns red, green and blue of each pixel. */
function colorsOf({ bytes, channels }: Picture): Uint8Array {
  if (channels === 3) return bytes;
  return Uint8Array.from({ length: (bytes.length / channels) * 3 }, (_, i) =>
    channels === 1 ? bytes[Math.floor(i / 3)]! : bytes[Math.floor(i / 3) * 4 + (i % 3)]!,
  );
}

function checkLabel(label: unknown, place: string): void {
  checkOption(typeof label === 'string', place, 'a label that is a string');
  if (!/[\t\r\n]/.test(label as string)) return;
  const what = `expected a label without tabs and line breaks, got ${JSON.stringify(label)}`;
  throw new GlassformerError('invalid_data', `${place}: ${what}`);
}

// A line break in a text becomes a space, which every tokenizer reads as the same.
function toLine(example: unknown, index: number): string {
  const { text, label } = (example ?? {}) as Partial<LabeledText>;
  const place = `examples[${index}]`;
  checkOption(typeof text === 'string' && typeof label === 'string', place, '{ text, label }');
  checkLabel(label, place);
  return `${label}\t${text!.replace(/[\r\n]+/g, ' ')}\n`;
}
