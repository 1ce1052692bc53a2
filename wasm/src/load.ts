import type { Engine, LoadPlan, ModelDescription } from './engine.js';
import { GlassformerError } from './errors.js';
import { ModelFileReader } from './fetch.js';
import type { ReadOptions } from './fetch.js';
import type { LoadRequest } from './protocol.js';
import type { ModelFile } from './types.js';

/** Reads a model's files into the engine; the weights go tensor by tensor. */
export async function loadModel(
  engine: Engine,
  { task, files, compute, shortlist }: Omit<LoadRequest, 'module'>,
  options: ReadOptions,
): Promise<ModelDescription> {
  // The files are asked for together; where one fails, the others are given up.
  const group = new AbortController();
  const abort = (): void => group.abort(options.signal.reason);
  if (options.signal.aborted) abort();
  options.signal.addEventListener('abort', abort);
  const opened: ModelFileReader[] = [];
  const open = async (file: ModelFile): Promise<ModelFileReader> => {
    const reader = await ModelFileReader.open(file, files[file], {
      ...options,
      signal: group.signal,
    });
    opened.push(reader);
    if (group.signal.aborted) reader.close();
    return reader;
  };
  const readAll = async (file: ModelFile): Promise<Uint8Array> =>
    (await open(file)).bytes(Infinity);
  try {
    const [config, offered, tokenizers, weights] = await Promise.all([
      readAll('config.json'),
      shortlist ? readAll('shortlist.bin') : new Uint8Array(),
      readTokenizers(readAll),
      open('model.safetensors'),
    ]);
    if (shortlist && offered.length === 0) {
      throw new GlassformerError('invalid_shortlist', 'shortlist.bin: expected bytes, got none');
    }
    const arithmetic = new TextEncoder().encode(compute ?? '');
    await loadWeights(engine, weights, (header, dataSize) =>
      engine.loadBegin(task, [config, header, arithmetic, offered, ...tokenizers], dataSize),
    );
    return engine.loadEnd();
  } finally {
    options.signal.removeEventListener('abort', abort);
    for (const reader of opened) reader.close();
    group.abort();
  }
}

const maxHeaderBytes = 100_000_000; // the limit of the safetensors specification

// One for both languages or, where that is not there, one for each.
async function readTokenizers(
  readAll: (file: ModelFile) => Promise<Uint8Array>,
): Promise<Uint8Array[]> {
  try {
    return [await readAll('tokenizer.model')];
  } catch (error) {
    if (!isAbsence(error)) throw error;
    const source = await readAll('source.model').catch((other: unknown) => {
      throw isAbsence(other) ? error : other;
    });
    return [source, await readAll('target.model')];
  }
}

function isAbsence(error: unknown): boolean {
  const { code } = error as GlassformerError;
  return code === 'missing_file' || code === 'http_error' || code === 'wrong_content_type';
}

async function loadWeights(
  engine: Engine,
  weights: ModelFileReader,
  begin: (header: Uint8Array, dataSize: number) => LoadPlan,
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
  // A server need not tell the length of the file, so the header's own claim is taken, and then
  // checked as the bytes come.
  const dataSize = claimedDataSize(header);
  const { tensors } = begin(header, dataSize);
  for (const [index, { name, begin, end }] of tensors.entries()) {
    const size = end - begin;
    const got = await weights.read(size, (chunk, at) => engine.stage(chunk, at));
    if (got < size) throw damaged(`ends inside tensor ${name}, after ${got} of ${size} bytes`);
    engine.loadTensor(index, size);
  }
  if ((await weights.bytes(1)).length > 0) {
    throw damaged(`has more than the ${dataSize} bytes of data that its header describes`);
  }
}

function damaged(what: string): GlassformerError {
  return new GlassformerError('invalid_safetensors', `model.safetensors: ${what}`);
}

// Where the last tensor ends. Of a malformed header nothing is expected: the engine refuses it.
function claimedDataSize(header: Uint8Array): number {
  let size = 0;
  try {
    const entries = JSON.parse(new TextDecoder().decode(header)) as Record<
      string,
      { data_offsets?: unknown[] } | null
    >;
    for (const entry of Object.values(entries)) {
      const end = entry?.data_offsets?.[1];
      if (Number.isSafeInteger(end)) size = Math.max(size, end as number);
    }
  } catch {
    // No JSON.
  }
  return size;
}
