import { GlassformerError, messageOf } from './errors.js';
import type { ErrorCode } from './errors.js';
import type { Classification } from './types.js';

/** What binding.cpp exports; pointers and sizes are byte offsets into `memory`. */
interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  gf_alloc(size: number): number;
  gf_free(pointer: number): void;
  gf_load_begin(
    config: number,
    configSize: number,
    tokenizer: number,
    tokenizerSize: number,
    header: number,
    headerSize: number,
    dataSize: number,
  ): number;
  gf_load_tensor(index: number, bytes: number, size: number): number;
  gf_load_end(): number;
  gf_classify(
    texts: number,
    lengths: number,
    count: number,
    options: number,
    optionsSize: number,
  ): number;
  gf_result(): number;
  gf_result_size(): number;
  gf_attention(text: number): number;
  gf_attention_size(text: number): number;
}

/** Where the tensors lie in the data section of model.safetensors, in file order. */
export interface LoadPlan {
  tensors: { name: string; begin: number; end: number }[];
  /** Size of the largest tensor in bytes. */
  staging: number;
}

export interface ModelDescription {
  task: string;
  labels: string[];
  layers: number;
  heads: number;
  d_model: number;
  vocab_size: number;
  max_source_length: number;
  parameters: number;
}

export interface RawAttention {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  data: Float32Array;
}

/** A classification that structured cloning can carry: without the methods of AttentionMap. */
export type RawClassification = Omit<Classification, 'attention'> & {
  attention?: { encoder: RawAttention };
};

interface Failure {
  error: { code: ErrorCode; message: string };
}

function toError({ error }: Failure): GlassformerError {
  return new GlassformerError(error.code, error.message);
}

/** One WebAssembly instance, which holds one model. Everything it returns is a copy. */
export class Engine {
  readonly #exports: Exports;
  #staging = 0;

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  static async instantiate(module: WebAssembly.Module): Promise<Engine> {
    // The C++ runtime writes only when it aborts. Views are made anew, so growth is no news.
    const unsupported = (): number => 52; // ENOSYS
    const instance = await WebAssembly.instantiate(module, {
      env: { emscripten_notify_memory_growth() {} },
      wasi_snapshot_preview1: {
        fd_close: unsupported,
        fd_seek: unsupported,
        fd_write: unsupported,
      },
    });
    const exports = instance.exports as unknown as Exports;
    exports._initialize();
    return new Engine(exports);
  }

  /** Starts loading. `dataSize` counts the bytes of model.safetensors after its header. */
  loadBegin(
    config: Uint8Array,
    tokenizer: Uint8Array,
    header: Uint8Array,
    dataSize: number,
  ): LoadPlan {
    const plan = this.#call<LoadPlan>([config, tokenizer, header], (a, b, c) =>
      this.#exports.gf_load_begin(
        a,
        config.length,
        b,
        tokenizer.length,
        c,
        header.length,
        dataSize,
      ),
    );
    this.#staging = this.#alloc(plan.staging);
    return plan;
  }

  /** Puts a piece of the next tensor at its place in the staging buffer. */
  stage(chunk: Uint8Array, at: number): void {
    this.#write(this.#staging + at, chunk);
  }

  /** Takes the tensor that lies in the staging buffer. */
  loadTensor(index: number, size: number): void {
    this.#call([], () => this.#exports.gf_load_tensor(index, this.#staging, size));
  }

  loadEnd(): ModelDescription {
    this.#exports.gf_free(this.#staging);
    this.#staging = 0;
    return this.#call<ModelDescription>([], () => this.#exports.gf_load_end());
  }

  /** Classifies one text. `options` is the JSON that the engine checks. */
  classify(text: string, options: Uint8Array): RawClassification {
    const bytes = encoder.encode(text);
    const lengths = new Uint8Array(Uint32Array.of(bytes.length).buffer);
    const results = this.#call<(RawClassification | Failure)[]>(
      [bytes, lengths, options],
      (a, b, c) => this.#exports.gf_classify(a, b, 1, c, options.length),
    );
    const result = results[0]!;
    if ('error' in result) throw toError(result);
    if (result.attention) result.attention.encoder.data = this.#attention();
    for (const [label, values] of Object.entries(result.contributions ?? {})) {
      result.contributions![label] = Float32Array.from(values);
    }
    return result;
  }

  #attention(): Float32Array {
    const { memory, gf_attention, gf_attention_size } = this.#exports;
    return new Float32Array(memory.buffer, gf_attention(0), gf_attention_size(0)).slice();
  }

  // Calls the engine with the addresses of copies of `inputs`, and reads its answer.
  #call<T>(inputs: Uint8Array[], invoke: (...addresses: number[]) => number): T {
    const { memory, gf_free, gf_result, gf_result_size } = this.#exports;
    const addresses: number[] = [];
    let status;
    let answer;
    try {
      try {
        for (const input of inputs) {
          const address = this.#alloc(input.length);
          addresses.push(address);
          this.#write(address, input);
        }
        status = invoke(...addresses);
        answer = decoder.decode(new Uint8Array(memory.buffer, gf_result(), gf_result_size()));
      } finally {
        addresses.forEach(gf_free);
      }
    } catch (error) {
      if (error instanceof GlassformerError) throw error;
      // The engine catches its own exceptions, so this is a trap: its state is lost.
      throw new GlassformerError(
        'internal',
        `The engine failed (${messageOf(error)}); load the model again`,
        { cause: error },
      );
    }
    const result = JSON.parse(answer) as T | Failure;
    if (status === 0) return result as T;
    throw toError(result as Failure);
  }

  #alloc(size: number): number {
    const address = this.#exports.gf_alloc(size);
    if (address === 0 && size > 0) {
      throw new GlassformerError('internal', `The engine is out of memory (${size} bytes)`);
    }
    return address;
  }

  // A view of the memory is made for each use: growing the memory detaches older ones.
  #write(address: number, bytes: Uint8Array): void {
    new Uint8Array(this.#exports.memory.buffer, address, bytes.length).set(bytes);
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
