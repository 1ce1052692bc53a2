import { GlassformerError, messageOf } from '../base/errors.js';
import { encodePictures, encodeTexts, isPicture } from './input.js';
import type { Input, TextPair } from './input.js';
import type { ErrorCode } from '../base/errors.js';
import type { Binary, Compute } from './compute.js';
import { openAddon } from './native.js';
import type { Addon, Backend } from './native.js';
import { sharedMemory, startThreads, threadsOf } from './threads.js';
import type { ThreadCount, ThreadFunctions } from './threads.js';
import type { StoredTensor, WeightInfo } from './weights.js';

/** The functions of binding.cpp. Addresses and sizes are in bytes. */
interface Functions extends ThreadFunctions {
  /** Copies the bytes at an address. */
  read(address: number, size: number): Uint8Array<ArrayBuffer>;
  /** Copies bytes to an address. */
  write(address: number, bytes: Uint8Array): void;
  gf_alloc(size: number): number;
  gf_free(pointer: number): void;
  gf_load_begin(options: number, size: number): number;
  gf_load_file(name: number, nameSize: number, size: number): number;
  gf_load_found(name: number, nameSize: number, there: number): number;
  gf_load_folder(): number;
  gf_load_header(header: number, size: number, dataSize: number): number;
  gf_load_container(start: number, size: number, total: number): number;
  gf_load_config(yaml: number, size: number): number;
  gf_load_plan(): number;
  gf_load_tensor(index: number, bytes: number, size: number): number;
  gf_load_end(): number;
  gf_load_random(seed: number): number;
  gf_load_inspect(): number;
  gf_weights(): number;
  gf_weight_row(name: number, size: number, row: number): number;
  gf_dictionaries(config: number, configSize: number, weights: number, size: number): number;
  gf_vocabulary(): number;
  gf_chat(request: number, size: number): number;
  gf_texts(texts: number, lengths: number, count: number): number;
  gf_pictures(bytes: number, sizes: number, count: number): number;
  gf_begin(options: number, size: number, values: number, count: number): number;
  gf_explain(options: number, size: number, values: number, count: number): number;
  gf_step(): number;
  gf_end(): number;
  gf_cancel(): void;
  gf_result(): number;
  gf_result_size(): number;
  gf_tensor(index: number): number;
  gf_tensor_size(index: number): number;
  /** Only WebAssembly has it. */
  gf_relaxed_simd?(): number;
  gf_gradients(): number;
  gf_learn_begin(
    config: number,
    configSize: number,
    data: number,
    dataSize: number,
    options: number,
    optionsSize: number,
  ): number;
  gf_learn_step(progress: number): number;
  gf_learn_evaluate(data: number, size: number): number;
  gf_learn_save(): number;
  gf_learn_file(index: number): number;
}

/** The exports of a WebAssembly module. */
interface Exports extends Functions {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  /** In its place, in a module with shared memory. */
  __wasm_call_ctors?(): void;
}

/** The code of an engine. */
export type EngineModule = WebAssembly.Module | Addon;

/** The files that the engine requests from a folder; see gf_load_folder. */
export interface WantedFiles {
  /** Files whose bytes are needed. */
  read: { name: string; max_bytes: number; code: ErrorCode }[];
  /** Files whose existence may matter; that of the first one does. */
  find: string[];
}

/** The files of weights, and the maximum size of their headers. */
export interface KnownFolder {
  weights: string[];
  max_header_bytes: number;
  /** Whether they are one container, which also holds the configuration, instead of safetensors. */
  container: boolean;
}

/** The number of bytes that the engine requests from a container; see gf_load_container. */
interface WantedHeader {
  header_bytes: number;
  config?: { begin: number; end: number };
}

interface PlannedTensor {
  name: string;
  begin: number;
  end: number;
  /** Bytes to pass per call. Only the last piece is smaller. */
  piece: number;
  ignored: boolean;
}

