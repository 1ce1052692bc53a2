import { concat } from '../base/bytes.js';
import { checkOption, isA } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import type { Picture } from '../engine/input.js';
import { pictureKind } from '../model/pictures.js';
import type { Examples, LabeledPicture, LabeledText } from './options.js';

/**
 * Returns examples as the engine reads them: a label and a text, or two, per line, with tabs between
 * them, in UTF-8; or pictures in the format IDX, followed by a label per line.
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
  const some = examples as readonly Partial<LabeledText & LabeledPicture>[];
  if (some.some((each) => each?.picture !== undefined)) return encodePictures(some);
  const pairs = some[0]?.pair !== undefined;
  return new TextEncoder().encode(Array.from(some, (each, i) => toLine(each, i, pairs)).join(''));
}

/** Returns whether encoded examples are pictures. */
export function holdsPictures([first, second, type]: Uint8Array): boolean {
  return first === 0 && second === 0 && type === idxBytes;
}

/** The type of numbers in an IDX file. */
const idxBytes = 8;

async function encodePictures(examples: readonly Partial<LabeledPicture>[]): Promise<Uint8Array> {
  const pictures: Picture[] = [];
  const labels: string[] = [];
  for (const [index, example] of examples.entries()) {
    const place = `examples[${index}]`;
    const { picture, label } = example ?? {};
    checkOption(picture !== undefined, place, '{ picture, label }');
    checkFields(example!, ['picture', 'label'], place);
    labels.push(`${checkedLabel(label, place)}\n`);
    const one = (await pictureKind.take(picture, `${place}.picture`)) as Picture;
    const { width, height } = pictures[0] ?? one;
    const sizes = `${width} x ${height} pixels as the first, got ${one.width} x ${one.height}`;
    checkOption(one.width === width && one.height === height, `${place}.picture`, sizes);
    pictures.push(one);
  }
  const { width, height } = pictures[0]!;
  const gray = pictures.every(({ channels }) => channels === 1);
  const sizes = [pictures.length, height, width, ...(gray ? [] : [3])];
  const header = new DataView(new ArrayBuffer(4 + 4 * sizes.length));
  header.setUint32(0, (idxBytes << 8) + sizes.length);
  for (const [i, size] of sizes.entries()) header.setUint32(4 + 4 * i, size);
  return concat([
    new Uint8Array(header.buffer),
    ...pictures.map((picture) => (gray ? picture.bytes : colorsOf(picture))),
    new TextEncoder().encode(labels.join('')),
  ]);
}

// Returns red, green and blue of each pixel.
function colorsOf({ bytes, channels }: Picture): Uint8Array {
  if (channels === 3) return bytes;
  const colors = new Uint8Array((bytes.length / channels) * 3);
  for (let i = 0; i < colors.length; i++) {
    const pixel = Math.floor(i / 3);
    colors[i] = bytes[channels === 1 ? pixel : pixel * channels + (i % 3)]!;
  }
  return colors;
}

function checkedLabel(label: unknown, place: string): string {
  checkOption(typeof label === 'string', `${place}.label`, 'a string');
  if (!/[\t\r\n]|\p{Surrogate}/u.test(label as string)) return label as string;
  const whole = 'a label of whole characters, without tabs and line breaks';
  const what = `expected ${whole}, got ${JSON.stringify(label)}`;
  throw new GlassformerError('invalid_data', `${place}: ${what}`);
}

function checkFields(example: object, known: readonly string[], place: string): void {
  for (const name of Object.keys(example))
    if (!known.includes(name))
      throw new GlassformerError('invalid_option', `${place}: unknown field "${name}"`);
}

// A line break or a tab in a text becomes a space. `pairs`: the first example has two texts.
function toLine(example: Partial<LabeledText> | undefined, index: number, pairs: boolean): string {
  const { text, pair, label } = example ?? {};
  const place = `examples[${index}]`;
  checkFields(example ?? {}, ['text', 'pair', 'label'], place);
  checkOption(typeof text === 'string' && typeof label === 'string', place, '{ text, label }');
  const fits = pairs ? typeof pair === 'string' : pair === undefined;
  const form = pairs ? '{ text, pair, label }' : '{ text, label }';
  checkOption(fits, place, index > 0 ? `${form} as the first` : form);
  const texts = pairs ? [text!, pair!] : [text!];
  const columns = texts.map((each) => each.replace(/[\t\r\n]+/g, ' '));
  return `${[checkedLabel(label, place), ...columns].join('\t')}\n`;
}
