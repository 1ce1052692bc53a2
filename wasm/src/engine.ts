import { concat } from './bytes.js';
import { GlassformerError, messageOf } from './errors.js';
import type { ErrorCode } from './errors.js';
import type { Binary } from './types.js';

/** What binding.cpp exports; pointers and sizes are byte offsets into `memory`. */
interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  gf_alloc(size: number): number;
  gf_free(pointer: number): void;
  gf_load_classifier: LoadFunction;
  gf_load_translator: LoadFunction;
  gf_load_tensor(index: number, bytes: number, size: number): number;
  gf_load_end(): number;
  gf_begin(
    texts: number,
    lengths: number,
    count: number,
    options: number,
    optionsSize: number,
  ): number;
  gf_step(): number;
  gf_end(): number;
  gf_cancel(): void;
  gf_result(): number;
  gf_result_size(): number;
  gf_tensor(index: number): number;
  gf_tensor_size(index: number): number;
  gf_relaxed_simd(): number;
}

type LoadFunction = (files: number, lengths: number, count: number, dataSize: number) => number;
export type Task = 'classify' | 'translate';

/** Where the tensors lie in the data section of model.safetensors, in file order. */
export interface LoadPlan {
  tensors: { name: string; begin: number; end: number }[];
  /** Size of the largest tensor in bytes. */
  staging: number;
}

/** What the configuration says of a model, in snake case. */
export type ModelDescription = Record<string, unknown>;

/** Numbers that a result tells of, by their name in it. */
export interface NamedTensor {
  name: string;
  shape: number[];
  data: Float32Array<ArrayBuffer>;
}

/** A result as it crosses threads; tensors.ts puts it together. */
export interface RawResult {
  result: object;
  tensors: NamedTensor[];
}

/** Whether a call has steps left, and what the last one has to show. */
export interface Step {
  more: boolean;
  progress?: RawResult;
}

interface Failure {
  error: { code: ErrorCode; message: string };
}

/** What the engine says of one text. */
export type Answer = RawResult | Failure;

export function toError({ error }: Failure, where = ''): GlassformerError {
  return new GlassformerError(error.code, where + error.message);
}

/** The results of `count` texts, or the error of one of them; of several, it tells which. */
export function resultsOf(answers: Answer[], count: number): RawResult[] {
  return answers.map((answer, index) => {
    if (!('error' in answer)) return answer;
    throw toError(answer, count > 1 ? `texts[${index}]: ` : '');
  });
}

/** One WebAssembly instance, which holds one model. Everything it returns is a copy. */
export class Engine {
  readonly #exports: Exports;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  #staging = 0;
  #failure: GlassformerError | undefined;

  private constructor(exports: Exports) {
    this.#exports = exports;
  }

  static async instantiate(module: WebAssembly.Module): Promise<Engine> {
    // Views are made anew, so growth is no news.
    const env = { emscripten_notify_memory_growth() {} };
    const { exports } = (await WebAssembly.instantiate(module, { env })) as { exports: object };
    if (!isEngine(exports)) {
      throw new GlassformerError('invalid_option', 'module: expected the binary of glassformer');
    }
    exports._initialize();
    return new Engine(exports);
  }

  get binary(): Binary {
    return this.#exports.gf_relaxed_simd() ? 'relaxed' : 'simd';
  }

  /**
   * Starts loading. `files`: the configuration, the weights' header, the name of the arithmetic
   * (empty: as the weights are stored), shortlist.bin (empty: none is wanted) and one or two
   * tokenizers. `dataSize` counts the bytes of model.safetensors after its header, where it is known.
   */
  loadBegin(task: Task, files: Uint8Array[], dataSize: number | undefined): LoadPlan {
    const { gf_load_classifier, gf_load_translator } = this.#exports;
    const load = task === 'classify' ? gf_load_classifier : gf_load_translator;
    const plan = this.#call<LoadPlan>(joined(files), (bytes, lengths) =>
      load(bytes, lengths, files.length, dataSize ?? -1),
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
    this.#guard(() => this.#exports.gf_free(this.#staging));
    this.#staging = 0;
    return this.#call<ModelDescription>([], () => this.#exports.gf_load_end());
  }

  /** Starts on texts, instead of any that are under way. `options` is JSON, which it checks. */
  begin(texts: string[], options: Uint8Array): void {
    const encoded = texts.map((text) => this.#encoder.encode(text));
    this.#call([...joined(encoded), options], (bytes, lengths, json) =>
      this.#exports.gf_begin(bytes!, lengths!, texts.length, json!, options.length),
    );
  }

  /** Does the next piece of the work. */
  step(): Step {
    const step = this.#call<Step>([], this.#exports.gf_step);
    if (step.progress) this.#copyTensors([step.progress]);
    return step;
  }

  /** The result, or the error, of each text after the last step. */
  end(): Answer[] {
    const answers = this.#call<Answer[]>([], this.#exports.gf_end);
    this.#copyTensors(answers);
    return answers;
  }

  /** Frees what texts that are given up hold. Throws nothing: what it ends may have failed. */
  cancel(): void {
    try {
      this.#guard(() => this.#exports.gf_cancel());
    } catch {
      // The engine is retired, and every later call says so.
    }
  }

  // Tensors are counted through the whole of an answer.
  #copyTensors(answers: Answer[]): void {
    const { memory, gf_tensor, gf_tensor_size } = this.#exports;
    const tensors = answers.flatMap((answer) => ('tensors' in answer ? answer.tensors : []));
    for (const [index, tensor] of tensors.entries()) {
      const view = new Float32Array(memory.buffer, gf_tensor(index), gf_tensor_size(index));
      tensor.data = view.slice();
    }
  }

  // Calls the engine with the addresses of copies of `inputs`, and reads its answer.
  #call<T>(inputs: Uint8Array[], invoke: (...addresses: number[]) => number): T {
    const { memory, gf_free, gf_result, gf_result_size } = this.#exports;
    const addresses: number[] = [];
    let status: number;
    let answer: string;
    try {
      for (const input of inputs) {
        const address = this.#alloc(input.length);
        addresses.push(address);
        this.#write(address, input);
      }
      status = this.#guard(() => invoke(...addresses));
      answer = this.#decoder.decode(new Uint8Array(memory.buffer, gf_result(), gf_result_size()));
    } finally {
      if (!this.#failure) addresses.forEach((address) => this.#guard(() => gf_free(address)));
    }
    const result = JSON.parse(answer) as T | Failure;
    if (status === 0) return result as T;
    throw toError(result as Failure);
  }

  // Runs some of the engine's code. It catches its own exceptions, so what it throws is a trap: its
  // state is lost, and no call may go in again.
  #guard<T>(run: () => T): T {
    if (this.#failure) throw this.#failure;
    try {
      return run();
    } catch (error) {
      this.#failure = new GlassformerError(
        'internal',
        `The engine failed (${messageOf(error)}) and answers no more; load the model again`,
        { cause: error },
      );
      throw this.#failure;
    }
  }

  #alloc(size: number): number {
    const address = this.#guard(() => this.#exports.gf_alloc(size));
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

function isEngine(exports: object): exports is Exports {
  return 'gf_relaxed_simd' in exports;
}

/** Pieces one after the other, and their lengths, as the engine reads them. */
function joined(pieces: Uint8Array[]): [bytes: Uint8Array, lengths: Uint8Array] {
  const lengths = Uint32Array.from(pieces, (piece) => piece.length);
  return [concat(pieces), new Uint8Array(lengths.buffer)];
}
