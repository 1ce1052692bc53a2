import { findKept, isHttp, keep, keepAbsence, wasAbsent } from './cache.js';
import type { KeptFile } from './cache.js';
import { GlassformerError, throwIfAborted } from '../base/errors.js';
import type { ErrorCode } from '../base/errors.js';
import { openBytes, openUrl } from './chunks.js';
import { openResponse } from './response.js';
import type { Chunks } from './response.js';
import { isAbsence, readError } from '../base/fetch.js';
import { sourceOf } from './locate.js';
import { factsOf, parseManifest } from './manifest.js';
import type { FileFacts, Manifest } from './manifest.js';
import { ProgressMeter } from './progress.js';
import { ModelFileReader } from './reader.js';
import type { Sources } from './locate.js';
import { nodeModule } from '../base/node.js';
import { onAbort } from '../base/signals.js';

export interface FolderOptions {
  signal: AbortSignal;
  /** Maximum time in milliseconds to wait for the next byte. */
  timeout: number | undefined;
  cache: Cache | undefined;
  progress: ProgressMeter;
  /** Files to request from the server, bypassing caches. */
  reload: ReadonlySet<string>;
}

/** A file that is being read. */
export interface OpenFile {
  file: string;
  reader: ModelFileReader;
  /** The stored file, if it comes from the cache. */
  kept: KeptFile | undefined;
}

// The engine has limits for the other files.
const manifestFile = 'manifest.json';
const maxManifestBytes = 2 ** 20;
const maxWholeBytes = 2 ** 30;

/** The files of a model while it is loaded, from a server, the cache, a disk or memory. */
export class ModelFolder {
  /** The contents of manifest.json, if there is one. */
  readonly manifest: Promise<Manifest | undefined>;
  /** Damaged files that may be correct on the server. */
  readonly damaged = new Set<string>();
  readonly #sources: Sources;
  readonly #options: FolderOptions;
  readonly #group = new AbortController();
  readonly #detach: () => void;
  readonly #readers: ModelFileReader[] = [];
  readonly #found = new Map<string, Promise<OpenFile | undefined>>(); // files that were found but not read yet
  readonly #absent = new Map<string, GlassformerError>();
  readonly #toKeep: (() => Promise<void>)[] = [];
  /** The manifest, once it is here. */
  #listed: Manifest | undefined;

