/** The common part of view states that run a model: loading, running again, failures. */
import { GlassformerError, type Architecture, type Classifier } from 'glassformer';
import type { ViewState } from '../ui/view.ts';
import type { Link } from '../ui/link.ts';
import { readFailure, type Failure } from '../ui/failure.ts';
import type { Loader, Model } from './model-loader.svelte.ts';

export abstract class Explorer<M extends Model> implements ViewState {
  abstract readonly loader: Loader<M>;

  /** Whether the shown result is outdated. */
  busy = $state(true);
  /** Why there is no result. */
  failure = $state.raw<Failure>();
  /** The time from call to result. */
  milliseconds = $state<number>();

  /** Aborts the current run when another one replaces it. */
  protected asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  abstract readonly link: Link;
  abstract readonly viewpoint: readonly string[];
  abstract follow(link: Link): void;
  abstract load(): Promise<void>;

  /** Whether there is no input. */
  protected abstract readonly empty: boolean;
  /** Runs the model and shows the result. */
  protected abstract ask(model: M, signal: AbortSignal): Promise<void>;
  /** Shows that there is no result. `empty`: because there was no input. */
  protected abstract clear(empty: boolean): void;
  /** Returns the message for a run that failed. */
  protected failureOf(error: unknown): Failure {
    return readFailure(error);
  }

  start(): void {
    if (!this.loader.begun) void this.load();
  }

  get ready(): boolean {
    return this.loader.phase === 'ready';
  }

  /** Whether nothing can be changed yet, because the model is not loaded. */
  get frozen(): boolean {
    return this.loader.phase !== 'ready';
  }

  get working(): boolean {
    return this.loader.phase === 'loading' || (this.ready && this.busy);
  }

  /** The model's architecture, once it is loaded. */
  protected get architecture(): Architecture | undefined {
    return this.ready
      ? (this.loader.model as Partial<Classifier> | undefined)?.architecture
      : undefined;
  }

  /** Aborts the current run. */
  protected interrupt(): void {
    clearTimeout(this.#timer);
    this.asking.abort();
  }

  /** Runs the model after a pause in typing, in milliseconds. */
  protected refreshAfter(pause: number): void {
    this.busy = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), pause);
  }

  /** Runs the model again. */
  protected async refresh(): Promise<void> {
    this.interrupt();
    const { signal } = (this.asking = new AbortController());
    const { model } = this.loader;
    if (!model) return;
    this.failure = undefined;
    this.busy = true;
    if (this.empty) return this.clear(true);
    try {
      await this.ask(model, signal);
    } catch (error) {
      if (signal.aborted) return;
      // A text without tokens counts as empty.
      const empty = error instanceof GlassformerError && error.code === 'empty_input';
      this.clear(empty);
      if (!empty) this.failure = this.failureOf(error);
    }
  }
}
