import { concat } from '../base/bytes.js';
import { camelCase, withCamelCaseKeys } from '../base/camel_case.js';
import { GlassformerError } from '../base/errors.js';
import type { Compute } from '../engine/compute.js';
import { Engine } from '../engine/engine.js';
import type {
  Description,
  EngineModule,
  Failure,
  InspectedModel,
  KnownFolder,
  LoadPlan,
} from '../engine/engine.js';
import type { ThreadCount } from '../engine/threads.js';
import { checkTask } from '../engine/tasks.js';
import type { Purpose } from '../engine/tasks.js';
import { openCache } from './cache.js';
import { ModelFolder } from './folder.js';
import type { OpenFile } from './folder.js';
import type { Sources } from './locate.js';
import type { Progress } from './options.js';
import { ProgressMeter } from './progress.js';

// Enough for the header of one of several files. The rest is requested when the file is read.
const headerPart = 1 << 18;
// The number of connections that browsers open to one server.
const mostAtOnce = 6;
// Ten times the size of the largest known container.
const maxContainerBytes = 2 ** 29;

/** A description of a loaded model, with keys in camel case. */
export type ModelDescription = Record<string, unknown>;

/** A folder whose weights were not read. */
export interface InspectedFolder extends Omit<InspectedModel, 'model'> {
  model?: ModelDescription;
  /** Whether the weights are in a container instead of safetensors files. */
  container: boolean;
}

/** A request to load or inspect a folder. */
export interface FolderRequest {
  /** The expected task; undefined: any. */
  task: Purpose | undefined;
  module: EngineModule;
  files: Sources;
  compute: Compute | undefined;
  shortlist: boolean;
  /** Whether the model learns further. */
  learns?: boolean;
  cache: boolean;
  timeout: number | undefined;
  /** The seed of random weights; undefined: the folder's weights are read. */
  seed: number | undefined;
  /** The number of threads, if the model is loaded. */
  threads?: ThreadCount;
}

interface Opening {
  engine: Engine;
  folder: ModelFolder;
  progress: ProgressMeter;
  request: FolderRequest;
}

/**
 * Loads a model into a new engine, tensor by tensor. Returns undefined if the binary may lack this
 * kind of model.
 */
