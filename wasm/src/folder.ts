import { findKept, isHttp, keep } from './cache.js';
import type { KeptFile } from './cache.js';
import { GlassformerError } from './errors.js';
import type { ErrorCode } from './errors.js';
import {
  ModelFileReader,
  isAbsence,
  openBytes,
  openResponse,
  openUrl,
  readError,
} from './fetch.js';
import { factsOf, parseManifest } from './manifest.js';
import type { FileFacts, Manifest } from './manifest.js';
import type { ProgressMeter } from './progress.js';
import type { FolderFile, Sources } from './protocol.js';
import { onAbort } from './signals.js';
import type { ModelFile } from './types.js';

export interface FolderOptions {
  signal: AbortSignal;
  /** Most milliseconds to wait for the next byte. */
  timeout: number | undefined;
  cache: Cache | undefined;
  progress: ProgressMeter;
  /** Files to be asked of the server itself, whatever a cache holds. */
  reload: ReadonlySet<FolderFile>;
}

/** A file that is being read. */
export interface OpenFile {
  file: FolderFile;
  reader: ModelFileReader;
  /** Where it comes from the cache. */
  kept: KeptFile | undefined;
}

// Far more than models need, and far less than a tab can hold: what a few compressed bytes unfold
// to is refused in time. The weights are bounded by what their header says.
const limits: Record<FolderFile, [bytes: number, code: ErrorCode]> = {
  'config.json': [2 ** 20, 'invalid_config'],
  'manifest.json': [2 ** 20, 'invalid_manifest'],
  'model.safetensors': [Infinity, 'invalid_safetensors'],
  'tokenizer.model': [2 ** 25, 'invalid_tokenizer'],
  'source.model': [2 ** 25, 'invalid_tokenizer'],
  'target.model': [2 ** 25, 'invalid_tokenizer'],
  'shortlist.bin': [2 ** 26, 'invalid_shortlist'],
};

/** The files of a model while it is loaded: from a server, the cache, a disk or memory. */
export class ModelFolder {
  /** What manifest.json tells, where there is one. */
  readonly manifest: Promise<Manifest | undefined>;
  /** Files that are not what they should be, and may be where the server itself is asked for them. */
  readonly damaged = new Set<FolderFile>();
  readonly #files: Sources;
  readonly #options: FolderOptions;
  readonly #group = new AbortController();
  readonly #detach: () => void;
  readonly #readers: ModelFileReader[] = [];
  readonly #toKeep: (() => Promise<void>)[] = [];

  constructor(files: Sources, options: FolderOptions) {
    this.#files = files;
    this.#options = options;
    // The files are asked for together; where one fails, the others are given up.
    const { signal } = options;
    const abort = (): void => this.#group.abort(signal.reason);
    if (signal.aborted) abort();
    this.#detach = onAbort(signal, abort);
    this.manifest = this.#readManifest();
    this.manifest.catch(() => {}); // whoever waits for it hears of it
  }

  async open(file: ModelFile): Promise<OpenFile> {
    const source = this.#files[file];
    const { cache, progress, reload } = this.#options;
    let kept: KeptFile | undefined;
    if (cache && isHttp(source) && !reload.has(file)) {
      const expected = (await this.manifest)?.[file];
      kept = await findKept(cache, source);
      if (expected && expected.sha256 !== kept?.facts.sha256) kept = undefined; // an older one
    }
    const opened = await this.#open(file, kept);
    opened.reader.onBytes = (loaded, ended) => progress.reach(file, loaded, ended);
    progress.expect(file, kept?.facts.size ?? opened.reader.total);
    return opened;
  }

  /** All bytes of a file, checked. */
  async readAll(opened: OpenFile): Promise<Uint8Array> {
    const bytes = await opened.reader.all(...limits[opened.file]);
    await this.check(opened, bytes);
    return bytes;
  }

  /** What a file has to be, where that is known. */
  async expected({ file, kept }: OpenFile): Promise<FileFacts | undefined> {
    if (kept || file === 'manifest.json') return kept?.facts;
    return (await this.manifest)?.[file];
  }

  /** Whether a file is to be kept. */
  keeps({ file, kept }: OpenFile): boolean {
    return this.#options.cache !== undefined && isHttp(this.#files[file]) && !kept;
  }

  /** Throws where these, all its bytes, are not what a file has to be. */
  async check(opened: OpenFile, bytes: Uint8Array): Promise<void> {
    const { file, reader, kept } = opened;
    const keeps = this.keeps(opened);
    const expected = await this.expected(opened);
    if (!expected && !keeps) return;
    const got = await factsOf(bytes);
    const { size, sha256 = expected?.sha256 } = got;
    if (expected && (size !== expected.size || sha256 !== expected.sha256)) {
      // What was kept is fetched again; what a server sent may come from a cache on the way, and so
      // may the manifest.
      const again = kept ? [file] : isHttp(this.#files[file]) ? Object.keys(limits) : [];
      for (const each of again) this.damaged.add(each as FolderFile);
      const [wanted, found] = [expected, got].map((it) => `${it.size} bytes, SHA-256 ${it.sha256}`);
      const message = `${reader.name}: expected ${wanted}; got ${found}`;
      throw new GlassformerError('integrity', message, { url: reader.name });
    }
    const { cache } = this.#options;
    if (keeps && sha256) this.#toKeep.push(() => keep(cache!, reader.name, bytes, sha256));
  }

  /** Keeps what has come, now that the model is loaded. */
  async keep(): Promise<void> {
    await Promise.all(this.#toKeep.map((put) => put()));
  }

  /** Gives up what is not read yet. */
  close(): void {
    this.#detach();
    for (const reader of this.#readers) reader.close();
    this.#group.abort();
  }

  async #open(file: FolderFile, kept?: KeptFile): Promise<OpenFile> {
    const source = this.#files[file];
    if (source === undefined) {
      throw new GlassformerError('missing_file', `${file} is not among the model's files`);
    }
    const { signal } = this.#group;
    const { timeout, reload } = this.#options;
    const name = typeof source === 'string' ? source : file;
    let chunks;
    try {
      if (typeof source !== 'string') chunks = openBytes(source);
      else if (kept) chunks = openResponse(source, kept.response);
      else chunks = await openUrl(source, { signal, timeout, reload: reload.has(file) });
    } catch (error) {
      throw readError(name, error, signal);
    }
    const reader = new ModelFileReader(name, chunks, signal);
    this.#readers.push(reader);
    if (signal.aborted) reader.close();
    return { file, reader, kept };
  }

  async #readManifest(): Promise<Manifest | undefined> {
    const file = 'manifest.json';
    const source = this.#files[file];
    if (source === undefined) return undefined;
    const read = async (kept?: KeptFile): Promise<Manifest | undefined> =>
      parseManifest(await this.readAll(await this.#open(file, kept)));
    try {
      return await read();
    } catch (error) {
      const absent = isAbsence(error);
      if (!absent && (error as GlassformerError).code !== 'timeout') throw error;
      // Without a network, the one that was kept; if that is damaged, each file's own hash will do.
      const { cache } = this.#options;
      const kept = cache && isHttp(source) ? await findKept(cache, source) : undefined;
      if (kept) return read(kept).catch(() => undefined);
      if (absent) return undefined;
      throw error;
    }
  }
}