/** The position of each tensor in the data section of its file, file by file. */
export interface LoadPlan {
  /** The task of the model. */
  task: string;
  files: { tensors: PlannedTensor[] }[];
  /** Size of the largest piece in bytes. */
  staging: number;
}

/** A description of a loaded model, with keys in snake case; see describe_json. */
export type Description = Record<string, unknown>;

/** A model whose weights were not read. */
export interface InspectedModel {
  model?: Description;
  /** config.json, or the configuration of a container. */
  config: Record<string, unknown>;
  tensors: StoredTensor[];
  /** The reason, if the model cannot be loaded. */
  problem?: Failure;
}

/** A training that has begun; see gf_learn_begin. */
export interface BegunTraining {
  model: Description;
  examples: number;
  heldOut: number;
  stepsPerEpoch: number;
  /** What may be wrong with the examples. */
  warnings: string[];
}

/** The result of a step; see gf_learn_step. */
export interface LearnedStep {
  step: number;
  epoch: number;
  tokens: number;
  loss: number;
  accuracy: number;
  rate: number;
  gradientNorm: number;
  gradientNorms: { name: string; norm: number }[];
}

/** A tensor of a result, by its name there. */
export interface NamedTensor {
  name: string;
  shape: number[];
  data: Float32Array<ArrayBuffer>;
}

/** A result as it crosses threads; see model/assemble.ts. */
export interface RawResult {
  result: object;
  tensors: NamedTensor[];
}

/** The options of a call, encoded for the engine. */
export interface EngineOptions {
  /** JSON in UTF-8. */
  json: Uint8Array;
  /** The 32-bit floats that the JSON refers to, as bytes. */
  values: Uint8Array;
  /** Whether the results have a trace. */
  traced: boolean;
  /** Whether the results are explanations. */
  explains: boolean;
  /** Whether they need gradients. */
  gradients: boolean;
}

/** Whether a call has steps left, and the intermediate result of the last one. */
export interface Step {
  more: boolean;
  progress?: RawResult;
}

/** An error as it crosses threads. */
export interface Failure {
  error: { code: ErrorCode; message: string; field?: string };
}

/** The engine's answer to one input. */
export type Answer = RawResult | Failure;

export function toError({ error }: Failure, where = ''): GlassformerError {
  return new GlassformerError(error.code, where + error.message, { field: error.field });
}

/** Returns the results of inputs. Throws the first error; with several inputs, it tells which. */
export function resultsOf(answers: Answer[], inputs: Input[]): RawResult[] {
  const several = inputs.some(isPicture) ? 'pictures' : 'texts';
  return answers.map((answer, index) => {
    if (!('error' in answer)) return answer;
    throw toError(answer, inputs.length > 1 ? `${several}[${index}]: ` : '');
  });
}

/** An instance of the engine with one model. Everything that it returns is a copy. */
export class Engine {
  readonly #exports: Functions;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  #staging = 0;
  #failure: GlassformerError | undefined;

  private constructor(exports: Functions) {
    this.#exports = exports;
  }

  static async instantiate(module: EngineModule): Promise<Engine> {
    if ('addon' in module) return new Engine(openAddon(module) as Functions);
    // The growth of the memory needs no action.
    const shared = sharedMemory(module);
    const env = { emscripten_notify_memory_growth() {}, ...(shared && { memory: shared }) };
    const { exports } = (await WebAssembly.instantiate(module, { env })) as { exports: object };
    if (!isEngine(exports)) {
      throw new GlassformerError('invalid_option', 'module: expected the binary of glassformer');
    }
    const memory = shared ?? exports.memory;
    const { gf_set_threads: _, ...single } = exports; // one thread only
    exports[shared ? '__wasm_call_ctors' : '_initialize']!();
    // Creates a view for each use, because growing the memory detaches older views.
    const view = (address: number, size: number): Uint8Array<ArrayBuffer> =>
      new Uint8Array(memory.buffer, address, size);
    return new Engine({
      ...(shared ? exports : single),
      read: (address, size) => view(address, size).slice(),
      write: (address, bytes) => view(address, bytes.length).set(bytes),
      ...(shared && threadsOf(module, shared, exports)),
    });
  }

