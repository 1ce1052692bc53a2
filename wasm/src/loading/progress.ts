import type { Manifest } from './manifest.js';
import type { Progress } from './options.js';

/** Reports the progress of a model's files in events whose numbers never decrease. */
export class ProgressMeter {
  readonly #onProgress: (progress: Progress) => void;
  readonly #files = new Map<string, { loaded: number; total: number | undefined }>();
  #begun = false;

  constructor(onProgress: (progress: Progress) => void) {
    this.#onProgress = onProgress;
  }

  /** Announces a file that will be read, and its size if it is known. */
  expect(file: string, total?: number): void {
    const state = this.#files.get(file) ?? { loaded: 0, total: undefined };
    this.#files.set(file, state);
    if (total === undefined || state.total !== undefined) return;
    state.total = total;
    if (state.loaded > 0) this.#tell(file);
  }

  /**
   * Starts the events: all files are announced, and the manifest tells the sizes of some. Earlier
   * progress is reported now, so that the first event has the sum of all sizes.
   */
  begin(manifest: Manifest | undefined): void {
    for (const [file, state] of this.#files) state.total = manifest?.[file]?.size ?? state.total;
    if (this.#begun) return;
    this.#begun = true;
    for (const [file, { loaded }] of this.#files) if (loaded > 0) this.#tell(file);
  }

  /** Records the number of bytes that have arrived, and whether the file has ended. */
  reach(file: string, loaded: number, ended: boolean): void {
    const state = this.#files.get(file)!;
    const news = loaded > state.loaded || (ended && state.total === undefined);
    // A file that is downloaded again reports nothing until it passes its earlier progress.
    state.loaded = Math.max(loaded, state.loaded);
    if (ended) state.total ??= loaded;
    if (news) this.#tell(file);
  }

  /** Ends the events: nothing more will be read, even of files that have not ended. */
  finish(): void {
    for (const state of this.#files.values()) state.total = state.loaded;
    this.begin(undefined);
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
