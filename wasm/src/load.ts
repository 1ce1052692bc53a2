import { concat } from './bytes.js';
import { openCache } from './cache.js';
import { Engine } from './engine.js';
import type { LoadPlan, ModelDescription } from './engine.js';
import { GlassformerError } from './errors.js';
import { isAbsence } from './fetch.js';
import type { ModelFileReader } from './fetch.js';
import { ModelFolder } from './folder.js';
import type { OpenFile } from './folder.js';
import { ProgressMeter } from './progress.js';
import type { FolderFile, LoadRequest } from './protocol.js';
import type { ModelFile, Progress } from './types.js';

/** An engine with its model, and what that is. */
export interface LoadedModel {
  engine: Engine;
  description: ModelDescription;
}

/** Reads a model's files into a new engine; the weights go tensor by tensor. */
export async function loadModel(
  request: LoadRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<LoadedModel> {
  const { files, timeout } = request;
  const cache = request.cache ? await openCache() : undefined;
  const progress = new ProgressMeter(onProgress);
  const reload = new Set<FolderFile>();
  for (;;) {
    const engine = await Engine.instantiate(request.module);
    const folder = new ModelFolder(files, { signal, timeout, cache, progress, reload });
    try {
      const description = await readModel(engine, request, folder, progress);
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
): Promise<ModelDescription> {
  progress.expect('config.json');
  progress.expect('model.safetensors');
  if (shortlist) progress.expect('shortlist.bin');
  const readAll = async (file: ModelFile): Promise<Uint8Array> =>
    folder.readAll(await folder.open(file));
  const opening = openTokenizers(folder);
  const [config, weights, offered, tokenizers] = await Promise.all([
    readAll('config.json'),
    folder.open('model.safetensors'),
    shortlist ? readAll('shortlist.bin') : new Uint8Array(),
    opening.then((files) => Promise.all(files.map((file) => folder.readAll(file)))),
    Promise.all([folder.manifest, opening]).then(([manifest]) => progress.begin(manifest)),
  ]);
  if (shortlist && offered.length === 0) {
    throw new GlassformerError('invalid_shortlist', 'shortlist.bin: expected bytes, got none');
  }
  const arithmetic = new TextEncoder().encode(compute ?? '');
  const { reader } = weights;
  const expected = await folder.expected(weights);
  if (expected || folder.keeps(weights)) reader.gathered = [];
  const check = async (): Promise<void> => {
    if (reader.gathered) await folder.check(weights, concat(reader.gathered));
  };
  const size = expected?.size ?? reader.total;
  try {
    await loadWeights(engine, reader, (header) => {
      const files = [config, header, arithmetic, offered, ...tokenizers];
      const headerEnd = 8 + header.length;
      const plan = engine.loadBegin(task, files, size === undefined ? undefined : size - headerEnd);
      if (size === undefined) progress.expect('model.safetensors', headerEnd + dataSizeOf(plan));
      return plan;
    });
  } catch (error) {
    // Where the bytes are not the right ones, that is the reason, whatever the engine made of them.
    if (expected && !isFailureToRead(error)) {
      await reader.read(expected.size + 1, () => {}); // the rest
      await check();
    }
    throw error;
  }
  await check();
  return engine.loadEnd();
}

// One for both languages or, where that is not there, one for each.
async function openTokenizers(folder: ModelFolder): Promise<OpenFile[]> {
  try {
    return [await folder.open('tokenizer.model')];
  } catch (error) {
    if (!isAbsence(error)) throw error;
    const source = await folder.open('source.model').catch((other: unknown) => {
      throw isAbsence(other) ? error : other;
    });
    return [source, await folder.open('target.model')];
  }
}

const maxHeaderBytes = 100_000_000; // the limit of the safetensors specification

async function loadWeights(
  engine: Engine,
  weights: ModelFileReader,
  begin: (header: Uint8Array) => LoadPlan,
): Promise<void> {
  const prefix = await weights.bytes(8);
  if (prefix.length < 8) throw damaged(`${prefix.length} bytes, too short for a header length`);
  const headerSize = Number(new DataView(prefix.buffer).getBigUint64(0, true));
  if (headerSize > maxHeaderBytes) {
    throw damaged(`a header of ${headerSize} bytes; at most ${maxHeaderBytes} are allowed`);
  }
  const header = await weights.bytes(headerSize);
  if (header.length < headerSize) {
    throw damaged(`ends after ${header.length} of the header's ${headerSize} bytes`);
  }
  const plan = begin(header);
  for (const [index, { name, begin, end }] of plan.tensors.entries()) {
    const size = end - begin;
    const got = await weights.read(size, (chunk, at) => engine.stage(chunk, at));
    if (got < size) throw damaged(`ends inside tensor ${name}, after ${got} of ${size} bytes`);
    engine.loadTensor(index, size);
  }
  if ((await weights.bytes(1)).length > 0) {
    throw damaged(`has more than the ${dataSizeOf(plan)} bytes of data that its header describes`);
  }
}

/** The tensors lie one after the other, without gaps. */
function dataSizeOf({ tensors }: LoadPlan): number {
  return tensors.at(-1)?.end ?? 0;
}

function damaged(what: string): GlassformerError {
  return new GlassformerError('invalid_safetensors', `model.safetensors: ${what}`);
}

function isFailureToRead(error: unknown): boolean {
  return ['aborted', 'fetch_failed', 'timeout'].includes((error as GlassformerError).code);
}
