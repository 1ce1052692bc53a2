import { GlassformerError } from '../base/errors.js';
import { fetchFile } from '../base/fetch.js';
import type { FetchOptions } from '../base/fetch.js';
import { openResponse } from './response.js';
import type { Chunks } from './response.js';

/**
 * A file of a server. It can be taken up where it was left: by a request for the rest or, where the
 * server gives no parts of files, by one for the whole, of which the beginning is skipped.
 */
export class Download implements Chunks {
  total: number | undefined;
  readonly #url: string;
  readonly #options: FetchOptions;
  #body: Chunks | undefined; // of the response that is being read
  #end = Infinity; // where that ends, if the file may go on
  #at = 0; // bytes handed out
  #skip = 0; // bytes of the response before those

  constructor(url: string, options: FetchOptions) {
    this.#url = url;
    this.#options = options;
  }

  /** Asks for what is left, or for the first `part` bytes of that. */
  async ask(part = Infinity): Promise<void> {
    const from = this.#at;
    const range = `bytes=${from}-${part < Infinity ? from + part - 1 : ''}`;
    const response = await this.#fetch(from > 0 || part < Infinity ? range : undefined);
    const partial = response.status === 206;
    const total = partial ? totalOf(response, from) : lengthOf(response);
    if (total !== undefined && this.total !== undefined && total !== this.total) {
      const sizes = `${this.total} bytes, now it has ${total}`;
      throw new GlassformerError('integrity', `${this.#url}: had ${sizes}`, { url: this.#url });
    }
    this.total ??= total;
    this.#body = openResponse(this.#url, response, this.#options.timeout);
    this.#end = partial ? from + part : Infinity;
    this.#skip = partial ? 0 : from;
  }

  async next(): Promise<Uint8Array | undefined> {
    while (this.#at !== this.total) {
      if (!this.#body) {
        try {
          await this.ask();
        } catch (error) {
          if ((error as GlassformerError).status !== 416) throw error;
          break; // there was no more
        }
      }
      const bytes = await this.#body!.next();
      if (!bytes) {
        if (this.#at < this.#end) break; // the file's end, or that of a broken connection
        this.#body = undefined;
        continue;
      }
      const skipped = Math.min(this.#skip, bytes.length);
      this.#skip -= skipped;
      this.#at += bytes.length - skipped;
      if (skipped < bytes.length) return bytes.subarray(skipped);
    }
    return undefined;
  }

  pause(): void {
    if (this.#end < Infinity) return; // a part comes to its end by itself
    this.close();
    this.#body = undefined;
  }

  close(): void {
    this.#body?.close();
  }

  // Some servers allow pages of other origins no requests for parts.
  async #fetch(range: string | undefined): Promise<Response> {
    try {
      return await fetchFile(this.#url, { ...this.#options, range });
    } catch (error) {
      if (!range || (error as GlassformerError).code !== 'fetch_failed') throw error;
      return fetchFile(this.#url, this.#options);
    }
  }
}

/** A file's length as a response with a part of it tells, which has to begin at `from`. */
function totalOf({ headers, url }: Response, from: number): number | undefined {
  const range = headers.get('content-range');
  if (range === null) return undefined; // other origins may hide it
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  if (Number(first) !== from) {
    const message = `${url}: expected a part from byte ${from} on, got "${range}"`;
    throw new GlassformerError('http_error', message, { url, status: 206 });
  }
  return total === '*' ? undefined : Number(total);
}

/** A response's length, where it is known for sure. */
function lengthOf({ headers, type }: Response): number | undefined {
  // Content-Length counts compressed bytes where the body is compressed, and responses from other
  // origins hide whether it is.
  const length = headers.get('content-length') ?? '';
  const known = type === 'basic' && !headers.has('content-encoding') && /^\d+$/.test(length);
  return known ? Number(length) : undefined;
}