export async function loadModel(
  request: FolderRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<{ engine: Engine; description: ModelDescription } | undefined> {
  const engine = await Engine.instantiate(request.module);
  try {
    const starting = engine.startThreads(request.threads ?? { threads: 1 }); // meanwhile
    const read = request.seed === undefined ? readModel : readUntrained;
    const description = await inFolder(engine, request, signal, onProgress, read);
    const { threads, note } = await starting;
    if (!description) {
      engine.release();
      return undefined;
    }
    if (threads > 1) engine.useThreads(threads);
    const about = { ...describeModel(description), threads, ...(note && { threadsNote: note }) };
    return { engine, description: about };
  } catch (error) {
    engine.release();
    throw error;
  }
}

/**
 * Reads a folder without its weights. Returns undefined as above. A folder with a config.json is
 * described even if its model cannot be loaded.
 */
export async function inspectFolder(
  request: FolderRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<InspectedFolder | undefined> {
  const engine = await Engine.instantiate(request.module);
  let config: Record<string, unknown> | undefined;
  const read = async (opening: Opening): Promise<InspectedFolder | undefined> => {
    const known = await begin(opening, (name, bytes) => {
      if (name === 'config.json') config ??= objectIn(bytes);
    });
    if (!known) return undefined;
    let cut: Failure | undefined;
    if (known.container) await openContainer(opening, known);
    else for (const each of await openWeights(opening, known)) cut ??= describeHeader(engine, each);
    opening.progress.finish();
    const { model, ...others } = engine.loadInspect();
    return {
      ...others,
      container: known.container,
      ...(cut && { problem: cut }),
      ...(model && { model: describeModel(model) }),
    };
  };
  try {
    return await inFolder(engine, request, signal, onProgress, read);
  } catch (error) {
    if (!config || isFailureToRead(error)) throw error;
    return { config, tensors: [], container: false, problem: toFailure(error as GlassformerError) };
  }
}

// Takes a header even if the tensors after it are missing. Returns that error.
function describeHeader(engine: Engine, weights: Weights): Failure | undefined {
  try {
    takeHeader(engine, weights);
    return undefined;
  } catch (error) {
    takeHeader(engine, { ...weights, dataSize: undefined });
    return toFailure(error as GlassformerError);
  }
}

function toFailure({ code, message }: GlassformerError): Failure {
  return { error: { code, message } };
}

function objectIn(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a description as callers see it. Keys of `tasks` and `prompts` are the folder's. */
export function describeModel({ architecture, ...description }: Description): ModelDescription {
  const entries = Object.entries(description).map(([key, value]) => [camelCase(key), value]);
  return { ...Object.fromEntries(entries), architecture: withCamelCaseKeys(architecture) };
}

/** Opens the folder and reads it. Reads files again that a cache has damaged. */
async function inFolder<T>(
  engine: Engine,
  request: FolderRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
  read: (opening: Opening) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { files, timeout } = request;
  const cache = request.cache ? await openCache() : undefined;
  const progress = new ProgressMeter(onProgress);
  const reload = new Set<string>();
  for (;;) {
    const folder = new ModelFolder(files, { signal, timeout, cache, progress, reload });
    try {
      const result = await read({ engine, folder, progress, request });
      if (result !== undefined) await folder.keep();
      return result;
    } catch (error) {
      // Files that were damaged in a cache are requested from the server, once.
      const damaged = [...folder.damaged].filter((file) => !reload.has(file));
      if (damaged.length === 0 || signal.aborted) throw error;
      for (const file of damaged) reload.add(file);
    } finally {
      folder.close();
    }
  }
}

// Opens the files of weights and reads their headers.
function openWeights(
  { folder, progress }: Opening,
  { weights: names, max_header_bytes }: KnownFolder,
): Promise<Weights[]> {
  for (const name of names) progress.expect(name);
  return mapFew(names, async (name, i) => {
    const opened = await folder.open(name, i > 0 ? headerPart : undefined);
    const read = await readHeader(opened, folder, max_header_bytes);
    // While one file is read, no connection to the others stays open.
    if (i > 0) opened.reader.pause();
    return read;
  });
}

function takeHeader(engine: Engine, { header, dataSize }: Weights): void {
  engine.loadHeader(header, dataSize);
}

async function planWeights({ engine, folder, request }: Opening, files: Weights[]) {
  try {
    for (const each of files) takeHeader(engine, each);
    return makePlan(engine, request.task);
  } catch (error) {
    for (const { opened } of files) await checkRest(opened, folder);
    throw error;
  }
}

async function begin(
  { engine, folder, request }: Opening,
  onFile?: (name: string, bytes: Uint8Array) => void,
): Promise<KnownFolder | null> {
  const { task, compute, shortlist, learns } = request;
  engine.loadBegin({ task, compute, shortlist, learns, names: await folder.names() });
  return readFolder(engine, folder, onFile);
}

async function readModel(opening: Opening): Promise<Description | undefined> {
  const { engine, folder, progress, request } = opening;
  const known = await begin(opening);
  if (!known) return undefined;
  if (known.container) {
    const data = await openContainer(opening, known);
    readContainer(engine, makePlan(engine, request.task), data);
    return engine.loadEnd();
  }
  const manifest = await folder.manifest;
  const opened = openWeights(opening, known);
  if (manifest && known.weights.every((name) => manifest[name])) progress.begin(manifest);
  const files = await opened;
  const plan = await planWeights(opening, files);
  for (const [i, { opened, header }] of files.entries()) {
    progress.expect(opened.file, header.length + dataSizeOf(plan.files[i]!));
  }
  progress.begin(manifest);
  let first = 0;
  for (const [i, { tensors }] of plan.files.entries()) {
    await readTensors(engine, files[i]!.opened, tensors, first, folder);
    first += tensors.length;
  }
  return engine.loadEnd();
}

// Reads everything but the tensors.
async function readUntrained(opening: Opening): Promise<Description | undefined> {
  const { engine, progress, request } = opening;
  const known = await begin(opening);
  if (!known) return undefined;
  if (known.container) {
    await openContainer(opening, known);
    makePlan(engine, request.task);
  } else {
    await planWeights(opening, await openWeights(opening, known));
  }
  progress.finish();
  return engine.loadRandom(request.seed!);
}

/** Returns the results of `work` for all items. Works on a few at a time. */
async function mapFew<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const go = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index]!, index);
    }
  };
  const failed = (error: unknown): never => {
    next = items.length; // starts no other item
    throw error;
  };
  await Promise.all(Array.from({ length: mostAtOnce }, () => go().catch(failed)));
  return results;
}

function makePlan(engine: Engine, task: Purpose | undefined): LoadPlan {
  const plan = engine.loadPlan();
  checkTask(task, plan.task);
  return plan;
}

// Reads a container completely, because its configuration comes after its weights. Returns its data.
async function openContainer(
  { engine, folder, progress }: Opening,
  { weights: [name] }: KnownFolder,
): Promise<Uint8Array> {
  const opened = await folder.open(name!);
  progress.expect(opened.file, opened.reader.total);
  progress.begin(await folder.manifest);
  return engine.loadContainer(await folder.readAll(opened, maxContainerBytes, 'invalid_weights'));
}

function readContainer(engine: Engine, { files }: LoadPlan, data: Uint8Array): void {
  for (const [index, { begin, end, piece, ignored }] of files[0]!.tensors.entries()) {
    for (let from = begin; from < end && !ignored; from += piece) {
      const size = Math.min(piece, end - from);
      engine.stage(data.subarray(from, from + size), 0);
      engine.loadTensor(index, size);
    }
  }
}