  /**
   * Starts threads that share the work, so that there are up to this many with this one. Call it once;
   * useThreads uses them.
   */
  startThreads(wanted: ThreadCount): Promise<ThreadCount> {
    return startThreads(this.#exports, wanted);
  }

  /** Uses this many threads for the model that was loaded. */
  useThreads(threads: number): void {
    const { gf_set_threads } = this.#exports;
    if (gf_set_threads) this.#call([], () => gf_set_threads(threads));
  }

  /** How the model runs. */
  get runtime(): { backend: Backend; binary: Binary | undefined } {
    const { gf_relaxed_simd } = this.#exports;
    const binary = gf_relaxed_simd && (gf_relaxed_simd() ? 'relaxed' : 'simd');
    return { backend: binary ? 'wasm' : 'native', binary };
  }

  /** Frees the model and ends its threads, as far as that is not left to the garbage collector. */
  release(): void {
    this.#exports.release?.();
  }

  /** Starts to load a model, which replaces the current one. */
  loadBegin(options: {
    /** The expected task; undefined: any. */
    task: string | undefined;
    compute: Compute | undefined;
    shortlist: boolean;
    /** Whether the model learns further; see learnBegin. */
    learns: boolean | undefined;
    /** All file names, if they are known. */
    names: string[] | undefined;
  }): void {
    const json = this.#encoder.encode(JSON.stringify(options));
    this.#freeStaging();
    this.#call([json], (address) => this.#exports.gf_load_begin(address, json.length));
  }

  /**
   * Returns the files that are still missing, or null if the model may be of a kind that the binary
   * lacks.
   */
  loadFolder(): WantedFiles | KnownFolder | null {
    return this.#call<WantedFiles | KnownFolder | null>([], this.#exports.gf_load_folder);
  }

  /** Takes a file of the folder. */
  loadFile(name: string, bytes: Uint8Array): void {
    const encoded = this.#encoder.encode(name);
    const address = this.#call<number>([encoded], (at) =>
      this.#exports.gf_load_file(at, encoded.length, bytes.length),
    );
    this.#exports.write(address, bytes);
  }

  /** Records whether a file exists. */
  loadFound(name: string, there: boolean): void {
    const encoded = this.#encoder.encode(name);
    this.#call([encoded], (at) => this.#exports.gf_load_found(at, encoded.length, Number(there)));
  }

  /**
   * Takes the header of the next file of weights, from the file's first byte. `dataSize` is the
   * number of bytes after it.
   */
  loadHeader(header: Uint8Array, dataSize: number | undefined): void {
    this.#call([header], (at) => this.#exports.gf_load_header(at, header.length, dataSize ?? -1));
  }

