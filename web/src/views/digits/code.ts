import type { Picture } from '../../panels/pictures/patches.ts';

/** Returns JavaScript that reads the same drawing, in a page or in Node. */
export function digitCode({ width, height, data }: Picture): string {
  const packed = btoa(String.fromCharCode(...data));
  return `import { ImageClassifier } from 'glassformer';

const classifier = await ImageClassifier.load('models/digits', { compute: 'f32' });
// Your drawing: ${width} × ${height} bytes of gray, row by row. A Blob or an ImageData works, too.
const packed = '${packed}';
const data = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
const picture = { width: ${width}, height: ${height}, data };
const { label, score, attention, grid } = await classifier.classify(picture, { attention: true });`;
}

/** The same for a picture of the visitor's, whose pixels would be too many to print. */
export const pictureCode = `import { ImageClassifier } from 'glassformer';

const classifier = await ImageClassifier.load('models/digits', { compute: 'f32' });
// \`picture\`: a Blob or File in a page; anywhere, { width, height, data } with its bytes.
const { label, score, attention, grid } = await classifier.classify(picture, { attention: true });`;
