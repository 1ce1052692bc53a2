import type { Answer, Engine, RawClassification, RawStep, RawTranslation } from './engine.js';
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
import { turn } from './turn.js';
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
  #longest = 0; // tokens that it reads
  #sliceEnd = Infinity; // until other events have had their turn; else that of a slice
  #pace = 0; // milliseconds per unit of work, as it was for the texts before
  #measured = 0; // the work that they were
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
        if (task === 'classify') this.#engine.classify([warmUpText], options);
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
    const { engine, description } = await loadModel(request, signal, onProgress);
    this.#model = engine;
    this.#longest = Number(description['max_source_length']);
    const info = Object.entries(description).map(([key, value]) => [
      key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]);
    return { ...Object.fromEntries(info), binary: engine.binary };
  }

  async #classify(request: TextRequest, signal: AbortSignal): Promise<Answer<RawClassification>[]> {
    const { texts, options } = request;
    const answers: Answer<RawClassification>[] = [];
    while (answers.length < texts.length) {
      const first = answers.length;
      let work = this.#workOf(texts[first]!);
      const sliceEnd = await this.#slice(work * this.#pace);
      throwIfAborted(signal);
      // As many texts at once as the rest of the slice has time for. What was measured on a few
      // texts says little of many, so at most twice as much as before.
      const start = performance.now();
      let last = first + 1;
      while (last < texts.length) {
        const more = work + this.#workOf(texts[last]!);
        if (start + more * this.#pace > sliceEnd || more > 2 * this.#measured) break;
        work = more;
        last++;
      }
      const more = this.#engine.classify(texts.slice(first, last), options);
      this.#pace = (performance.now() - start) / work;
      this.#measured = work;
      answers.push(...more);
      if (!goesOn(request, more)) break;
    }
    return answers;
  }

  // Until when this thread may work on. Gives way to other events first, unless work of `expected`
  // milliseconds still fits into the slice that began when they last had their turn.
  async #slice(expected: number): Promise<number> {
    if (performance.now() + expected > this.#sliceEnd) await turn();
    if (this.#sliceEnd === Infinity) {
      this.#sliceEnd = performance.now() + sliceMs;
      void turn().then(() => (this.#sliceEnd = Infinity));
    }
    return this.#sliceEnd;
  }

  // How long a text takes, but for a factor: by its characters, of which a model has a token for
  // every four or so, and by what every text has.
  #workOf(text: string): number {
    return Math.min(text.length, 4 * this.#longest) + 16;
  }

  async #translate(
    request: TextRequest,
    signal: AbortSignal,
    onStep: (step: RawStep) => void,
  ): Promise<Answer<RawTranslation>[]> {
    const answers: Answer<RawTranslation>[] = [];
    while (answers.length < request.texts.length) {
      const texts = request.texts.slice(answers.length, answers.length + textsAtOnce);
      const translate = (some: string[]) =>
        this.#translateTogether(some, request.options, signal, onStep);
      const more = await translate(texts);
      for (const [i, answer] of more.entries()) {
        // What several texts take together is counted; alone it may fit.
        if ('error' in answer && answer.error.code === 'too_large' && texts.length > 1) {
          more[i] = (await translate([texts[i]!]))[0]!;
        }
      }
      answers.push(...more);
      if (!goesOn(request, more)) break;
    }
    return answers;
  }

  async #translateTogether(
    texts: string[],
    options: Uint8Array,
    signal: AbortSignal,
    onStep: (step: RawStep) => void,
  ): Promise<Answer<RawTranslation>[]> {
    throwIfAborted(signal);
    this.#engine.translateBegin(texts, options);
    try {
      for (let done = false; !done;) {
        // A step can take as long as a slice, so each is one.
        await turn();
        throwIfAborted(signal);
        const progress = this.#engine.translateStep();
        if (progress.step) onStep(progress.step);
        done = progress.done;
      }
      return this.#engine.translateEnd();
    } finally {
      this.#model?.translateCancel();
    }
  }
}

/** Whether the texts after these answers are wanted, too. */
function goesOn({ each }: TextRequest, answers: Answer<object>[]): boolean {
  return each || !answers.some((answer) => 'error' in answer);
}
