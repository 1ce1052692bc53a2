import { lengthOf } from '../engine/input.js';
import type { Input } from '../engine/input.js';
import { taskNamed } from '../engine/tasks.js';
import { Engine } from '../engine/engine.js';
import type { Answer, EngineOptions, RawResult } from '../engine/engine.js';
import { GlassformerError, throwIfAborted } from '../base/errors.js';
import { readWhole } from '../loading/folder.js';
import { describeModel, inspectFolder, loadModel } from '../loading/load_model.js';
import type { FolderRequest, ModelDescription } from '../loading/load_model.js';
import type {
  CallEvent,
  Host,
  Kind,
  LearnRequest,
  Request,
  Result,
  RunRequest,
  Timed,
} from './protocol.js';
import { turn } from '../base/turn.js';
import type { Sources } from '../loading/locate.js';
import type { Progress } from '../loading/options.js';

// Maximum time in milliseconds between two returns to the event loop, where aborts are handled.
const sliceMs = 8;

// Number of inputs of a stepwise task that run together. More keep the engine busier and take more
// memory. Inputs of other tasks run whole.
const inputsAtOnce = 16;

// Enough for V8: the sentiment model's first call takes 2 ms after a warm-up, 9 to 20 ms without.
// The time limit is for large models, whose kernels run longer and are optimized sooner.
const warmUpRuns = 30;
const warmUpMs = 200;
const warmUpText = 'Warm up the engine with a few plain words.';

type Work<K extends Kind> = (
  request: Request<K>,
  signal: AbortSignal,
  onEvent: (event: CallEvent<K>) => void,
) => Promise<Result<K>>;

