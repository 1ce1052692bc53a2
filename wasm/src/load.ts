import { concat } from './bytes.js';
import { openCache } from './cache.js';
import { Engine } from './engine.js';
import type { KnownFolder, LoadPlan, ModelDescription } from './engine.js';
import { GlassformerError } from './errors.js';
import { ModelFolder } from './folder.js';
import type { OpenFile } from './folder.js';
import { ProgressMeter } from './progress.js';
import type { LoadRequest } from './protocol.js';
import { checkTask } from './tasks.js';
import type { Progress } from './types.js';

// Enough for the header of a file among several: more of them is read when it is their turn.
const headerPart = 1 << 18;
// As many connections as browsers open to one server.
const mostAtOnce = 6;
// Ten times what the largest has that is known.
const maxContainerBytes = 2 ** 29;

/** An engine with its model, and what that is. */
export interface LoadedModel {
  engine: Engine;
  description: ModelDescription;
}

/**
 * Reads a model's files into a new engine; the weights go tensor by tensor. Nothing comes of it where
 * the model may be of a kind that the binary lacks.
 */
export async function loadModel(
  request: LoadRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<LoadedModel | undefined> {
  const { files, timeout } = request;
  const cache = request.cache ? await openCache() : undefined;
  const progress = new ProgressMeter(onProgress);
  const reload = new Set<string>();
  const engine = await Engine.instantiate(request.module);
  for (;;) {
    const folder = new ModelFolder(files, { signal, timeout, cache, progress, reload });
    try {
      const description = await readModel(engine, request, folder, progress);
      if (!description) return undefined;
      await folder.keep();
      return { engine, description };
    } catch (error) {
      // Of what came damaged from a cache, the server itself is asked, once.
      const damaged = [...folder.damaged].filter((file) => !reload.has(file));
      if (damaged.length === 0 || signal.aborted) throw error;
      for (const file of damaged) reload.add(file);
    } finally {
      folder.close();
    }
  }
}

async function readModel(
  engine: Engine,
  { task, compute, shortlist }: LoadRequest,
  folder: ModelFolder,
  progress: ProgressMeter,
): Promise<ModelDescription | undefined> {
  engine.loadBegin({ compute, shortlist, names: await folder.names() });
  const known = await readFolder(engine, folder);
  if (!known) return undefined;
  const { weights: names, max_header_bytes, container } = known;
  const manifest = await folder.manifest;
  if (container) return readContainer(engine, task, await folder.open(names[0]!), folder, progress);
  for (const name of names) progress.expect(name);
  if (manifest && names.every((name) => manifest[name])) progress.begin(manifest);
  const weights = await mapFew(names, async (name, i) => {
    const opened = await folder.open(name, i > 0 ? headerPart : undefined);
    const read = await readHeader(opened, folder, max_header_bytes);
    // While one file is read, no server waits with the others.
    if (i > 0) opened.reader.pause();
    return read;
  });
  let plan: LoadPlan;
  try {
    for (const { header, dataSize } of weights) engine.loadHeader(header, dataSize);
    plan = makePlan(engine, task);
  } catch (error) {
    for (const { opened } of weights) await checkRest(opened, folder);
    throw error;
  }
  for (const [i, { opened, header }] of weights.entries()) {
    progress.expect(opened.file, 8 + header.length + dataSizeOf(plan.files[i]!));
  }
  progress.begin(manifest);
  let first = 0;
  for (const [i, { tensors }] of plan.files.entries()) {
    await readTensors(engine, weights[i]!.opened, tensors, first, folder);
    first += tensors.length;
  }
  return engine.loadEnd();
}

/** What `work` makes of each item, of a few at a time. */
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
    next = items.length; // no other one is begun
    throw error;
  };
  await Promise.all(Array.from({ length: mostAtOnce }, () => go().catch(failed)));
  return results;
}

function makePlan(engine: Engine, task: LoadRequest['task']): LoadPlan {
  const plan = engine.loadPlan();
  checkTask(task, plan.task);
  return plan;
}

