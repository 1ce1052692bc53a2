/** The study's state: texts, the intervention, and what it changed. */
import { Classifier, type Classification } from 'glassformer';
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import { evidence } from '../../panels/ledger/evidence.ts';
import { entriesOf } from '../../panels/verdict/entries.ts';
import { probes } from '../../panels/verdict/probes.ts';
import { ModelLoader } from '../../models/model-loader.svelte.ts';
import { readFailure, type Failure } from '../../ui/failure.ts';
import type { Figured } from '../../ui/figured.ts';
import { numbersIn, type Link } from '../../ui/link.ts';
import type { ViewState } from '../../ui/view.ts';
import {
  Means,
  namesFor,
  optionsFor,
  summaryOf,
  TopTokens,
  unitsIn,
  type Activation,
  type Outcome,
  type Substitute,
  type Summary,
  type Target,
  type Trace,
} from './study.ts';

/** The probes: in turn a positive and a negative one. */
export const shippedTexts = probes
  .map((text, i) => `${i % 2 === 0 ? 'positive' : 'negative'}\t${text}`)
  .join('\n');

export const kinds = ['heads', 'units'] as const;

/** A finished study, with what it was about. */
export interface Finished {
  target: Target;
  substitute: Substitute;
  outcomes: readonly Outcome[];
  summary: Summary;
  /** The tokens that activate the first chosen unit the most. */
  top: readonly Activation[];
}

export class StudyExplorer implements ViewState {
  readonly loader = new ModelLoader(() => Classifier);

  list = $state(shippedTexts);
  kind = $state<Target['kind']>('heads');
  heads = $state.raw<readonly HeadPosition[]>([{ layer: 3, head: 2 }]);
  layer = $state(0);
  units = $state('1');
  substitute = $state<Substitute>('zero');

  finished = $state.raw<Finished>();
  /** The number of texts so far; undefined if it is not running. */
  progress = $state<number>();
  failure = $state.raw<Failure>();
  #work = new AbortController();

  readonly viewpoint = [];

  constructor(link: Link) {
    this.follow(link);
  }

  start(): void {
    if (!this.loader.begun) void this.load();
  }

  async load(): Promise<void> {
    await this.loader.load('sentiment');
  }

  follow(link: Link): void {
    const heads = headsIn(link.heads);
    if (heads.length > 0) this.heads = heads;
    const [layer] = numbersIn(link.layer, 4);
    if (layer !== undefined) this.layer = layer;
    if (link.units !== undefined) this.units = link.units;
    this.kind = kinds.find((kind) => kind === link.of) ?? 'heads';
    this.substitute = link.by === 'mean' ? 'mean' : 'zero';
  }

  get link(): Link {
    const { kind, heads, layer, units, substitute } = this;
    return {
      of: kind,
      ...(kind === 'heads'
        ? { heads: heads.map(headName).join(',') }
        : { layer: `${layer}`, units }),
      ...(substitute === 'mean' && { by: 'mean' }),
    };
  }

  get ready(): boolean {
    return this.loader.phase === 'ready';
  }

  get working(): boolean {
    return this.loader.phase === 'loading' || this.progress !== undefined;
  }

  get figure(): Figured {
    return {
      architecture: this.ready ? this.loader.model!.architecture : undefined,
      rows: {},
      here: {
        parts: [this.kind === 'heads' ? 'attention' : 'feed'],
        ...(this.kind === 'units' && { layer: this.layer }),
      },
      inside: undefined,
    };
  }

  /** The number of hidden units of a layer. */
  get width(): number {
    return (this.ready && this.loader.model!.architecture.encoder!.layers[0]!.dFf) || 512;
  }

  get labels(): readonly string[] {
    return this.loader.info?.labels ?? [];
  }

  isChosen = ({ layer, head }: HeadPosition): boolean =>
    this.heads.some((each) => each.layer === layer && each.head === head);

  toggle(at: HeadPosition): void {
    const others = this.heads.filter((each) => each.layer !== at.layer || each.head !== at.head);
    this.heads = others.length < this.heads.length ? others : [...this.heads, at];
  }

  /** The chosen target; undefined if nothing is chosen. */
  get target(): Target | undefined {
    const { kind, heads, layer, width } = this;
    if (kind === 'heads') return heads.length > 0 ? { kind, heads } : undefined;
    const units = unitsIn(this.units, width);
    return units.length > 0 ? { kind, layer, units } : undefined;
  }

  stop(): void {
    this.#work.abort();
    this.progress = undefined;
  }

  async run(): Promise<void> {
    this.stop();
    const { target, substitute, labels } = this;
    const { model } = this.loader;
    const entries = entriesOf(this.list, labels);
    if (!model || !target || entries.length === 0) return;
    const { signal } = (this.#work = new AbortController());
    this.failure = undefined;
    this.progress = 0;
    try {
      const trace = namesFor(target, substitute);
      const means = new Means();
      const top = target.kind === 'units' ? new TopTokens(target.units[0]!, 12) : undefined;
      const untouched: { result: Classification; trace: Trace }[] = [];
      for (const { text } of entries) {
        const result = await model.classify(text, { trace, signal });
        means.add(result.trace);
        top?.add(text, result, result.trace[trace[0]!]!);
        untouched.push({ result, trace: result.trace });
        this.progress = untouched.length / 2;
      }
      const outcomes: Outcome[] = [];
      for (const [i, entry] of entries.entries()) {
        const { result: before, trace: traced } = untouched[i]!;
        const { length: tokens } = before.tokens;
        const options = optionsFor(target, substitute, { trace: traced, tokens, means });
        const after = await model.classify(entry.text, { ...options, signal });
        const told = (result: Classification) => ({
          label: result.label,
          evidence: evidence(result, labels),
        });
        outcomes.push({ ...entry, before: told(before), after: told(after) });
        this.progress = (entries.length + outcomes.length) / 2;
      }
      const summary = summaryOf(outcomes);
      this.finished = { target, substitute, outcomes, summary, top: top?.found ?? [] };
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
    if (this.#work.signal === signal) this.progress = undefined;
  }
}
