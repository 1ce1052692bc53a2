import { concat } from './bytes.js';
import { GlassformerError, abortedError, messageOf, throwIfAborted } from './errors.js';
import type { ErrorCode } from './errors.js';
import { nodeModule } from './node.js';

/** A file: its absolute URL, or its bytes. */
export type Source = string | Uint8Array;

export interface FetchOptions {
  signal?: AbortSignal | undefined;
  /** Most milliseconds to wait for the next byte. */
  timeout?: number | undefined;
  /** Asks the server itself, whatever a cache on the way holds. */
  reload?: boolean;
}

/** The response to a GET, refused where it cannot be the file that was asked for. */
export async function fetchFile(
  url: string,
  { signal, timeout, reload = false }: FetchOptions = {},
): Promise<Response> {
  const init: RequestInit = {};
  if (signal) init.signal = signal;
  if (reload) init.cache = 'reload';
  let response;
  try {
    response = await within(timeout, url, fetch(url, init));
  } catch (error) {
    throw readError(url, error, signal);
  }
  const { status } = response;
  if (!response.ok) {
    throw new GlassformerError('http_error', `${url}: HTTP status ${status}`, { url, status });
  }
  // Single-page servers answer a missing file with their index page and status 200.
  const type = response.headers.get('content-type') ?? '';
  if (/^\s*(text\/html|application\/xhtml)/i.test(type)) {
    throw new GlassformerError(
      'wrong_content_type',
      `${url}: the server sent "${type}", a web page instead of the file`,
      { url },
    );
  }
  return response;
}

/** What `arrival` gives, or a `timeout` error where it takes longer than so many milliseconds. */
function within<T>(timeout: number | undefined, url: string, arrival: Promise<T>): Promise<T> {
  if (timeout === undefined) return arrival;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `${url}: not a byte came for ${timeout} ms`;
      reject(new GlassformerError('timeout', message, { url }));
    }, timeout);
    void arrival.then(resolve, reject).then(() => clearTimeout(timer));
  });
}

/** What an exception during reading means. */
export function readError(url: string, error: unknown, signal?: AbortSignal): GlassformerError {
  if (signal?.aborted) return abortedError(signal);
  if (error instanceof GlassformerError) return error;
  const details = { cause: error, url };
  if ((error as { code?: unknown } | undefined)?.code === 'ENOENT') {
    return new GlassformerError('missing_file', `${url}: no such file`, details);
  }
  return new GlassformerError('fetch_failed', `${url}: ${messageOf(error)}`, details);
}

/** Whether an error says that a file is not there, or cannot be reached. */
export function isAbsence(error: unknown): boolean {
  const { code } = error as GlassformerError;
  return (
    code === 'missing_file' ||
    code === 'http_error' ||
    code === 'wrong_content_type' ||
    code === 'fetch_failed'
  );
}

/** The bytes of a file, from front to back. */
export interface Chunks {
  /** Length of the file, where it is known for sure. */
  total: number | undefined;
  /** The next bytes, of any length; undefined at the end. They are valid until the next call. */
  next(): Promise<Uint8Array | undefined>;
  close(): void;
}

/** The file at a URL. */
export async function openUrl(url: string, options: FetchOptions): Promise<Chunks> {
  if (url.startsWith('file:')) {
    const fs = nodeModule('node:fs');
    if (fs) return openPath(fs, url, options.signal);
  }
  const response = await fetchFile(url, options);
  const chunks = openResponse(url, response, options.timeout);
  // Content-Length counts compressed bytes where the body is compressed, and responses from other
  // origins hide whether it is.
  const { headers, type } = response;
  const length = headers.get('content-length') ?? '';
  const known = type === 'basic' && !headers.has('content-encoding') && /^\d+$/.test(length);
  return known ? { ...chunks, total: Number(length) } : chunks;
}

/** A response's body. */
export function openResponse(url: string, { body }: Response, timeout?: number): Chunks {
  const reader = body?.getReader();
  return {
    total: undefined,
    async next() {
      return reader && (await within(timeout, url, reader.read())).value;
    },
    close() {
      // Cancelling a body that has failed rejects; the failure was reported where it was read.
      reader?.cancel().catch(() => {});
    },
  };
}

const nodeChunkBytes = 1 << 18;

async function openPath(
  fs: NonNullable<ReturnType<typeof nodeModule<'node:fs'>>>,
  url: string,
  signal: AbortSignal | undefined,
): Promise<Chunks> {
  const handle = await fs.promises.open(new URL(url));
  const stat = await handle.stat();
  const buffer = new Uint8Array(nodeChunkBytes);
  return {
    total: stat.isFile() ? stat.size : undefined,
    async next() {
      throwIfAborted(signal);
      const { bytesRead } = await handle.read(buffer);
      return bytesRead > 0 ? buffer.subarray(0, bytesRead) : undefined;
    },
    close() {
      void handle.close();
    },
  };
}

/** Bytes that are in hand. */
export function openBytes(bytes: Uint8Array): Chunks {
  let rest: Uint8Array | undefined = bytes;
  return {
    total: bytes.length,
    async next() {
      const chunk = rest;
      rest = undefined;
      return chunk;
    },
    close() {},
  };
}

/** Reads one file of a model from front to back. */
export class ModelFileReader {
  /** The file's URL; for bytes in hand, its name. */
  readonly name: string;
  /** Hears how many bytes have come so far, and at last that this was all. */
  onBytes: (loaded: number, ended: boolean) => void = () => {};
  /** Where it is set, all bytes that are read are added. */
  gathered: Uint8Array[] | undefined;
  readonly #chunks: Chunks;
  readonly #signal: AbortSignal;
  #rest = new Uint8Array(0) as Uint8Array;
  #loaded = 0;

  constructor(name: string, chunks: Chunks, signal: AbortSignal) {
    this.name = name;
    this.#chunks = chunks;
    this.#signal = signal;
  }

  /** Length of the file, where it is known for sure. */
  get total(): number | undefined {
    return this.#chunks.total;
  }

  /**
   * Hands the next `size` bytes to `sink`, piece by piece with each piece's place among them.
   * Returns how many there were: fewer than `size` at the end of the file.
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

  /** The next `size` bytes, or as many as there are. */
  async bytes(size: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    await this.read(size, (chunk) => parts.push(chunk.slice()));
    return concat(parts);
  }

  /** The bytes of a file that may have at most `limit`; where it has more, an error of this code. */
  async all(limit: number, code: ErrorCode): Promise<Uint8Array> {
    const bytes = await this.bytes(limit + 1);
    if (bytes.length <= limit) return bytes;
    throw new GlassformerError(code, `${this.name}: expected at most ${limit} bytes, got more`);
  }

  close(): void {
    this.#chunks.close();
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
