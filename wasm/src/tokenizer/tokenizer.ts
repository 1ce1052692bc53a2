import { GlassformerError, openModel, openOptions } from '../index.js';
import type { Encoding, LoadOptions, ModelFiles } from '../index.js';
import { checkOption, checkOptions, isA } from '../base/checks.js';
import { nodeModule } from '../base/node.js';
import { takeTextOrPair } from '../engine/input.js';
import { encodeOptions } from '../model/encode.js';

/** Options of `load`, except those of models. */
export type TokenizerLoadOptions = Omit<LoadOptions, 'compute' | 'threads' | 'untrained'>;

/** Facts about a tokenizer. */
export interface TokenizerInfo {
  /** The number of tokens in the vocabulary of the texts that are encoded. */
  size: number;
  /** The codes of the languages that a tokenizer of many languages knows; empty for others. */
  languages: string[];
}

export interface EncodeOptions {
  /** A second text, for models that read two together. */
  pair?: string | undefined;
  /** Adds the tokens that the model expects around its texts. Default: true. */
  specialTokens?: boolean | undefined;
  /**
   * The maximum number of tokens, special ones included. Of two texts, the longer one loses its last
   * token until both fit; a text loses its first tokens if the tokenizer's files say so. Default: no
   * limit.
   */
  maxLength?: number | undefined;
  /** The language of the text, one of `info.languages`. Default: the one that the files name. */
  language?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface DecodeOptions {
  /** Keeps the names of special tokens, such as `</s>`. Default: false. */
  specialTokens?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

type Opened = Awaited<ReturnType<typeof openModel<TokenizerInfo>>>;

// Throws `missing_file` for a folder on a disk that does not exist. The engine cannot tell it from a
// folder without a tokenizer.
async function expectFolder(folder: string | URL | ModelFiles): Promise<void> {
  if (typeof folder !== 'string' && !isA(folder, 'URL')) return;
  const location = String(folder);
  const isPath = !/^[a-z][a-z\d+.-]+:/i.test(location);
  const url = isPath ? nodeModule('node:url')?.pathToFileURL(location) : new URL(location);
  if (url?.protocol !== 'file:') return;
  await nodeModule('node:fs')
    ?.promises.readdir(url)
    .catch((error: { code?: unknown }) => {
      if (error.code !== 'ENOENT') return;
      const details = { cause: error, url: url.href };
      throw new GlassformerError('missing_file', `${url.href}: no such file`, details);
    });
}

/**
 * The tokenizer of a model, without the model. If a translator has two vocabularies, texts are encoded
 * with that of the source, and decoded with that of the translations. Like a model, it runs in a
 * worker if the runtime has workers, until it is disposed of.
 */
export class Tokenizer {
  readonly info: TokenizerInfo;
  readonly #session: Opened['session'];

  private constructor({ session, info: { size, languages } }: Opened) {
    this.#session = session;
    this.info = { size, languages };
  }

  /**
   * Loads the tokenizer of a folder, which is given as for `Classifier.load`. Only the tokenizer's
   * files and config.json are read; config.json and the weights may be missing. The model may be of a
   * kind that `load` does not open. Throws `missing_file`, `invalid_tokenizer`, `unsupported`, and the
   * errors of downloads.
   */
  static async load(
    folder: string | URL | ModelFiles,
    options: TokenizerLoadOptions = {},
  ): Promise<Tokenizer> {
    checkOptions(options, openOptions, 'load');
    const opened = openModel<TokenizerInfo>('tokenization', folder, { ...options, threads: 1 });
    const failed = async (error: unknown): Promise<never> => {
      await expectFolder(folder);
      throw error;
    };
    return new Tokenizer(await opened.catch(failed));
  }

  /** The number of tokens in the vocabulary of the texts that are encoded. */
  get size(): number {
    return this.info.size;
  }

  /**
   * Converts a text to tokens. A text without tokens has only the special ones. Throws `too_large`
   * for a text over 16 MiB, `unsupported` for a pair if the model reads one text, and
   * `invalid_option` for a language that does not exist or a `maxLength` below the number of special
   * tokens.
   */
  async encode(text: string, options: EncodeOptions = {}): Promise<Encoding> {
    const known = ['pair', 'specialTokens', 'maxLength', 'language', 'signal'];
    checkOptions(options, known, 'encode');
    const { pair, ...others } = options;
    checkOption(['undefined', 'string'].includes(typeof pair), 'pair', 'a string');
    const input = takeTextOrPair(pair === undefined ? text : { text, pair });
    const encoded = encodeOptions(others, known, 'encode');
    return (await this.#session.results<Encoding>([input], encoded, options.signal))[0]!;
  }

  /** Converts tokens to a text. Throws `invalid_option` for an id outside the vocabulary. */
  async decode(ids: Iterable<number>, options: DecodeOptions = {}): Promise<string> {
    const isList = typeof ids === 'object' && ids !== null && Symbol.iterator in ids;
    checkOption(isList, 'ids', 'an array of token ids');
    const known = ['specialTokens', 'signal'];
    const fixed = { decode: Array.from(ids), specialTokens: options.specialTokens ?? false };
    const encoded = encodeOptions(options, known, 'decode', fixed);
    return (await this.#session.results<{ text: string }>([''], encoded, options.signal))[0]!.text;
  }

  /** Ends the worker and frees the tokenizer. Calls in progress reject with `disposed`. */
  dispose(): void {
    this.#session.dispose();
  }
}

// Symbol.dispose, for `using`, is newer than the oldest runtimes that the package supports.
export interface Tokenizer {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) Tokenizer.prototype[Symbol.dispose] = Tokenizer.prototype.dispose;
