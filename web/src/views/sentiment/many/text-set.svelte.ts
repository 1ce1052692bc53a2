/** A list of texts that the sentiment model classifies one by one while the view stays usable. */
import { readFailure, type Failure } from '../../../ui/failure.ts';
import type { SentimentExplorer } from '../explorer.svelte.ts';
import { entriesOf } from '../../../panels/verdict/entries.ts';
import type { Judged } from './text-set.ts';

/** Time between updates of the table, in milliseconds. Drawing after every row would be slow. */
const pause = 120;

export class TextSet {
  list = $state('');
  rows = $state.raw<readonly Judged[]>([]);
  /** The number of texts to classify; 0 if it is not running. */
  wanted = $state(0);
  /** The number of heads that were off. */
  off = $state(0);
  failure = $state.raw<Failure>();

  readonly #explorer: SentimentExplorer;
  #work = new AbortController();

  constructor(explorer: SentimentExplorer) {
    this.#explorer = explorer;
  }

  get running(): boolean {
    return this.wanted > 0;
  }

  async judge(): Promise<void> {
    this.stop();
    const { labels, choice, loader } = this.#explorer;
    const entries = entriesOf(this.list, labels);
    if (!loader.model || entries.length === 0) return;
    const { signal } = (this.#work = new AbortController());
    const rows: Judged[] = [];
    let shown = performance.now();
    this.failure = undefined;
    this.rows = rows;
    this.wanted = entries.length;
    this.off = choice.off.length;
    try {
      const texts = entries.map(({ text }) => text);
      const options = { ablate: choice.off, signal };
      for await (const { index, result, error } of loader.model.classifyEach(texts, options)) {
        rows.push({
          ...entries[index]!,
          ...(error
            ? { problem: error.message }
            : { verdict: result.label, probability: result.scores.at(-1)!.score }),
        });
        if (performance.now() - shown < pause) continue;
        this.rows = [...rows];
        shown = performance.now();
      }
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
    if (this.#work.signal !== signal) return;
    this.rows = [...rows];
    this.wanted = 0;
  }

  /** Stops; the rows so far stay. */
  stop(): void {
    this.#work.abort();
  }
}
