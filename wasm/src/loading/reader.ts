import { concat } from '../base/bytes.js';
import type { Chunks } from './response.js';
import { GlassformerError, throwIfAborted } from '../base/errors.js';
import type { ErrorCode } from '../base/errors.js';
import { readError } from '../base/fetch.js';

/** Reads a model's file from beginning to end. */
export class ModelFileReader {
  /** The file's URL or, for a file in memory, its name. */
  readonly name: string;
  /** Called with the number of bytes read so far, and whether the file has ended. */
  onBytes: (loaded: number, ended: boolean) => void = () => {};
  /** Collects all bytes that are read, if it is set. */
  gathered: Uint8Array[] | undefined;
  readonly #chunks: Chunks;
  readonly #signal: AbortSignal;
  #rest = new Uint8Array(0) as Uint8Array;
  #loaded = 0;
  #closed = false;

  constructor(name: string, chunks: Chunks, signal: AbortSignal) {
    this.name = name;
    this.#chunks = chunks;
    this.#signal = signal;
  }

  /** Length of the file, if it is certain. */
  get total(): number | undefined {
    return this.#chunks.total;
  }

  /**
   * Passes the next `size` bytes to `sink`, in pieces, each with its offset. Returns the number of
   * bytes: less than `size` at the end of the file.
   */
  async read(size: number, sink: (chunk: Uint8Array, at: number) => void): Promise<number> {
    let at = 0;
    while (at < size) {
      if (this.#rest.length === 0 && !(await this.#fill())) break;
      const chunk = this.#rest.subarray(0, size - at);
      this.#rest = this.#rest.subarray(chunk.length);
      this.gathered?.push(chunk.slice());
      sink(chunk, at);
      at += chunk.length;
    }
    return at;
  }

  /** Returns the next `size` bytes, or as many as there are. */
  async bytes(size: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    await this.read(size, (chunk) => parts.push(chunk.slice()));
    return concat(parts);
  }

  /** Returns all bytes. Throws an error with this code if there are more than `limit`. */
  async all(limit: number, code: ErrorCode): Promise<Uint8Array> {
    const bytes = await this.bytes(limit + 1);
    if (bytes.length <= limit) return bytes;
    throw new GlassformerError(code, `${this.name}: expected at most ${limit} bytes, got more`);
  }

  /** Announces that nothing will be read for a while. */
  pause(): void {
    this.#chunks.pause?.();
  }

  close(): void {
    if (!this.#closed) this.#chunks.close();
    this.#closed = true;
  }

  async #fill(): Promise<boolean> {
    let chunk;
    try {
      chunk = await this.#chunks.next();
    } catch (error) {
      throw readError(this.name, error, this.#signal);
    }
    throwIfAborted(this.#signal);
    this.#rest = chunk ?? new Uint8Array(0);
    this.#loaded += this.#rest.length;
    this.onBytes(this.#loaded, !chunk);
    return chunk !== undefined;
  }
}
