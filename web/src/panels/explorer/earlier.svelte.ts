/** The result from before the text was edited. It is shown next to the current one. */
export class Earlier<T> {
  value = $state.raw<T>();
  #typing = false;

  /** Call this on typing, with the current result. Consecutive typing keeps the first one. */
  typed(now: T | undefined): void {
    if (!this.#typing) this.value = now;
    this.#typing = true;
  }

  /** Call this on any other action, so that the next typing keeps a new result. */
  rest(): void {
    this.#typing = false;
  }

  /** Forgets the result, because the text was replaced. */
  forget(): void {
    this.value = undefined;
    this.rest();
  }
}