/** Runs a model in this thread, one call after another. */
export class Runner implements Host {
  #model: Engine | undefined;
  #stepwise = false;
  #longest = 0; // maximum number of input tokens
  #sliceEnd = Infinity; // end of the current slice; infinite if no slice has begun
  #pace = 0; // milliseconds per unit of work, measured on the last inputs
  #measured = 0; // the work of those inputs
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  readonly #work: { [K in Kind]: Work<K> } = {
    load: (request, signal, onEvent) => this.#load(request, signal, onEvent),
    inspect: (request, signal, onEvent) => inspectFolder(request, signal, onEvent),
    vocabulary: () => Promise.resolve(this.#engine.vocabulary()),
    chat: (request) => Promise.resolve(this.#engine.chat(request)),
    weights: () => Promise.resolve(this.#engine.weights()),
    weightRow: ({ name, index }) => Promise.resolve(this.#engine.weightRow(name, index)),
    dictionaries: (files, signal) => this.#useDictionaries(files, signal),
    run: (request, signal, onEvent) => this.#run(request, signal, onEvent),
    learn: (request, signal, onEvent) => this.#learn(request, signal, onEvent),
    learnStep: (progress, signal) => this.#timed(signal, () => this.#engine.learnStep(progress)),
    learnEvaluate: (data, signal) => this.#timed(signal, () => this.#engine.learnEvaluate(data)),
    learnSave: () => Promise.resolve(this.#engine.learnSave()),
  };

  call<K extends Kind>(
    kind: K,
    request: Request<K>,
    signal: AbortSignal,
    onEvent: (event: CallEvent<K>) => void,
  ): Promise<Result<K>> {
    const work = this.#work[kind];
    const result = this.#last.then(() => work(request, signal, onEvent));
    this.#last = result.catch(() => {});
    this.#waiting++;
    void this.#last.then(() => this.#waiting--);
    return result;
  }

  dispose(): void {
    this.#model?.release();
    this.#model = undefined;
  }

  /**
   * Runs a short text repeatedly while there are no calls, because runtimes start WebAssembly in a
   * slow tier and optimize code that runs often. A call waits for at most one step of this.
   */
  async warmUp(): Promise<void> {
    const options = {
      json: new TextEncoder().encode('{}'),
      values: new Uint8Array(),
      traced: false,
      explains: false,
      gradients: false,
    };
    let spent = 0;
    for (let run = 0; run < warmUpRuns && spent < warmUpMs; run++) {
      await this.#idle();
      let start = performance.now();
      this.#engine.begin([warmUpText], options);
      while (this.#engine.step().more) {
        spent += performance.now() - start;
        // A call has replaced this run.
        if (await this.#idle()) break;
        start = performance.now();
      }
      spent += performance.now() - start;
    }
    this.#model?.cancel();
  }

  // Waits until all calls are answered, including new ones. Returns whether there were any.
  async #idle(): Promise<boolean> {
    await turn();
    const waited = this.#waiting > 0;
    while (this.#waiting > 0) {
      await this.#last;
      await turn();
    }
    return waited;
  }

  get #engine(): Engine {
    if (!this.#model) throw new GlassformerError('disposed', 'The model was disposed of');
    return this.#model;
  }

  async #load(
    request: FolderRequest,
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<ModelDescription | undefined> {
    const loaded = await loadModel(request, signal, onProgress);
    // The binary that only trains describes no model.
    if (!loaded?.description['task']) return undefined;
    const { engine, description } = loaded;
    this.#model = engine;
    this.#stepwise = taskNamed(String(description['task']))?.stepwise ?? false;
    this.#longest = Number(description['maxSourceLength']);
    return { ...description, ...engine.runtime };
  }

  async #learn(
    { module, folder, config, data, pictures, options }: LearnRequest,
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<Result<'learn'>> {
    const request = folder && { ...folder, module, learns: true };
    const loaded = request && (await loadModel(request, signal, onProgress));
    if (request && !loaded) {
      const kind = pictures ? 'a classifier of pictures' : 'a model that reads texts';
      throw new GlassformerError('wrong_task', `expected ${kind}, to learn from such examples`);
    }
    const engine = loaded ? loaded.engine : await Engine.instantiate(module);
    const { model, ...counts } = engine.learnBegin(config, data, options);
    this.#model = engine;
    const description = describeModel(model);
    this.#longest = Number(description['maxSourceLength']);
    return { ...counts, model: { ...description, ...engine.runtime } };
  }

  async #useDictionaries(files: Sources, signal: AbortSignal): Promise<undefined> {
    const names = ['config.json', 'model.safetensors'] as const;
    const [config, weights] = await readWhole(files, names, signal);
    this.#engine.useDictionaries(config, weights);
    return undefined;
  }

  // Returns to the event loop first, so that a page in this thread is drawn and calls are aborted.
  async #timed<Value extends object>(
    signal: AbortSignal,
    work: () => Value,
  ): Promise<Value & Timed> {
    await turn();
    throwIfAborted(signal);
    const start = performance.now();
    const result = work();
    return { ...result, milliseconds: performance.now() - start };
  }

  async #run(
    request: RunRequest,
    signal: AbortSignal,
    onProgress: (progress: RawResult) => void,
  ): Promise<Answer[]> {
    const { inputs: texts, options } = request;
    const answers: Answer[] = [];
    while (answers.length < texts.length) {
      const first = answers.length;
      const run = (some: Input[]) => this.#together(some, options, signal, onProgress);
      const some = this.#stepwise
        ? texts.slice(first, first + inputsAtOnce)
        : await this.#fitting(texts, first);
      const more = await run(some);
      for (const [i, answer] of more.entries()) {
        // The inputs were too large together; each of them may fit alone.
        if ('error' in answer && answer.error.code === 'too_large' && some.length > 1) {
          more[i] = (await run([some[i]!]))[0]!;
        }
      }
      answers.push(...more);
      if (!goesOn(request, more)) break;
    }
    return answers;
  }

  // Returns as many texts, beginning with `first`, as fit into the rest of the slice. The pace of a
  // few texts is a poor estimate for many, so the work at most doubles.
  async #fitting(texts: Input[], first: number): Promise<Input[]> {
    let work = this.#workOf(texts[first]!);
    const sliceEnd = await this.#slice(work * this.#pace);
    const start = performance.now();
    let last = first + 1;
    while (last < texts.length) {
      const more = work + this.#workOf(texts[last]!);
      if (start + more * this.#pace > sliceEnd || more > 2 * this.#measured) break;
      work = more;
      last++;
    }
    return texts.slice(first, last);
  }

  async #together(
    texts: Input[],
    options: EngineOptions,
    signal: AbortSignal,
    onProgress: (progress: RawResult) => void,
  ): Promise<Answer[]> {
    throwIfAborted(signal);
    let start = performance.now();
    let spent = 0;
    const pause = async (): Promise<void> => {
      spent += performance.now() - start;
      await turn();
      throwIfAborted(signal);
      start = performance.now();
    };
    this.#engine.begin(texts, options);
    try {
      // A step can take as long as a slice, so there is a pause before each.
      if (this.#stepwise) await pause();
      for (;;) {
        const { more, progress } = this.#engine.step();
        if (progress) onProgress(progress);
        if (!more) break;
        await pause();
      }
      const answers = this.#engine.end();
      this.#measured = texts.reduce((work, text) => work + this.#workOf(text), 0);
      this.#pace = (spent + performance.now() - start) / this.#measured;
      return answers;
    } finally {
      this.#model?.cancel();
    }
  }

  // Returns the end of the current slice. Returns to the event loop first, unless work of `expected`
  // milliseconds fits into the slice.
  async #slice(expected: number): Promise<number> {
    if (performance.now() + expected > this.#sliceEnd) await turn();
    if (this.#sliceEnd === Infinity) {
      this.#sliceEnd = performance.now() + sliceMs;
      void turn().then(() => (this.#sliceEnd = Infinity));
    }
    return this.#sliceEnd;
  }

  // Returns a number that is proportional to the time for a text: its characters, of which about four
  // make a token, and a constant part.
  #workOf(text: Input): number {
    return Math.min(lengthOf(text), 4 * this.#longest) + 16;
  }
}

/** Returns whether the inputs after these answers are to be answered, too. */
function goesOn({ each }: RunRequest, answers: Answer[]): boolean {
  return each || !answers.some((answer) => 'error' in answer);
}