  constructor(sources: Sources, options: FolderOptions) {
    this.#sources = sources;
    this.#options = options;
    // Files are requested together. If one fails, the others are canceled.
    const { signal } = options;
    const abort = (): void => this.#group.abort(signal.reason);
    if (signal.aborted) abort();
    this.#detach = onAbort(signal, abort);
    this.manifest = this.#readManifest();
    this.manifest.then(
      (manifest) => (this.#listed = manifest),
      () => {}, // handled where it is awaited
    );
  }

  /** Returns the names of all files, if they are known: files in memory or, in Node, on a disk. */
  async names(): Promise<string[] | undefined> {
    const { files, folder } = this.#sources;
    if (folder === undefined) return Object.keys(files);
    const fs = folder.startsWith('file:') ? nodeModule('node:fs') : undefined;
    const list = (url: string): Promise<string[] | undefined> | undefined =>
      fs?.promises.readdir(new URL(url)).catch(() => undefined);
    // If the folder does not exist, opening its first file fails.
    const names = await list(folder);
    const templates = 'additional_chat_templates';
    if (!names?.includes(templates)) return names;
    const more = await list(sourceOf(this.#sources, templates) as string);
    return [...names, ...(more ?? []).map((name) => `${templates}/${name}`)];
  }

  /** Returns a file if it exists. Each file is requested once. */
  find(file: string): Promise<OpenFile | undefined> {
    const found = this.#found.get(file) ?? this.#find(file);
    this.#found.set(file, found);
    return found;
  }

  async #find(file: string): Promise<OpenFile | undefined> {
    // A server cannot be asked which files it has, so the manifest's word counts.
    const { folder } = this.#sources;
    const served = folder !== undefined && isHttp(sourceOf(this.#sources, file));
    if (served && this.#listed && !this.#listed[file]) return undefined;
    try {
      return await this.#begin(file);
    } catch (error) {
      if (!(await this.#isAbsent(file, error as GlassformerError))) throw error;
      this.#absent.set(file, error as GlassformerError);
      const { cache } = this.#options;
      const source = sourceOf(this.#sources, file);
      if (cache && isHttp(source)) this.#toKeep.push(() => keepAbsence(cache, source));
      return undefined;
    }
  }

  /** Runs code of the engine. If a file is missing, the error tells the reason. */
  explain<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const { code, message } = error as GlassformerError;
      const absence = code === 'missing_file' && this.#absent.get(message.split(':')[0]!);
      if (!absence || absence.url === undefined) throw error;
      if (!this.#sources.hub || absence.status !== 404) throw absence;
      const { url, status } = absence;
      throw new GlassformerError(code, `${url}: ${message}`, { url, status, cause: absence });
    }
  }

  /** Opens a file, or returns it if it was found before. `part`: bytes to request at first. */
  async open(file: string, part?: number): Promise<OpenFile> {
    const found = this.#found.get(file);
    this.#found.delete(file);
    return (await found) ?? this.#begin(file, part);
  }

  async #begin(file: string, part?: number): Promise<OpenFile> {
    const source = sourceOf(this.#sources, file);
    const { cache, progress, reload } = this.#options;
    let kept: KeptFile | undefined;
    if (cache && isHttp(source) && !reload.has(file)) {
      const expected = (await this.manifest)?.[file];
      kept = await findKept(cache, source);
      if (expected && expected.sha256 !== kept?.facts.sha256) kept = undefined; // an older version
    }
    const opened = await this.#open(file, { kept, part });
    opened.reader.onBytes = (loaded, ended) => {
      progress.expect(file, kept?.facts.size ?? opened.reader.total);
      progress.reach(file, loaded, ended);
    };
    return opened;
  }

  /** Reads and checks a whole file. Throws an error with this code if it is longer than the limit. */
  async readAll(opened: OpenFile, maxBytes: number, code: ErrorCode): Promise<Uint8Array> {
    this.#found.delete(opened.file);
    const bytes = await opened.reader.all(maxBytes, code);
    await this.check(opened, bytes);
    throwIfAborted(this.#group.signal); // it is no longer needed
    return bytes;
  }

  /** Returns the expected size and hash of a file, if they are known. */
  async expected({ file, kept }: OpenFile): Promise<FileFacts | undefined> {
    if (kept || file === manifestFile) return kept?.facts;
    return (await this.manifest)?.[file];
  }

  /** Returns whether a file is to be stored. */
  keeps({ file, kept }: OpenFile): boolean {
    return this.#options.cache !== undefined && isHttp(sourceOf(this.#sources, file)) && !kept;
  }

  /** Throws if the bytes of a file do not have the expected size and hash. */
  async check(opened: OpenFile, bytes: Uint8Array): Promise<void> {
    const { file, reader, kept } = opened;
    const keeps = this.keeps(opened);
    const expected = await this.expected(opened);
    if (!expected && !keeps) return;
    const got = await factsOf(bytes);
    const { size, sha256 = expected?.sha256 } = got;
    if (expected && (size !== expected.size || sha256 !== expected.sha256)) {
      // Stored files are downloaded again. A server's response may come from a cache in between, and
      // so may the manifest.
      const fetched = !kept && isHttp(sourceOf(this.#sources, file));
      for (const each of fetched ? [file, manifestFile] : kept ? [file] : []) {
        this.damaged.add(each);
      }
      const [wanted, found] = [expected, got].map((it) => `${it.size} bytes, SHA-256 ${it.sha256}`);
      const message = `${reader.name}: expected ${wanted}; got ${found}`;
      throw new GlassformerError('integrity', message, { url: reader.name });
    }
    const { cache } = this.#options;
    if (keeps && sha256) this.#toKeep.push(() => keep(cache!, reader.name, bytes, sha256));
  }

  /** Stores the files, and which files do not exist, after the model was loaded. */
  async keep(): Promise<void> {
    await Promise.all(this.#toKeep.map((put) => put()));
  }

  /** Cancels everything that was not read yet. */
  close(): void {
    this.#detach();
    for (const reader of this.#readers) reader.close();
    this.#group.abort();
  }

  async #open(
    file: string,
    { kept, part }: { kept?: KeptFile | undefined; part?: number | undefined } = {},
  ): Promise<OpenFile> {
    const source = sourceOf(this.#sources, file);
    if (source === undefined) {
      throw new GlassformerError('missing_file', `${file} is not among the model's files`);
    }
    const { signal } = this.#group;
    const name = typeof source === 'string' ? source : file;
    let chunks;
    try {
      if (typeof source !== 'string') chunks = openBytes(source);
      else if (kept) chunks = openResponse(source, kept.response);
      else chunks = await this.#fetch(file, source, part);
    } catch (error) {
      throw readError(name, error, signal);
    }
    const reader = new ModelFileReader(name, chunks, signal);
    this.#readers.push(reader);
    if (signal.aborted) reader.close();
    return { file, reader, kept };
  }

  async #fetch(file: string, url: string, part: number | undefined): Promise<Chunks> {
    const { timeout, reload } = this.#options;
    const { signal } = this.#group;
    const hub = this.#isOfHub(file);
    try {
      return await openUrl(
        url,
        { signal, timeout, reload: reload.has(file), anonymous: hub },
        part,
      );
    } catch (error) {
      const { status, message } = error as GlassformerError;
      if (!hub || (status !== 401 && status !== 403)) throw error;
      const what =
        `${message}: the model is private or gated, or there is none of that name; ` +
        'download its files with your access token, and load those';
      throw new GlassformerError('http_error', what, { url, status, cause: error });
    }
  }

  #isOfHub(file: string): boolean {
    return this.#sources.hub === true && !(file in this.#sources.files);
  }

  /**
   * Returns whether an error means that the folder does not have this file. Some servers answer with
   * status 403 or a page of their own instead; hubs do not. A file that cannot be reached counts as
   * absent only if its absence is stored, and in packages of browser extensions, which have no server.
   */
  async #isAbsent(file: string, { code, status }: GlassformerError): Promise<boolean> {
    if (code === 'fetch_failed') {
      const { cache } = this.#options;
      const source = sourceOf(this.#sources, file);
      return isHttp(source) ? cache !== undefined && (await wasAbsent(cache, source)) : true;
    }
    if (this.#isOfHub(file)) return status === 404;
    if (code === 'http_error') return status === 404 || status === 410 || status === 403;
    return code === 'missing_file' || code === 'wrong_content_type';
  }

  async #readManifest(): Promise<Manifest | undefined> {
    const file = manifestFile;
    const source = sourceOf(this.#sources, file);
    if (source === undefined) return undefined;
    const read = async (kept?: KeptFile): Promise<Manifest | undefined> =>
      parseManifest(
        await this.readAll(await this.#open(file, { kept }), maxManifestBytes, 'invalid_manifest'),
      );
    try {
      return await read();
    } catch (error) {
      const absent = isAbsence(error);
      if (!absent && (error as GlassformerError).code !== 'timeout') throw error;
      // Without a network, the stored manifest is used; if it is damaged, each file's own hash is.
      const { cache } = this.#options;
      const kept = cache && isHttp(source) ? await findKept(cache, source) : undefined;
      if (kept) return read(kept).catch(() => undefined);
      if (absent) return undefined;
      throw error;
    }
  }
}

/** Reads files of a folder that has no model, such as one of dictionaries. */
export async function readWhole<Names extends readonly string[]>(
  sources: Sources,
  names: Names,
  signal: AbortSignal,
): Promise<{ [Index in keyof Names]: Uint8Array }> {
  const folder = new ModelFolder(sources, {
    signal,
    timeout: undefined,
    cache: undefined,
    progress: new ProgressMeter(() => {}),
    reload: new Set(),
  });
  try {
    const read = async (name: string): Promise<Uint8Array> =>
      folder.readAll(await folder.open(name), maxWholeBytes, 'too_large');
    return (await Promise.all(names.map(read))) as { [Index in keyof Names]: Uint8Array };
  } finally {
    folder.close();
  }
}
