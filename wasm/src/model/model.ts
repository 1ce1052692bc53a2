/// <reference lib="esnext.disposable" preserve="true" />

import { checkOption, checkOptions, checkSignal } from '../base/checks.js';
import { iterate } from '../base/iterate.js';
import type { EngineOptions, RawResult } from '../engine/engine.js';
import type { Input, InputKind } from '../engine/input.js';
import { locateModel } from '../loading/locate.js';
import type { ModelFiles } from '../loading/options.js';
import type { Outcome } from './results.js';
import type { Architecture } from './architecture.js';
import { assembleExplanation } from './assemble.js';
import { encodeExplanation, encodeOptions } from './encode.js';
import type { ExplainCallOptions } from './encode.js';
import type { ModelInfo } from './info.js';
import type { OpenedModel } from './open_model.js';
import type { Session } from './session.js';
import { Weights } from './weights.js';

/** A method of a task's class: its name and the names of its options. */
export interface Method {
  readonly name: string;
  readonly options: readonly string[];
  /** What it reads, if that differs from the other methods of the class. */
  readonly inputs?: InputKind;
}

/** Returns the names of options without some of them. */
export const without = (names: readonly string[], left: readonly string[]): readonly string[] =>
  names.filter((name) => !left.includes(name));

/** The options of a call. The signal is not sent to the engine. */
interface CallOptions {
  signal?: AbortSignal | undefined;
}

/**
 * A loaded model of any task: the base of all classes. It holds a WebAssembly instance, in a worker
 * if the runtime has workers, until it is disposed of. Calls wait for one another. Every error is a
 * GlassformerError; later calls still work.
 */
export abstract class LoadedModel<Info extends ModelInfo> {
  /** Facts about the model. */
  readonly info: Info;
  /** The model's layers and their sizes. */
  readonly architecture: Architecture;
  /** The model's parameters. */
  readonly weights: Weights;
  readonly #session: Session;
  readonly #inputs: InputKind;

  protected constructor({ session, info, architecture }: OpenedModel<Info>, inputs: InputKind) {
    this.#session = session;
    this.#inputs = inputs;
    this.info = info;
    this.architecture = architecture;
    this.weights = new Weights(session);
  }

  /**
   * Returns the text of each token in the vocabulary, by id, as it reads within a sentence: with a
   * space in front if it starts a word. Tokens without a text, and single bytes, are returned by
   * name, such as `</s>` and `<0xE6>`. A translator's vocabulary is that of its translations.
   */
  vocabulary(): Promise<string[]> {
    return this.#session.ask('vocabulary', undefined);
  }

  /**
   * Gives the model dictionaries, for the methods "features" and "attribution_graph": a folder that
   * `glassformer train --lessons dictionary` has written, or its files, as for `load`. Their
   * parameters are then among `weights`. The model must have been loaded with `explain: true`.
   * Throws `invalid_weights` if they were made for another model.
   */
  async loadDictionaries(
    folder: string | URL | ModelFiles,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    checkOptions(options, ['signal'], 'loadDictionaries');
    checkSignal(options.signal);
    await this.#session.ask('dictionaries', locateModel(folder, {}, undefined), options.signal);
    this.weights.forget();
  }

  /** Ends the worker and frees the model. Calls and streams in progress reject with `disposed`. */
  dispose(): void {
    this.#session.dispose();
  }

  /** Answers one input. `fixed`: further options for the engine. */
  protected async one<Result>(
    given: unknown,
    options: CallOptions = {},
    method: Method,
    fixed?: object,
  ): Promise<Result> {
    const taken = this.#inputs.take(given);
    const encoded = encodeOptions(options, method.options, method.name, fixed);
    const input = taken instanceof Promise ? await taken : taken;
    return (await this.#session.results<Result>([input], encoded, options.signal))[0]!;
  }

  /** Answers several inputs. Fails if one of them fails. */
  protected async batch<Result>(
    given: readonly unknown[],
    options: CallOptions = {},
    method: Method,
  ): Promise<Result[]> {
    const { several } = this.#inputs;
    checkOption(Array.isArray(given), several, 'an array');
    const taken = Array.from(given, (each, index) =>
      this.#inputs.take(each, `${several}[${index}]`),
    );
    const encoded = encodeOptions(options, method.options, `${method.name}Batch`);
    const inputs = taken.some((each) => each instanceof Promise)
      ? await Promise.all(taken)
      : (taken as Input[]);
    return this.#session.results<Result>(inputs, encoded, options.signal);
  }

  /** Answers any number of inputs. Yields the result or the error of each. */
  protected async *each<Result>(
    given: Iterable<unknown> | AsyncIterable<unknown>,
    options: CallOptions = {},
    method: Method,
  ): AsyncGenerator<Outcome<Result>, void, void> {
    const encoded = encodeOptions(options, method.options, `${method.name}Each`);
    const inputs = { given, kind: this.#inputs };
    yield* this.#session.outcomes<Result>(inputs, encoded, options.signal);
  }

  /** Answers one input. Yields what `show` makes of each step, then returns the result. */
  protected async *steps<Result, Step>(
    given: unknown,
    options: CallOptions = {},
    method: Method,
    show: (raw: RawResult) => Step,
  ): AsyncGenerator<Step, Result, void> {
    const taken = this.#inputs.take(given);
    const fixed = { beams: 1, stream: true };
    const encoded = encodeOptions(options, method.options, method.name, fixed);
    const input = taken instanceof Promise ? await taken : taken;
    const [result] = yield* iterate<Step, Result[]>(options.signal, (push, inner) =>
      this.#session.results<Result>([input], encoded, inner, (raw) => push(show(raw))),
    );
    return result!;
  }

  /** Explains the answer to one input, or to two. `fixed`: further options for the engine. */
  protected async explained<Result>(
    given: unknown,
    options: ExplainCallOptions & { onProgress?: ((result: never) => void) | undefined },
    method: Method,
    fixed?: object,
  ): Promise<Result> {
    const taken = (method.inputs ?? this.#inputs).take(given);
    const encoded: EngineOptions = encodeExplanation(options, method.options, fixed);
    const { signal, onProgress } = options;
    const input = taken instanceof Promise ? await taken : taken;
    const show = (raw: RawResult): void => onProgress?.(assembleExplanation<never>(raw));
    return (await this.#session.results<Result>([input], encoded, signal, show))[0]!;
  }
}

// Symbol.dispose, for `using`, is newer than the oldest runtimes that the package supports.
export interface LoadedModel<Info extends ModelInfo> {
  [Symbol.dispose](): void;
}
if (Symbol.dispose) LoadedModel.prototype[Symbol.dispose] = LoadedModel.prototype.dispose;
