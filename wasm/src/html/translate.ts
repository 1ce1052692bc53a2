import type { GlassformerError, TranslateOptions, Translator } from '../index.js';
import { checkOption, checkOptions } from '../base/checks.js';
import { escapeText } from './entities.js';
import { keptPattern } from './kept.js';
import { place } from './place.js';
import { changeAttributes } from './scan.js';
import { segment, segmentText, segmentValue } from './segments.js';
import type { Run } from './segments.js';

/** Options of a translation of text: those of `Translator.translate`, and what it keeps. */
export interface TranslateTextOptions extends Pick<
  TranslateOptions,
  'beams' | 'lengthPenalty' | 'earlyStopping' | 'maxLength' | 'from' | 'to' | 'signal'
> {
  /**
   * More patterns of parts that stay as they are, such as `/@\w+/` for names of users. Their flags
   * are ignored.
   */
  keep?: readonly RegExp[] | undefined;
}

/** Options of a translation of HTML. */
export interface TranslateHtmlOptions extends TranslateTextOptions {
  /** Names of attributes whose values are translated, such as `alt` and `title`. Default: none. */
  attributes?: readonly string[] | undefined;
}

const textOptions = [
  'beams',
  'lengthPenalty',
  'earlyStopping',
  'maxLength',
  'from',
  'to',
  'signal',
  'keep',
] as const satisfies readonly (keyof TranslateTextOptions)[];

function patternsOf({ keep = [] }: TranslateTextOptions): RegExp {
  const are = Array.isArray(keep) && keep.every((each) => each instanceof RegExp);
  checkOption(are, 'keep', 'an array of regular expressions');
  return keptPattern(keep);
}

function checkInput(name: string, value: unknown): void {
  checkOption(typeof value === 'string', name, 'a string');
}

// Returns the translation of a run, as `write` writes text. A run without letters stays as it is.
async function translateRun(
  translator: Translator,
  run: Run,
  options: TranslateTextOptions,
  write: (text: string) => string,
): Promise<string> {
  const { text, marks, atoms, before, after } = run;
  let words = '';
  let from = 0;
  for (const { start, end } of atoms.values()) {
    words += text.slice(from, start);
    from = end;
  }
  if (!/\p{L}/u.test(words + text.slice(from))) return run.raw;
  const { keep: _, ...others } = options as TranslateHtmlOptions;
  delete others.attributes;
  try {
    const { text: target, sentences } = await translator.translate(text, {
      ...others,
      alignment: true,
    });
    const links = sentences.flatMap(({ alignment }) => alignment);
    return before + place(marks, text, target, links, atoms, write) + after;
  } catch (error) {
    if ((error as GlassformerError).code === 'empty_input') return run.raw;
    throw error;
  }
}

/**
 * Translates a text and keeps its placeholders (`{name}`, `{{name}}`, `${name}`, `%s`, `%1$d`), URLs
 * and e-mail addresses: each of them is in the translation once. Throws the errors of
 * `Translator.translate`.
 */
export async function translateText(
  translator: Translator,
  text: string,
  options: TranslateTextOptions = {},
): Promise<string> {
  checkOptions(options, textOptions, 'translateText');
  checkInput('text', text);
  const run = segmentText(text, patternsOf(options));
  return translateRun(translator, run, options, (part) => part);
}

/**
 * Translates the text of some HTML, a document or a part of one. Tags stay as they are, around the
 * words that were translated from theirs, in proper order; each of them is in the result once. The
 * text of `code`, `pre`, `script`, `style`, `textarea` and other such elements, and of elements with
 * `translate="no"` or the class `notranslate`, is not translated. Placeholders and addresses are kept
 * as by `translateText`. Tags without a partner, and those that cross others, stay where they are, and
 * the text between them is translated in parts. Any text is accepted. Throws the errors of
 * `Translator.translate`.
 */
export async function translateHtml(
  translator: Translator,
  html: string,
  options: TranslateHtmlOptions = {},
): Promise<string> {
  checkOptions(options, [...textOptions, 'attributes'], 'translateHtml');
  checkInput('html', html);
  const { attributes = [] } = options;
  const are = Array.isArray(attributes) && attributes.every((name) => typeof name === 'string');
  checkOption(are, 'attributes', 'an array of names');
  const pattern = patternsOf(options);

  // Values of attributes are translated first, and their places found again by their order.
  const values: string[] = [];
  const collect = (raw: string): string => {
    changeAttributes(raw, (name, value) => {
      if (attributes.includes(name)) values.push(value);
      return undefined;
    });
    return raw;
  };
  if (attributes.length > 0) segment(html, pattern, collect);
  const translated: string[] = [];
  for (const value of values) {
    const run = segmentValue(value, pattern);
    translated.push(await translateRun(translator, run, options, escapeText));
  }
  let next = 0;
  const replace = (raw: string): string =>
    changeAttributes(raw, (name) => (attributes.includes(name) ? translated[next++]! : undefined));

  let output = '';
  for (const part of segment(html, pattern, replace)) {
    output +=
      typeof part === 'string' ? part : await translateRun(translator, part, options, escapeText);
  }
  return output;
}
