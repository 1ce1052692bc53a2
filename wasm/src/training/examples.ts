import { checkOption, isA } from '../base/checks.js';
import { GlassformerError } from '../base/errors.js';
import type { Examples, LabeledText } from './options.js';

/** Returns examples as the engine reads them: a label, a tab and a text per line, in UTF-8. */
export async function encodeExamples(examples: Examples): Promise<Uint8Array> {
  if (typeof examples === 'string') return new TextEncoder().encode(examples);
  if (isA(examples, 'Uint8Array')) return examples as Uint8Array;
  if (isA(examples, 'File') || isA(examples, 'Blob')) {
    return new Uint8Array(await (examples as Blob).arrayBuffer());
  }
  checkOption(
    Array.isArray(examples),
    'examples',
    'an array of { text, label }, a string or a file',
  );
  const lines = Array.from(examples as readonly LabeledText[], toLine);
  return new TextEncoder().encode(lines.join(''));
}

// A line break in a text becomes a space, which every tokenizer reads as the same.
function toLine(example: unknown, index: number): string {
  const { text, label } = (example ?? {}) as Partial<LabeledText>;
  const place = `examples[${index}]`;
  checkOption(typeof text === 'string' && typeof label === 'string', place, '{ text, label }');
  if (/[\t\r\n]/.test(label!)) {
    const what = `expected a label without tabs and line breaks, got ${JSON.stringify(label)}`;
    throw new GlassformerError('invalid_data', `${place}: ${what}`);
  }
  return `${label}\t${text!.replace(/[\r\n]+/g, ' ')}\n`;
}
