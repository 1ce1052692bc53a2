import { Engine } from './engine.js';
import type { RawClassification } from './engine.js';
import { GlassformerError, throwIfAborted } from './errors.js';
import { loadModel } from './load.js';
import type { ClassifyRequest, Host, LoadRequest } from './protocol.js';
import type { ModelInfo, Progress } from './types.js';

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
