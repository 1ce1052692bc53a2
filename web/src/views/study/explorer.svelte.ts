/** The study's state: the model, texts, the intervention, and what it changed. */
import { Generator } from 'glassformer';
import { headName, headsIn, type HeadPosition } from '../../panels/heads/position.ts';
import { ModelLoader, type Model } from '../../models/model-loader.svelte.ts';
import { ownModels } from '../../models/tasks/own-models.ts';
import { readFailure, type Failure } from '../../ui/failure.ts';
import type { Figured } from '../../ui/figured.ts';
import { numbersIn, type Link } from '../../ui/link.ts';
import type { ViewState } from '../../ui/view.ts';
import { promotedBy, type PromotedTokens } from './promoted.ts';
import {
  Means,
  namesFor,
  optionsFor,
  summaryOf,
  TopTokens,
  unitsIn,
  type Activation,
  type Attention,
  type StudyOutcome,
  type Substitute,
  type Summary,
  type Target,
  type Trace,
  type Told,
} from './study.ts';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import { sharesOf, type Asked, type AskedHead } from './asked.ts';
import { subjectNames, subjects, type Runs, type SubjectName } from './subjects.ts';

export const kinds = ['heads', 'units'] as const;

/** A finished study, with what it was about. */
export interface Finished {
  target: Target;
  substitute: Substitute;
  /** The name of the measured number, and what texts with another answer do. */
  measure: string;
  flipped: string;
  outcomes: readonly StudyOutcome[];
  summary: Summary;
  /** The tokens that activate the first chosen unit the most. */
  top: readonly Activation[];
  /** The tokens that this unit promotes, if the model writes. */
  promoted: PromotedTokens | undefined;
}

export class StudyExplorer implements ViewState {
  readonly loader = new ModelLoader<Model>((name) => ownModels[name as SubjectName].opens);

  model = $state<SubjectName>('sentiment');
  /** The kind of attention whose heads are taken away. */
  attention = $state<Attention>('encoder');
  list = $state(subjects.sentiment.texts);
  kind = $state<Target['kind']>('heads');
  heads = $state.raw<readonly HeadPosition[]>([{ layer: 3, head: 2 }]);
  layer = $state(0);
  units = $state('1');
  substitute = $state<Substitute>('zero');

