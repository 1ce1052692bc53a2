import { Engine } from './engine.js';
import type { RawClassification } from './engine.js';
import { GlassformerError, throwIfAborted } from './errors.js';
import { ModelFileReader } from './fetch.js';
import type { ReadOptions } from './fetch.js';
import type { ClassifyRequest, Host, LoadRequest } from './protocol.js';
import type { ModelFile, ModelInfo, Progress } from './types.js';

// Longest time in milliseconds without giving way to other events, among them an abort.
const sliceMs = 8;

// Enough for V8: the sentiment model's first call takes 2 ms after a warm-up, 9 to 20 ms without.
// The limit of time is for large models, whose kernels run longer and are optimised sooner.
const warmUpRuns = 30;
const warmUpMs = 200;

/** Runs a model in the thread that it is made in, one call after the other. */
export class Runner implements Host {
  #engine: Engine | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  async load(
    request: LoadRequest,
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<ModelInfo> {
    const engine = await Engine.instantiate(request.module);
    const model = await loadModel(engine, request.files, { signal, onProgress });
    this.#engine = engine;
    return {
      task: model.task,
      labels: model.labels,
      layers: model.layers,
      heads: model.heads,
      dModel: model.d_model,
      vocabSize: model.vocab_size,
      parameters: model.parameters,
      maxSourceLength: model.max_source_length,
      compute: 'f32',
      binary: request.binary,
    };
  }

  classify(request: ClassifyRequest, signal: AbortSignal): Promise<RawClassification[]> {
    const result = this.#last.then(() => this.#classify(request, signal));
    this.#last = result.catch(() => {});
    this.#waiting++;
    void this.#last.then(() => this.#waiting--);
    return result;
  }

  dispose(): void {
    this.#engine = undefined;
  }

  /**
   * Classifies a short text again and again, while nobody asks for anything else: the runtime
   * starts WebAssembly in a slow tier and optimises what runs often.
   */
  async warmUp(): Promise<void> {
    const text = 'Warm up the engine with a few plain words.';
    const options = new TextEncoder().encode('{}');
    const end = performance.now() + warmUpMs;
    for (let run = 0; run < warmUpRuns && performance.now() < end; run++) {
      await turn();
      if (this.#waiting > 0) return;
      this.#engine?.classify(text, options);
    }
  }

  async #classify(request: ClassifyRequest, signal: AbortSignal): Promise<RawClassification[]> {
    const results: RawClassification[] = [];
    let sliceStart = performance.now();
    let last = sliceStart;
    for (const [index, text] of request.texts.entries()) {
      throwIfAborted(signal);
      if (!this.#engine) throw new GlassformerError('disposed', 'The model was disposed of');
      try {
        results.push(this.#engine.classify(text, request.options));
      } catch (error) {
        if (!(error instanceof GlassformerError) || request.texts.length === 1) throw error;
        throw new GlassformerError(error.code, `texts[${index}]: ${error.message}`, {
          cause: error,
        });
      }
      // The next text is expected to take as long as this one.
      const now = performance.now();
      const next = now + (now - last);
      last = now;
      if (next - sliceStart > sliceMs) {
        await turn();
        last = sliceStart = performance.now();
      }
    }
    return results;
  }
}

/** Lets other events, such as messages and timers, be handled. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void };
    if (setImmediate) {
      setImmediate(resolve);
      return;
    }
    // Unlike setTimeout, a message is not held back by 4 ms or more.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

/** Reads a model's files into the engine; the weights go tensor by tensor. */
async function loadModel(
  engine: Engine,
  files: LoadRequest['files'],
  options: ReadOptions,
): Promise<ReturnType<Engine['loadEnd']>> {
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
    const [config, tokenizer, weights] = await Promise.all([
      readAll('config.json'),
      readAll('tokenizer.model'),
      open('model.safetensors'),
    ]);
    await loadWeights(engine, config, tokenizer, weights);
    return engine.loadEnd();
  } finally {
    options.signal.removeEventListener('abort', abort);
    for (const reader of opened) reader.close();
    group.abort();
  }
}

const maxHeaderBytes = 100_000_000; // the limit of the safetensors specification

async function loadWeights(
  engine: Engine,
  config: Uint8Array,
  tokenizer: Uint8Array,
  weights: ModelFileReader,
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
  const { tensors } = engine.loadBegin(config, tokenizer, header, dataSize);
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
