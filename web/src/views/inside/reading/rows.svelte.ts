/** The rows of a model's weights that unfolded numbers need. Each is fetched once, on demand. */
import type { Weights } from 'glassformer';
import { SvelteMap } from 'svelte/reactivity';

export class WeightRows {
  readonly #model: { readonly weights: Weights };
  readonly #onFailure: (error: unknown) => void;
  readonly #rows = new SvelteMap<string, Float32Array>();
  readonly #asked = new Set<string>();

  constructor(model: { readonly weights: Weights }, onFailure: (error: unknown) => void) {
    this.#model = model;
    this.#onFailure = onFailure;
  }

  /** Returns a row, or undefined until it has arrived. */
  row(name: string, index: number): Float32Array | undefined {
    const key = `${name} ${index}`;
    const found = this.#rows.get(key);
    if (!found && !this.#asked.has(key)) {
      this.#asked.add(key);
      this.#model.weights.row(name, index).then(
        (row) => this.#rows.set(key, row),
        (error: unknown) => this.#onFailure(error),
      );
    }
    return found;
  }
}
