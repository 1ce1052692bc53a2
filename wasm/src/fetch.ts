import { GlassformerError, abortedError, messageOf, throwIfAborted } from './errors.js';
import { nodeModule } from './node.js';
import type { ModelFile, Progress } from './types.js';

/** A file: its absolute URL, or its bytes. */
export type Source = string | Uint8Array;

export interface ReadOptions {
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
}

/** The response to a GET, refused where it cannot be the file that was asked for. */
export async function fetchFile(url: string, signal?: AbortSignal): Promise<Response> {
  let response;
  try {
    response = await fetch(url, signal ? { signal } : {});
  } catch (error) {
    throw readError(url, error, signal);
  }
  if (!response.ok) {
    throw new GlassformerError('http_error', `${url}: HTTP status ${response.status}`);
  }
  // Single-page servers answer a missing file with their index page and status 200.
  const type = response.headers.get('content-type') ?? '';
  if (/^\s*(text\/html|application\/xhtml)/i.test(type)) {
    throw new GlassformerError(
      'wrong_content_type',
      `${url}: the server sent "${type}", a web page instead of the file`,
    );
  }
  return response;
}

/** What an exception during reading means. */
export function readError(url: string, error: unknown, signal?: AbortSignal): GlassformerError {
  if (signal?.aborted) return abortedError(signal);
  if (error instanceof GlassformerError) return error;
  if ((error as { code?: unknown } | undefined)?.code === 'ENOENT') {
    return new GlassformerError('missing_file', `${url}: no such file`, { cause: error });
  }
  return new GlassformerError('fetch_failed', `${url}: ${messageOf(error)}`, { cause: error });
}

interface Chunks {
  /** Length of the file, where it is known. */
  total: number | undefined;
  /** The next bytes, of any length; undefined at the end. They are valid until the next call. */
  next(): Promise<Uint8Array | undefined>;
  close(): void;
}

async function openUrl(url: string, signal: AbortSignal): Promise<Chunks> {
  const response = await fetchFile(url, signal);
  const { headers, body } = response;
  // Content-Length counts compressed bytes where the body is compressed. Across origins
  // Content-Encoding is hidden; ModelFileReader drops a total that turns out too small.
  const length = headers.has('content-encoding') ? null : headers.get('content-length');
  const reader = body?.getReader();
  return {
    total: length === null ? undefined : Number(length),
    async next() {
      return (await reader?.read())?.value;
    },
    close() {
      // Cancelling a body that has failed rejects; the failure was reported where it was read.
      reader?.cancel().catch(() => {});
    },
  };
}

const nodeChunkBytes = 1 << 18;

async function openPath(url: string, signal: AbortSignal): Promise<Chunks> {
  const fs = nodeModule('node:fs');
  if (!fs) return openUrl(url, signal);
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

function openBytes(bytes: Uint8Array): Chunks {
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
  readonly #name: string;
  readonly #file: ModelFile;
  readonly #chunks: Chunks;
  readonly #options: ReadOptions;
  #rest = new Uint8Array(0) as Uint8Array;
  #loaded = 0;

  private constructor(name: string, file: ModelFile, chunks: Chunks, options: ReadOptions) {
    this.#name = name;
    this.#file = file;
    this.#chunks = chunks;
    this.#options = options;
  }

  static async open(
    file: ModelFile,
    source: Source | undefined,
    options: ReadOptions,
  ): Promise<ModelFileReader> {
    if (source === undefined) {
      throw new GlassformerError('missing_file', `${file} is not among the model's files`);
    }
    if (typeof source !== 'string') {
      return new ModelFileReader(file, file, openBytes(source), options);
    }
    const open = source.startsWith('file:') ? openPath : openUrl;
    try {
      return new ModelFileReader(source, file, await open(source, options.signal), options);
    } catch (error) {
      throw readError(source, error, options.signal);
    }
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
      sink(chunk, at);
      at += chunk.length;
    }
    return at;
  }

  /** The next `size` bytes, or as many as there are. */
  async bytes(size: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    const length = await this.read(size, (chunk) => parts.push(chunk.slice()));
    const all = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  close(): void {
    this.#chunks.close();
  }

  async #fill(): Promise<boolean> {
    const { signal, onProgress } = this.#options;
    let chunk;
    try {
      chunk = await this.#chunks.next();
    } catch (error) {
      throw readError(this.#name, error, signal);
    }
    throwIfAborted(signal);
    this.#rest = chunk ?? new Uint8Array(0);
    if (!chunk) return false;
    this.#loaded += chunk.length;
    const { total } = this.#chunks;
    onProgress({
      file: this.#file,
      loaded: this.#loaded,
      total: total !== undefined && this.#loaded <= total ? total : undefined,
    });
    return true;
  }
}