// A container has its configuration behind its weights: it is read as a whole first.
async function readContainer(
  engine: Engine,
  task: LoadRequest['task'],
  opened: OpenFile,
  folder: ModelFolder,
  progress: ProgressMeter,
): Promise<ModelDescription> {
  progress.expect(opened.file, opened.reader.total);
  progress.begin(await folder.manifest);
  const data = engine.loadContainer(
    await folder.readAll(opened, maxContainerBytes, 'invalid_weights'),
  );
  for (const { tensors } of makePlan(engine, task).files) {
    for (const [index, { begin, end, piece, ignored }] of tensors.entries()) {
      for (let from = begin; from < end && !ignored; from += piece) {
        const size = Math.min(piece, end - from);
        engine.stage(data.subarray(from, from + size), 0);
        engine.loadTensor(index, size);
      }
    }
  }
  return engine.loadEnd();
}

// Hands the engine what it asks for, until it needs nothing but the weights.
async function readFolder(engine: Engine, folder: ModelFolder): Promise<KnownFolder | null> {
  const reading = new Map<string, Promise<void>>();
  const finding = new Map<string, Promise<void>>();
  const once = (map: typeof reading, name: string, work: () => Promise<void>): void => {
    if (map.has(name)) return;
    const done = work().finally(() => map.delete(name));
    done.catch(() => {}); // whoever waits for it hears of it
    map.set(name, done);
  };
  for (;;) {
    const answer = folder.explain(() => engine.loadFolder());
    if (!answer || 'weights' in answer) return answer;
    for (const { name, max_bytes, code } of answer.read) {
      once(reading, name, async () => {
        const opened = await folder.find(name);
        const bytes = opened && (await folder.readAll(opened, max_bytes, code));
        if (bytes) engine.loadFile(name, bytes);
        else engine.loadFound(name, false);
      });
    }
    for (const name of answer.find) {
      once(finding, name, async () => {
        const found = folder.find(name);
        found.catch(() => {}); // who opens it hears of it
        const listed = (await folder.manifest)?.[name] !== undefined;
        engine.loadFound(name, listed || (await found) !== undefined);
      });
    }
    const [first] = answer.find;
    if (reading.size === 0) await finding.get(first!);
    else await Promise.all([...reading.values(), folder.manifest]);
  }
}

/** A file of weights of which the header has been read. */
interface Weights {
  opened: OpenFile;
  header: Uint8Array;
  /** Bytes after the header, where somebody knows. */
  dataSize: number | undefined;
}

async function readHeader(
  opened: OpenFile,
  folder: ModelFolder,
  maxBytes: number,
): Promise<Weights> {
  const { reader, file } = opened;
  const expected = await folder.expected(opened);
  if (expected || folder.keeps(opened)) reader.gathered = [];
  try {
    const prefix = await reader.bytes(8);
    if (prefix.length < 8) {
      throw damaged(file, `${prefix.length} bytes, too short for a header length`);
    }
    const size = Number(new DataView(prefix.buffer).getBigUint64(0, true));
    if (size > maxBytes) {
      throw damaged(file, `a header of ${size} bytes; at most ${maxBytes} are allowed`);
    }
    const header = await reader.bytes(size);
    if (header.length < size) {
      throw damaged(file, `ends after ${header.length} of the header's ${size} bytes`);
    }
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

// Where the bytes are not the right ones, that is the reason, whatever the engine made of them.
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

/** The tensors lie one after the other, without gaps. */
function dataSizeOf({ tensors }: LoadPlan['files'][number]): number {
  return tensors.at(-1)?.end ?? 0;
}

function damaged(file: string, what: string): GlassformerError {
  return new GlassformerError('invalid_safetensors', `${file}: ${what}`);
}

function isFailureToRead(error: unknown): boolean {
  return ['aborted', 'fetch_failed', 'timeout'].includes((error as GlassformerError).code);
}