  /** Takes the header of a container and its configuration. Returns the data after the header. */
  loadContainer(file: Uint8Array): Uint8Array {
    let size = 0;
    for (;;) {
      const start = file.subarray(0, size);
      const { header_bytes, config } = this.#call<WantedHeader>([start], (at) =>
        this.#exports.gf_load_container(at, size, file.length),
      );
      const data = file.subarray(size);
      if (config) {
        const yaml = data.subarray(config.begin, config.end);
        this.#call([yaml], (at) => this.#exports.gf_load_config(at, yaml.length));
        return data;
      }
      if (header_bytes > file.length) {
        const what = `expected a header of ${header_bytes} bytes, got a file of ${file.length}`;
        throw new GlassformerError('invalid_weights', `model.bin: ${what}`);
      }
      size = header_bytes;
    }
  }

  loadPlan(): LoadPlan {
    const plan = this.#call<LoadPlan>([], this.#exports.gf_load_plan);
    this.#staging = this.#alloc(plan.staging);
    return plan;
  }

  /** Copies bytes of a tensor's next piece to their place in the staging buffer. */
  stage(chunk: Uint8Array, at: number): void {
    this.#exports.write(this.#staging + at, chunk);
  }

  /** Takes the piece in the staging buffer. */
  loadTensor(index: number, size: number): void {
    this.#call([], () => this.#exports.gf_load_tensor(index, this.#staging, size));
  }

  loadEnd(): Description {
    this.#freeStaging();
    return this.#call<Description>([], this.#exports.gf_load_end);
  }

  /** Ends loading with random weights instead of the files'. */
  loadRandom(seed: number): Description {
    this.#freeStaging();
    return this.#call<Description>([], () => this.#exports.gf_load_random(seed));
  }

  /** Ends loading without weights. */
  loadInspect(): InspectedModel {
    this.#freeStaging();
    return this.#call<InspectedModel>([], this.#exports.gf_load_inspect);
  }

  /** Returns the text of each token in the vocabulary, by id. */
  vocabulary(): string[] {
    return this.#call<string[]>([], this.#exports.gf_vocabulary);
  }

  /** Returns the text that the model's template makes of a chat; the request is JSON. */
  chat(request: string): string {
    const encoded = this.#encoder.encode(request);
    const { gf_chat } = this.#exports;
    return this.#call<string>([encoded], (at) => gf_chat(at, encoded.length));
  }

  /** Lists the model's parameters. */
  weights(): WeightInfo[] {
    return this.#call<WeightInfo[]>([], this.#exports.gf_weights);
  }

  /** Returns a row of a parameter. */
  weightRow(name: string, index: number): Float32Array<ArrayBuffer> {
    const encoded = this.#encoder.encode(name);
    const { gf_weight_row } = this.#exports;
    this.#call([encoded], (at) => gf_weight_row(at, encoded.length, index));
    return this.#tensor(0);
  }

  /** Gives the model dictionaries: the bytes of their config.json and model.safetensors. */
  useDictionaries(config: Uint8Array, weights: Uint8Array): void {
    const { gf_dictionaries } = this.#exports;
    this.#call([config, weights], (...at) => {
      const [configAt, weightsAt] = at as [number, number];
      return gf_dictionaries(configAt, config.length, weightsAt, weights.length);
    });
  }

  /** Starts a training of the model that was loaded or, with a `config`, of a new one. */
  learnBegin(config: string, data: Uint8Array, options: string): BegunTraining {
    const { gf_learn_begin } = this.#exports;
    if (!gf_learn_begin) {
      throw new GlassformerError('invalid_option', 'module: expected the binary of glassformer');
    }
    const inputs = [this.#encoder.encode(config), data, this.#encoder.encode(options)];
    return this.#call<BegunTraining>(inputs, (...at) => {
      const [configAt, dataAt, optionsAt] = at as [number, number, number];
      const [configSize, dataSize, optionsSize] = inputs.map(({ length }) => length) as typeof at;
      return gf_learn_begin(configAt, configSize!, dataAt, dataSize!, optionsAt, optionsSize!);
    });
  }

  /** Learns from the next examples. `progress`: the part of the training that is over then. */
  learnStep(progress: number): LearnedStep {
    return this.#call<LearnedStep>([], () => this.#exports.gf_learn_step(progress));
  }

  /** Returns the score on these examples or, without any, on those that are held out. */
  learnEvaluate(data = new Uint8Array() as Uint8Array): { loss: number; accuracy: number } {
    const { loss, accuracy } = this.#call<{ loss: number; accuracy: number }>([data], (at) =>
      this.#exports.gf_learn_evaluate(at, data.length),
    );
    return { loss, accuracy };
  }

  /** Returns the files of a folder with the model. */
  learnSave(): Record<string, Uint8Array<ArrayBuffer>> {
    const { read, gf_learn_save, gf_learn_file } = this.#exports;
    const files = this.#call<{ name: string; size: number }[]>([], gf_learn_save);
    return Object.fromEntries(
      files.map(({ name, size }, index) => [name, read(gf_learn_file(index), size)]),
    );
  }

  #freeStaging(): void {
    this.#guard(() => this.#exports.gf_free(this.#staging));
    this.#staging = 0;
  }

  /** Starts to answer inputs, instead of those in progress. Checks the options. */
  begin(inputs: Input[], { json, values, explains, gradients }: EngineOptions): void {
    const { gf_texts, gf_pictures, gf_begin, gf_explain, gf_gradients } = this.#exports;
    if (gradients && !gf_gradients()) {
      const what = 'gradients: expected a model that was loaded with the option gradients';
      throw new GlassformerError('unsupported', what);
    }
    const pictures = inputs.filter(isPicture);
    const texts = inputs.filter((input): input is string | TextPair => !isPicture(input));
    const encoded = pictures.length > 0 ? encodePictures(pictures) : encodeTexts(texts);
    this.#call(encoded, (...at) => {
      const [bytes, sizes] = at as [number, number];
      return (pictures.length > 0 ? gf_pictures : gf_texts)(bytes, sizes, inputs.length);
    });
    this.#call([json, values], (...at) => {
      const [options, floats] = at as [number, number];
      const count = values.length / Float32Array.BYTES_PER_ELEMENT;
      return (explains ? gf_explain : gf_begin)(options, json.length, floats, count);
    });
  }

  /** Does the next step. */
  step(): Step {
    const step = this.#call<Step>([], this.#exports.gf_step);
    if (step.progress) this.#copyTensors([step.progress]);
    return step;
  }

  /** Returns the result or error of each input, after the last step. */
  end(): Answer[] {
    const answers = this.#call<Answer[]>([], this.#exports.gf_end);
    this.#copyTensors(answers);
    return answers;
  }

  /** Frees the memory of inputs in progress. Never throws, because they may have failed. */
  cancel(): void {
    try {
      this.#guard(() => this.#exports.gf_cancel());
    } catch {
      // Every later call throws the engine's failure.
    }
  }

  // Tensors are counted through the whole answer.
  #copyTensors(answers: Answer[]): void {
    const tensors = answers.flatMap((answer) => ('tensors' in answer ? answer.tensors : []));
    for (const [index, tensor] of tensors.entries()) tensor.data = this.#tensor(index);
  }

  // Copies a tensor of the last answer.
  #tensor(index: number): Float32Array<ArrayBuffer> {
    const { read, gf_tensor, gf_tensor_size } = this.#exports;
    return new Float32Array(read(gf_tensor(index), 4 * gf_tensor_size(index)).buffer);
  }

  // Calls the engine with the addresses of copies of `inputs`, and returns its answer.
  #call<T>(inputs: Uint8Array[], invoke: (...addresses: number[]) => number): T {
    const { read, write, gf_free, gf_result, gf_result_size } = this.#exports;
    const addresses: number[] = [];
    let status: number;
    let answer: string;
    try {
      for (const input of inputs) {
        const address = this.#alloc(input.length);
        addresses.push(address);
        write(address, input);
      }
      status = this.#guard(() => invoke(...addresses));
      answer = this.#decoder.decode(read(gf_result(), gf_result_size()));
    } finally {
      if (!this.#failure) addresses.forEach((address) => this.#guard(() => gf_free(address)));
    }
    const result = JSON.parse(answer) as T | Failure;
    if (status === 0) return result as T;
    throw toError(result as Failure);
  }

  // Runs code of the engine. The engine catches its own exceptions, so anything that it throws is a
  // trap: its state is lost, and it must not be called again.
  #guard<T>(run: () => T): T {
    if (this.#failure) throw this.#failure;
    try {
      return run();
    } catch (error) {
      this.#failure = new GlassformerError(
        'internal',
        `The engine failed (${messageOf(error)}) and cannot be used any more; load the model again`,
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
}

function isEngine(exports: object): exports is Exports {
  return 'gf_relaxed_simd' in exports;
}
