import { GlassformerError } from '../base/errors.js';
import { fetchFile } from '../base/fetch.js';
import type { FetchOptions } from '../base/fetch.js';
import { openResponse } from './response.js';
import type { Chunks } from './response.js';

/**
 * A file on a server. An interrupted download continues with a request for the rest or, if the server
 * does not support parts, with a request for the whole file, whose beginning is skipped.
 */
export class Download implements Chunks {
  total: number | undefined;
  readonly #url: string;
  readonly #options: FetchOptions;
  #body: Chunks | undefined; // of the current response
  #end = Infinity; // the end of that response, if it is only a part
  #at = 0; // bytes returned so far
  #skip = 0; // bytes of the response to skip

  constructor(url: string, options: FetchOptions) {
    this.#url = url;
    this.#options = options;
  }

  /** Requests the rest of the file, or the first `part` bytes of the rest. */
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
          break; // the file has ended
        }
      }
      const bytes = await this.#body!.next();
      if (!bytes) {
        if (this.#at < this.#end) break; // the file has ended, or the connection broke
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
    if (this.#end < Infinity) return; // a part ends by itself
    this.close();
    this.#body = undefined;
  }

  close(): void {
    this.#body?.close();
  }

  // Some servers refuse requests for parts from other origins.
  async #fetch(range: string | undefined): Promise<Response> {
    try {
      return await fetchFile(this.#url, { ...this.#options, range });
    } catch (error) {
      if (!range || (error as GlassformerError).code !== 'fetch_failed') throw error;
      return fetchFile(this.#url, this.#options);
    }
  }
}

/** Returns the length of a file from a response with a part of it, which must begin at `from`. */
function totalOf({ headers, url }: Response, from: number): number | undefined {
  const range = headers.get('content-range');
  if (range === null) return undefined; // servers of other origins may hide it
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? [];
  if (Number(first) !== from) {
    const message = `${url}: expected a part from byte ${from} on, got "${range}"`;
    throw new GlassformerError('http_error', message, { url, status: 206 });
  }
  return total === '*' ? undefined : Number(total);
}

/** Returns the length of a response, if it is certain. */
function lengthOf({ headers, type }: Response): number | undefined {
  // Content-Length counts compressed bytes if the body is compressed, which responses of other origins
  // do not tell.
  const length = headers.get('content-length') ?? '';
  const known = type === 'basic' && !headers.has('content-encoding') && /^\d+$/.test(length);
  return known ? Number(length) : undefined;
}
