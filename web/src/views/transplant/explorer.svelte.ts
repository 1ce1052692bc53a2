/** The transplant view's state: two texts, the effects of patching, and the chosen vector. */
import { Classifier } from 'glassformer';
import type { Figured } from '../../ui/figured.ts';
import type { Link } from '../../ui/link.ts';
import { examples } from './examples.ts';
import { Explorer } from '../../models/explorer.svelte.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import { carried as carriedTokens } from '../../panels/words/tokens.ts';
import {
  deltaAt,
  type Carried,
  type Part,
  type Site,
  type PairReading,
  type TransplantTable,
} from '../../panels/transplant/transplant.ts';
import { fromTransplantLink, pairText, toTransplantLink } from './link.ts';

/** Delay between typing and the model's run, in milliseconds; longer if a run takes longer. */
const pause = 40;

export class TransplantExplorer extends Explorer<Classifier> {
  /** Gradients estimate the effects before they are measured. */
  readonly loader = new ModelLoader(() => Classifier, { explains: true });

  /** The text being patched. */
  base = $state('');
  /** The source text. */
  donor = $state('');
  site = $state<Site>('residual');
  /** The head of each layer whose output is patched. */
  head = $state(0);
  /** Undefined before the first run, and if a text has no tokens. */
  reading = $state.raw<PairReading>();
  /** The next reading while it is computed: it has estimates, and the effects so far. */
  partial = $state.raw<PairReading>();
  /** The patched vector, if any. */
  carried = $state.raw<Carried>();

  /** The result that `carried` belongs to; undefined until the texts are read. */
  #carriedOf: PairReading | undefined;

  constructor(link: Link) {
    super();
    this.#take({ text: examples[0]!.text });
    this.#take(link);
  }

  async load(): Promise<void> {
    if (await this.loader.load('sentiment')) void this.refresh();
  }

  follow(link: Link): void {
    this.#take(link);
    void this.refresh();
  }

  readonly viewpoint = ['head'];

  get link(): Link {
    return toTransplantLink(this);
  }

  get figure(): Figured {
    return {
      architecture: this.architecture,
      rows: { encoder: this.reading?.table.tokens.length },
      here: { parts: [this.site === 'residual' ? 'add' : 'attention'] },
      inside: { model: 'sentiment', text: this.base },
      ...(this.ready && {
        traceOf: async (trace) => (await this.loader.model!.classify(this.base, { trace })).trace,
      }),
    };
  }

  get labels(): readonly string[] {
    return this.loader.info?.labels ?? [];
  }

  get layers(): number {
    return this.loader.info?.layers ?? 4;
  }

  /** Both texts as one, like in examples. */
  get text(): string {
    return pairText(this.base, this.donor);
  }

  /** Edits one of the texts. */
  edit(texts: Partial<Record<'base' | 'donor', string>>): void {
    Object.assign(this, texts);
    this.refreshAfter(Math.max(pause, this.milliseconds ?? 0));
  }

  /** Shows an example. */
  show(text: string): void {
    this.carried = undefined;
    this.follow({ text });
  }

  swap(): void {
    [this.base, this.donor] = [this.donor, this.base];
    this.carried = undefined;
    void this.refresh();
  }

  carryFrom(part: Partial<Part>): void {
    Object.assign(this, part);
    void this.refresh();
  }

  carry(carried: Carried | undefined): void {
    this.carried = carried;
    this.#carriedOf = this.reading;
  }

  #take(link: Link): void {
    const { base, donor, site, head, carried } = fromTransplantLink(link);
    if (base !== undefined) this.base = base;
    if (donor !== undefined) this.donor = donor;
    if (site || base !== undefined) this.site = site ?? 'residual';
    if (head !== undefined) this.head = head;
    if (base !== undefined) this.carried = carried;
    this.#carriedOf = undefined;
  }

  protected get empty(): boolean {
    return this.base.trim() === '' || this.donor.trim() === '';
  }

  protected async ask(model: Classifier, signal: AbortSignal): Promise<void> {
    const { base, donor, site } = this;
    const start = performance.now();
    const head = Math.min(this.head, model.info.heads - 1);
    const label = model.info.labels.at(-1);
    const options = { method: 'activation_patching', site, label, signal } as const;
    const part = site === 'head' ? { head } : {};
    const texts = { base, donor, site, head };
    let estimates: TransplantTable | undefined;
    const onProgress = (table: TransplantTable) => {
      estimates ??= table;
      this.partial = { ...texts, table };
    };
    const table = await model.explain<'activation_patching'>(
      { text: base, pair: donor },
      { ...options, ...part, onProgress },
    );
    this.milliseconds = performance.now() - start;
    this.#show({ ...texts, table, estimates });
  }

  protected clear(): void {
    this.#show(undefined);
  }

  #show(reading: PairReading | undefined): void {
    this.busy = false;
    this.partial = undefined;
    this.reading = reading;
    const before = this.#carriedOf;
    this.#carriedOf = reading;
    if (this.carried && before !== reading)
      this.carried = reading && stillThere(this.carried, before, reading);
  }
}

/** Returns the place of a patched cell after an edit, or undefined if it is gone. */
function stillThere(
  { row, cell }: Carried,
  before: PairReading | undefined,
  { table }: PairReading,
): Carried | undefined {
  let now: number | undefined = cell;
  if (before) {
    const token = before.table.cells[cell]?.tokens[0] ?? -1;
    const place = carriedTokens(before.table.tokens, table.tokens).get(token);
    now = table.cells.findIndex(({ tokens }) => place !== undefined && tokens.includes(place));
  }
  const at = { row: Math.min(row, table.delta.shape[0]! - 1), cell: now };
  return Number.isNaN(now < 0 ? NaN : deltaAt(table, at)) ? undefined : at;
}