// Gives the engine the files that it requests, until only the weights are missing.
async function readFolder(
  engine: Engine,
  folder: ModelFolder,
  onFile: (name: string, bytes: Uint8Array) => void = () => {},
): Promise<KnownFolder | null> {
  const reading = new Map<string, Promise<void>>();
  const finding = new Map<string, Promise<void>>();
  const once = (map: typeof reading, name: string, work: () => Promise<void>): void => {
    if (map.has(name)) return;
    const done = work().finally(() => map.delete(name));
    done.catch(() => {}); // handled where it is awaited
    map.set(name, done);
  };
  for (;;) {
    const answer = folder.explain(() => engine.loadFolder());
    if (!answer || 'weights' in answer) return answer;
    for (const { name, max_bytes, code } of answer.read) {
      once(reading, name, async () => {
        const opened = await folder.find(name);
        const bytes = opened && (await folder.readAll(opened, max_bytes, code));
        if (bytes) {
          onFile(name, bytes);
          engine.loadFile(name, bytes);
        } else {
          engine.loadFound(name, false);
        }
      });
    }
    for (const name of answer.find) {
      once(finding, name, async () => {
        const found = folder.find(name);
        found.catch(() => {}); // handled when it is opened
        const listed = (await folder.manifest)?.[name] !== undefined;
        engine.loadFound(name, listed || (await found) !== undefined);
      });
    }
    const [first] = answer.find;
    if (reading.size === 0) await finding.get(first!);
    else await Promise.all([...reading.values(), folder.manifest]);
  }
}

/** A file of weights whose header was read. */
interface Weights {
  opened: OpenFile;
  /** From the file's first byte. */
  header: Uint8Array;
  /** Number of bytes after the header, if it is known. */
  dataSize: number | undefined;
}

async function readHeader(
  opened: OpenFile,
  folder: ModelFolder,
  maxBytes: number,
): Promise<Weights> {
  const { reader } = opened;
  const expected = await folder.expected(opened);
  if (expected || folder.keeps(opened)) reader.gathered = [];
  try {
    const prefix = await reader.bytes(8);
    // The core says what is wrong with a file whose header is cut or too large.
    const size =
      prefix.length < 8 ? Infinity : Number(new DataView(prefix.buffer).getBigUint64(0, true));
    if (size > maxBytes) return { opened, header: prefix, dataSize: undefined };
    const rest = await reader.bytes(size);
    const header = new Uint8Array(8 + rest.length);
    header.set(prefix);
    header.set(rest, 8);
    const total = expected?.size ?? reader.total;
    return { opened, header, dataSize: total === undefined ? undefined : total - 8 - size };
  } catch (error) {
    if (!isFailureToRead(error)) await checkRest(opened, folder);
    throw error;
  }
}

async function readTensors(
  engine: Engine,
  opened: OpenFile,
  tensors: LoadPlan['files'][number]['tensors'],
  first: number,
  folder: ModelFolder,
): Promise<void> {
  const { file, reader } = opened;
  try {
    for (const [index, { name, begin, end, piece, ignored }] of tensors.entries()) {
      for (let from = begin; from < end; from += piece) {
        const size = Math.min(piece, end - from);
        const got = await reader.read(size, (chunk, at) => {
          if (!ignored) engine.stage(chunk, at);
        });
        if (got < size) {
          const place = `after ${from - begin + got} of ${end - begin} bytes`;
          throw damaged(file, `ends inside tensor ${name}, ${place}`);
        }
        if (!ignored) engine.loadTensor(first + index, size);
      }
    }
    if ((await reader.bytes(1)).length > 0) {
      const size = dataSizeOf({ tensors });
      throw damaged(file, `has more than the ${size} bytes of data that its header describes`);
    }
  } catch (error) {
    if (!isFailureToRead(error)) await checkRest(opened, folder);
    throw error;
  }
  await check(opened, folder);
}

// Throws if the file's bytes are wrong, because that is the reason for any error of the engine.
async function checkRest(opened: OpenFile, folder: ModelFolder): Promise<void> {
  const expected = await folder.expected(opened);
  if (!expected) return;
  await opened.reader.read(expected.size + 1, () => {});
  await check(opened, folder);
}

async function check(opened: OpenFile, folder: ModelFolder): Promise<void> {
  const { gathered } = opened.reader;
  if (gathered) await folder.check(opened, concat(gathered));
}

/** Returns the size of a file's data. Its tensors have no gaps between them. */
function dataSizeOf({ tensors }: LoadPlan['files'][number]): number {
  return tensors.at(-1)?.end ?? 0;
}

function damaged(file: string, what: string): GlassformerError {
  return new GlassformerError('invalid_safetensors', `${file}: ${what}`);
}

function isFailureToRead(error: unknown): boolean {
  return ['aborted', 'fetch_failed', 'timeout'].includes((error as GlassformerError).code);
}
