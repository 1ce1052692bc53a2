/** What the states of views have in common that ask a model: it loads, and is asked anew. */
import { GlassformerError } from 'glassformer';
import type { ViewState } from '../ui/view.ts';
import type { Link } from '../ui/link.ts';
import { readFailure, type Failure } from '../ui/failure.ts';
import type { Loader, Model } from './model-loader.svelte.ts';

export abstract class Explorer<M extends Model> implements ViewState {
  abstract readonly loader: Loader<M>;

  /** Whether what is shown is older than what is asked. */
  busy = $state(true);
  /** Why there is no answer. */
  failure = $state.raw<Failure>();
  /** From call to answer. */
  milliseconds = $state<number>();

  /** What is asked; another question takes its place. */
  protected asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  abstract readonly link: Link;
  abstract readonly viewpoint: readonly string[];
  abstract follow(link: Link): void;
  abstract load(): Promise<void>;

  /** Whether there is nothing to ask about. */
  protected abstract readonly empty: boolean;
  /** Asks the model, and shows what it says. */
  protected abstract ask(model: M, signal: AbortSignal): Promise<void>;
  /** Shows that there is no answer. `empty`: since there was nothing to ask about. */
  protected abstract clear(empty: boolean): void;
  /** What is said where there was none. */
  protected failureOf(error: unknown): Failure {
    return readFailure(error);
  }

  start(): void {
    if (!this.loader.begun) void this.load();
  }

  get ready(): boolean {
    return this.loader.phase === 'ready';
  }

  /** Whether nothing can be switched yet: the model is still to come. */
  get frozen(): boolean {
    return this.loader.phase !== 'ready';
  }

  get working(): boolean {
    return this.loader.phase === 'loading' || (this.ready && this.busy);
  }

  /** What was asked is of no use any more. */
  protected interrupt(): void {
    clearTimeout(this.#timer);
    this.asking.abort();
  }

  /** Somebody types: the model is asked after a pause of this many milliseconds. */
  protected refreshAfter(pause: number): void {
    this.busy = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), pause);
  }

  /** Asks the model anew. */
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
      // A text without tokens is as good as none.
      const empty = error instanceof GlassformerError && error.code === 'empty_input';
      this.clear(empty);
      if (!empty) this.failure = this.failureOf(error);
    }
  }
}
