/** What was there before somebody began to type: it is kept beside what is there now. */
export class Earlier<T> {
  value = $state.raw<T>();
  #typing = false;

  /** Something is typed; `now` is what is there. As long as nothing else happens, the first one stays. */
  typed(now: T | undefined): void {
    if (!this.#typing) this.value = now;
    this.#typing = true;
  }

  /** Something else was done: more typing begins anew. */
  rest(): void {
    this.#typing = false;
  }

  /** Another text altogether. */
  forget(): void {
    this.value = undefined;
    this.rest();
  }
}
