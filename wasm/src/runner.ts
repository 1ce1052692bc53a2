import { Engine, resultOf } from './engine.js';
import type { Answer, RawClassification, RawStep, RawTranslation } from './engine.js';
import { GlassformerError, throwIfAborted } from './errors.js';
import { loadModel } from './load.js';
import type {
  CallEvent,
  Host,
  Kind,
  LoadRequest,
  Request,
  Result,
  TextRequest,
} from './protocol.js';
import type { ModelInfo, Progress } from './types.js';

// Longest time in milliseconds without giving way to other events, among them an abort.
const sliceMs = 8;

// Texts that are translated together: more keep the engine busier, and hold more of its memory.
const textsAtOnce = 16;

// Enough for V8: the sentiment model's first call takes 2 ms after a warm-up, 9 to 20 ms without.
// The limit of time is for large models, whose kernels run longer and are optimised sooner.
const warmUpRuns = 30;
const warmUpMs = 200;
const warmUpText = 'Warm up the engine with a few plain words.';

type Work<K extends Kind> = (
  request: Request<K>,
  signal: AbortSignal,
  onEvent: (event: CallEvent<K>) => void,
) => Promise<Result<K>>;

/** Runs a model in the thread that it is made in, one call after the other. */
export class Runner implements Host {
  #model: Engine | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  readonly #work: { [K in Kind]: Work<K> } = {
    load: (request, signal, onEvent) => this.#load(request, signal, onEvent),
    classify: (request, signal) => this.#classify(request, signal),
    translate: (request, signal, onEvent) => this.#translate(request, signal, onEvent),
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
    this.#model = undefined;
  }

  /**
   * Runs a short text again and again, while nobody asks for anything else: the runtime starts
   * WebAssembly in a slow tier and optimises what runs often. A call waits for one slice of it at
   * most: one classification, one step of a translation.
   */
  async warmUp(task: LoadRequest['task']): Promise<void> {
    const options = new TextEncoder().encode('{}');
    let spent = 0;
    for (let run = 0; run < warmUpRuns && spent < warmUpMs; run++) {
      await this.#idle();
      if (task === 'translate') this.#engine.translateBegin([warmUpText], options);
      for (let done = false; !done;) {
        const start = performance.now();
        if (task === 'classify') this.#engine.classify(warmUpText, options);
        done = task === 'classify' || this.#engine.translateStep().done;
        spent += performance.now() - start;
        // A call for a translation takes the place of this one.
        if (!done && (await this.#idle())) break;
      }
    }
  }

  // Until the calls so far are answered and those that have just come, too. Resolves to whether
  // there were any.
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
    request: LoadRequest,
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<ModelInfo> {
    const engine = await Engine.instantiate(request.module);
    const description = await loadModel(engine, request, { signal, onProgress });
    this.#model = engine;
    const info = Object.entries(description).map(([key, value]) => [
      key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]);
    return { ...Object.fromEntries(info), binary: engine.binary };
  }

  async #classify(request: TextRequest, signal: AbortSignal): Promise<RawClassification[]> {
    const results: RawClassification[] = [];
    let now = performance.now();
    let sliceEnd = now + sliceMs;
    let took = 0; // for the text before, as long as the next one is expected to take
    for (const text of request.texts) {
      if (now + took > sliceEnd) {
        await turn();
        now = performance.now();
        sliceEnd = now + sliceMs;
      }
      throwIfAborted(signal);
      const start = now;
      collect(request, [this.#engine.classify(text, request.options)], results);
      now = performance.now();
      took = now - start;
    }
    return results;
  }

  async #translate(
    request: TextRequest,
    signal: AbortSignal,
    onStep: (step: RawStep) => void,
  ): Promise<RawTranslation[]> {
    const results: RawTranslation[] = [];
    while (results.length < request.texts.length) {
      const texts = request.texts.slice(results.length, results.length + textsAtOnce);
      throwIfAborted(signal);
      this.#engine.translateBegin(texts, request.options);
      try {
        for (let done = false; !done;) {
          // A step can take as long as a slice, so each is one.
          await turn();
          throwIfAborted(signal);
          const progress = this.#engine.translateStep();
          if (progress.step) onStep(progress.step);
          done = progress.done;
        }
        collect(request, this.#engine.translateEnd(), results);
      } finally {
        this.#model?.translateCancel();
      }
    }
    return results;
  }
}

/** Adds the results of a request's next texts; of several texts, an error tells which it is. */
function collect<T extends object>(
  { texts }: TextRequest,
  answers: Answer<T>[],
  results: T[],
): void {
  for (const answer of answers) {
    try {
      results.push(resultOf(answer));
    } catch (error) {
      if (!(error instanceof GlassformerError) || texts.length === 1) throw error;
      throw new GlassformerError(error.code, `texts[${results.length}]: ${error.message}`, {
        cause: error,
      });
    }
  }
}

let channel: MessageChannel | undefined;
const turns: (() => void)[] = [];

/** Lets other events, such as messages and timers, be handled. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => void };
    if (setImmediate) {
      setImmediate(resolve);
      return;
    }
    // Unlike setTimeout, a message is not held back by 4 ms or more.
    if (typeof MessageChannel !== 'function') {
      setTimeout(resolve);
      return;
    }
    if (!channel) {
      channel = new MessageChannel();
      channel.port1.onmessage = () => turns.shift()!();
    }
    turns.push(resolve);
    channel.port2.postMessage(null);
  });
}
