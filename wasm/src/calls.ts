import type { ModelHandle } from './handle.js';
import { encodeOptions } from './encode.js';
import { checkOption } from './options.js';
import type { ToInput } from './inputs.js';
import type { ModelInfo, Outcome } from './types.js';

/** A call's options, of which the signal stays on this side. */
interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** How a class asks its model: for one result, for several, or for any number. */
export class Calls {
  readonly #model: ModelHandle<ModelInfo>;
  readonly #options: readonly string[];
  readonly #toInput: ToInput;

  constructor(model: ModelHandle<ModelInfo>, options: readonly string[], toInput: ToInput) {
    this.#model = model;
    this.#options = options;
    this.#toInput = toInput;
  }

  async one<Result>(given: unknown, options: CallOptions, name: string): Promise<Result> {
    const input = this.#toInput(given);
    const encoded = encodeOptions(options, this.#options, name);
    return (await this.#model.results<Result>([input], encoded, options.signal))[0]!;
  }

  async batch<Result>(given: readonly unknown[], options: CallOptions, name: string) {
    checkOption(Array.isArray(given), 'texts', 'an array');
    const inputs = Array.from(given, (each, index) => this.#toInput(each, `texts[${index}]`));
    const encoded = encodeOptions(options, this.#options, name);
    return this.#model.results<Result>(inputs, encoded, options.signal);
  }

  async *each<Result>(
    given: Iterable<unknown> | AsyncIterable<unknown>,
    options: CallOptions,
    name: string,
  ): AsyncGenerator<Outcome<Result>, void, void> {
    const encoded = encodeOptions(options, this.#options, name);
    const inputs = { given, toInput: this.#toInput };
    yield* this.#model.outcomes<Result>(inputs, encoded, options.signal);
  }
}
