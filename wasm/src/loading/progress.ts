import type { Manifest } from './manifest.js';
import type { Progress } from './options.js';

/** How far a model's files have come, told in events that never go back. */
export class ProgressMeter {
  readonly #onProgress: (progress: Progress) => void;
  readonly #files = new Map<string, { loaded: number; total: number | undefined }>();
  #begun = false;

  constructor(onProgress: (progress: Progress) => void) {
    this.#onProgress = onProgress;
  }

  /** This file will be read: of so many bytes, where that is known. */
  expect(file: string, total?: number): void {
    const state = this.#files.get(file) ?? { loaded: 0, total: undefined };
    this.#files.set(file, state);
    if (total === undefined || state.total !== undefined) return;
    state.total = total;
    if (state.loaded > 0) this.#tell(file);
  }

  /**
   * No other files will be read, and some have these sizes. Until then nothing is told, so that the
   * first event can tell the sum of all sizes; what came meanwhile is told now.
   */
  begin(manifest: Manifest | undefined): void {
    for (const [file, state] of this.#files) state.total = manifest?.[file]?.size ?? state.total;
    if (this.#begun) return;
    this.#begun = true;
    for (const [file, { loaded }] of this.#files) if (loaded > 0) this.#tell(file);
  }

  /** So many bytes of the file have come, and where it has ended, that was all. */
  reach(file: string, loaded: number, ended: boolean): void {
    const state = this.#files.get(file)!;
    const news = loaded > state.loaded || (ended && state.total === undefined);
    // A file that is fetched a second time tells nothing new at first.
    state.loaded = Math.max(loaded, state.loaded);
    if (ended) state.total ??= loaded;
    if (news) this.#tell(file);
  }

  #tell(file: string): void {
    if (!this.#begun) return;
    const states = [...this.#files.values()];
    const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
    const totals = states.flatMap(({ total }) => total ?? []);
    this.#onProgress({
      file,
      ...this.#files.get(file)!,
      overall: {
        loaded: sum(states.map(({ loaded }) => loaded)),
        total: totals.length === states.length ? sum(totals) : undefined,
      },
    });
  }
}