  finished = $state.raw<Finished>();
  /** What a head asks with and looks for. */
  asked = $state.raw<Asked>();
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
    await this.loader.load(this.model);
  }

  get subject() {
    return subjects[this.model];
  }

  /** Changes the model, its texts and the heads. */
  take(model: SubjectName): void {
    if (model === this.model) return;
    this.stop();
    const begun = this.loader.begun;
    this.#choose(model);
    if (begun) void this.load();
  }

  /** Changes the kind of attention. */
  attend(attention: Attention): void {
    this.attention = attention;
    this.heads = [{ layer: 0, head: 0 }];
  }

  #choose(model: SubjectName): void {
    this.model = model;
    this.list = this.subject.texts;
    this.attention = this.subject.attentions.at(-1)!;
    this.heads = [{ layer: 0, head: 0 }];
    this.layer = 0;
    this.finished = this.asked = undefined;
  }

  follow(link: Link): void {
    const model = subjectNames.find((each) => each === link.model) ?? 'sentiment';
    const other = model !== this.model;
    if (other) this.#choose(model);
    const attention = this.subject.attentions.find((each) => each === link.attention);
    if (attention) this.attention = attention;
    const heads = headsIn(link.heads);
    if (heads.length > 0) this.heads = heads;
    const [layer] = numbersIn(link.layer, 4);
    if (layer !== undefined) this.layer = layer;
    if (link.units !== undefined) this.units = link.units;
    this.kind = kinds.find((kind) => kind === link.of) ?? 'heads';
    this.substitute = link.by === 'mean' ? 'mean' : 'zero';
    if (other && this.loader.begun) void this.load();
  }

  get link(): Link {
    const { model, attention, kind, heads, layer, units, substitute } = this;
    return {
      ...(model !== 'sentiment' && { model }),
      ...(this.subject.attentions.length > 1 && kind === 'heads' && { attention }),
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
      architecture: this.ready ? (this.loader.model as Partial<Generator>).architecture : undefined,
      kind: ownModels[this.model].figure,
      rows: {},
      here: {
        parts: [this.kind === 'heads' ? 'attention' : 'feed'],
        ...(this.kind === 'units' && { layer: this.layer, stack: this.subject.stack }),
      },
      inside: undefined,
    };
  }

  /** The number of hidden units of a layer. */
  get width(): number {
    return this.#stack(this.subject.stack)?.layers[0]?.dFf ?? 512;
  }

  /** The numbers of layers and heads of the chosen attention. */
  get sizes(): { layers: number; heads: number; layersWithUnits: number } {
    const layers = this.#stack(this.attention === 'encoder' ? 'encoder' : 'decoder')?.layers ?? [];
    return {
      layers: layers.length,
      heads: layers[0]?.nHeads ?? 0,
      layersWithUnits: this.#stack(this.subject.stack)?.layers.length ?? 0,
    };
  }

  #stack(stack: 'encoder' | 'decoder') {
    const open = this.loader.model as Partial<Generator> | undefined;
    return this.ready ? open?.architecture?.[stack] : undefined;
  }

  get labels(): readonly string[] {
    return (this.loader.info as { labels?: readonly string[] } | undefined)?.labels ?? [];
  }

  get items() {
    return this.subject.itemsOf(this.list, this.labels);
  }

  isChosen = ({ layer, head }: HeadPosition): boolean =>
    this.heads.some((each) => each.layer === layer && each.head === head);

  toggle(at: HeadPosition): void {
    const others = this.heads.filter((each) => each.layer !== at.layer || each.head !== at.head);
    this.heads = others.length < this.heads.length ? others : [...this.heads, at];
  }

  /** The chosen target; undefined if nothing is chosen. */
  get target(): Target | undefined {
    const { kind, attention, heads, layer, width } = this;
    if (kind === 'heads') return heads.length > 0 ? { kind, attention, heads } : undefined;
    const units = unitsIn(this.units, width);
    const { stack } = this.subject;
    return units.length > 0 ? { kind, stack, layer, units } : undefined;
  }

  /** The head whose scores can be explained: the only one that is chosen. */
  get one(): AskedHead | undefined {
    const [head, ...others] = this.heads;
    if (this.kind !== 'heads' || !head || others.length > 0) return undefined;
    return { attention: this.attention, ...head };
  }

  /** Explains a head's scores in all texts. The model is loaded in a binary that explains. */
  async ask(): Promise<void> {
    this.stop();
    const { one, items, model: name, subject } = this;
    if (!one || items.length === 0) return;
    const explaining = new ExplainingModel(ownModels[name].opens, this.loader);
    const question = new Question(explaining);
    const { signal } = (this.#work = new AbortController());
    signal.addEventListener('abort', () => question.stop());
    this.failure = undefined;
    this.progress = 0;
    await question.ask(name, async (model) => {
      const scores = [];
      for (const { text } of items) {
        scores.push(await subject.score(model, text, one, signal));
        this.progress = scores.length;
      }
      this.asked = sharesOf(one, scores);
    });
    explaining.close();
    if (signal.aborted) return;
    this.failure = question.failure;
    this.progress = undefined;
  }

  stop(): void {
    this.#work.abort();
    this.progress = undefined;
  }

  async run(): Promise<void> {
    this.stop();
    const { target, substitute, subject, items, labels } = this;
    const { model } = this.loader;
    if (!model || !target || items.length === 0) return;
    const { signal } = (this.#work = new AbortController());
    this.failure = undefined;
    this.progress = 0;
    try {
      const trace = namesFor(target, substitute);
      const means = new Means();
      const top = target.kind === 'units' ? new TopTokens(target.units[0]!, 12) : undefined;
      const untouched: { runs: Runs; before: Told; trace: Trace }[] = [];
      for (const item of items) {
        const runs = await subject.begin(model, item, signal);
        const result = await runs.run({ trace, signal });
        means.add(result.trace);
        if (target.kind === 'units')
          top?.add(item.text, result.tokens[target.stack], result.trace[trace[0]!]!);
        const { label, measure, right } = result;
        untouched.push({ runs, before: { label, measure, right }, trace: result.trace });
        this.progress = untouched.length / 2;
      }
      const outcomes: StudyOutcome[] = [];
      for (const [i, { text }] of items.entries()) {
        const { runs, before, trace: traced } = untouched[i]!;
        const options = optionsFor(target, substitute, { trace: traced, means });
        const { label, measure, right } = await runs.run({ ...options, signal });
        outcomes.push({ text, label: runs.label, before, after: { label, measure, right } });
        this.progress = (items.length + outcomes.length) / 2;
      }
      const promoted =
        target.kind === 'units' && this.model === 'writer'
          ? await promotedBy(
              model as unknown as Generator,
              { layer: target.layer, unit: target.units[0]!, count: 10 },
              signal,
            )
          : undefined;
      this.finished = {
        ...{ target, substitute, outcomes, promoted },
        measure: subject.measure(labels),
        flipped: subject.flipped,
        summary: summaryOf(outcomes),
        top: top?.found ?? [],
      };
    } catch (error) {
      if (!signal.aborted) this.failure = readFailure(error);
    }
    if (this.#work.signal === signal) this.progress = undefined;
  }
}
