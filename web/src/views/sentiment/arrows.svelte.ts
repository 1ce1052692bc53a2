/** Attention edges: the effect of cutting some, and the smallest circuit that keeps the verdict. */
import type { AttentionEdge, Classifier, Explanations, Patch, Token } from 'glassformer';
import { evidence } from '../../panels/ledger/evidence.ts';
import { Question, type ExplainingModel } from '../../models/explaining-model.svelte.ts';
import { carried } from '../../panels/words/tokens.ts';

/** A text with the tokens that edges connect. */
export interface ArrowText {
  text: string;
  tokens: readonly Token[];
}

/** The circuit search takes time quadratic in the tokens: longer texts would take too long. */
export const longestForCircuit = 64;

const same = (a: AttentionEdge, b: AttentionEdge) =>
  a.layer === b.layer && a.head === b.head && a.query === b.query && a.key === b.key;

/** Returns the edges at their places after an edit, without those that lost an end. */
export function carriedArrows(
  arrows: readonly AttentionEdge[],
  before: readonly Token[],
  after: readonly Token[],
): AttentionEdge[] {
  const places = carried(before, after);
  return arrows.flatMap((arrow) => {
    const [query, key] = [places.get(arrow.query), places.get(arrow.key)];
    return query === undefined || key === undefined ? [] : [{ ...arrow, query, key }];
  });
}

/** Converts a value for `label` to the log-odds of the last label. */
const ofLast = (label: string, value: number, labels: readonly string[]) =>
  label === labels.at(-1) ? value : -value;

/** The log-odds of the last label before and after cutting edges, and the effect of each one. */
export interface ArrowOutcome {
  edges: readonly AttentionEdge[];
  before: number;
  after: number;
  alone: readonly number[];
}

/** A circuit, with values for the last label. */
export interface FoundCircuit extends ArrowText {
  label: string;
  heads: Explanations['circuit']['heads'];
  edges: Explanations['circuit']['edges'];
  faithfulness: number;
  /** The log-odds with the whole model, with only the circuit, and without any head. */
  whole: number;
  kept: number;
  nothing: number;
}

/** The log-odds of a circuit without its cut edges. */
export interface Remainder {
  of: FoundCircuit;
  cut: readonly AttentionEdge[];
  value: number;
}

/** Returns patches that keep only these edges and set all other attention weights to zero. */
export function onlyArrows(
  arrows: readonly AttentionEdge[],
  { layers, heads, tokens }: { layers: number; heads: number; tokens: number },
): Patch[] {
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  return range(layers).flatMap((layer) => {
    const name = `encoder.layers.${layer}.self_attn.weights`;
    return range(heads).flatMap((head): Patch[] => {
      const own = arrows.filter((each) => each.layer === layer && each.head === head);
      if (own.length === 0) return [{ name, heads: [head], value: 0 }];
      return range(tokens).flatMap((query): Patch[] => {
        const seen = new Set(own.filter((each) => each.query === query).map(({ key }) => key));
        const keys = range(tokens).filter((key) => !seen.has(key));
        return keys.length > 0 ? [{ name, heads: [head], tokens: [query], keys, value: 0 }] : [];
      });
    });
  });
}

export class Arrows {
  readonly cutting: Question<Classifier>;
  readonly searching: Question<Classifier>;
  readonly checking: Question<Classifier>;

  cut = $state.raw<readonly AttentionEdge[]>([]);
  /** The effect of the cut edges. */
  outcome = $state.raw<ArrowOutcome>();
  /** Whether the circuit of every new text is searched. */
  wanted = $state(false);
  circuit = $state.raw<FoundCircuit>();
  /** The circuit without its cut edges, if it has any. */
  remainder = $state.raw<Remainder>();

  #of = $state.raw<ArrowText>();

  constructor(model: ExplainingModel<Classifier>) {
    this.cutting = new Question(model);
    this.searching = new Question(model);
    this.checking = new Question(model);
  }

  /** Follows the text: cut edges move with their tokens. */
  follow(of: ArrowText | undefined): void {
    const before = this.#of;
    if (before === of) return;
    this.#of = of;
    this.cut = before && of ? carriedArrows(this.cut, before.tokens, of.tokens) : [];
    this.outcome = undefined;
    void this.#measure();
    if (this.wanted) void this.search();
  }

  isCut(arrow: AttentionEdge): boolean {
    return this.cut.some((each) => same(each, arrow));
  }

  toggle(arrow: AttentionEdge): void {
    this.cut = this.isCut(arrow)
      ? this.cut.filter((each) => !same(each, arrow))
      : [...this.cut, arrow];
    void this.#measure();
    void this.#check();
  }

  /** The circuit's edges that are cut. */
  get circuitCut(): readonly AttentionEdge[] {
    return this.circuit?.edges.filter((edge) => this.isCut(edge)) ?? [];
  }

  get circuitLeft(): readonly AttentionEdge[] {
    return this.circuit?.edges.filter((edge) => !this.isCut(edge)) ?? [];
  }

  async search(): Promise<void> {
    this.wanted = true;
    this.circuit = this.remainder = undefined;
    const of = this.#of;
    if (!of || of.tokens.length > longestForCircuit) return this.searching.stop();
    await this.searching.ask('sentiment', async (model, signal) => {
      const found = await model.explain<'circuit'>(of.text, { method: 'circuit', signal });
      const { label, heads, edges, faithfulness } = found;
      const [whole, kept, nothing] = [found.value, found.kept, found.nothing].map((value) =>
        ofLast(label, value, model.info.labels),
      ) as [number, number, number];
      this.circuit = { ...of, label, heads, edges, faithfulness, whole, kept, nothing };
    });
    await this.#check();
  }

  forget(): void {
    this.wanted = false;
    this.searching.stop();
    this.checking.stop();
    this.circuit = this.remainder = undefined;
  }

  stop(): void {
    this.cutting.stop();
    this.searching.stop();
    this.checking.stop();
  }

  /** Runs the circuit without its cut edges, which the search ignores. */
  async #check(): Promise<void> {
    const { circuit: of, circuitCut: cut } = this;
    this.remainder = undefined;
    if (!of || cut.length === 0) return this.checking.stop();
    await this.checking.ask('sentiment', async (model, signal) => {
      const { layers, heads } = model.info;
      const patch = onlyArrows(this.circuitLeft, { layers, heads, tokens: of.tokens.length });
      const value = evidence(await model.classify(of.text, { patch, signal }));
      if (!signal.aborted) this.remainder = { of, cut, value };
    });
  }

  async #measure(): Promise<void> {
    const { cut: edges } = this;
    const of = this.#of;
    if (!of || edges.length === 0) {
      this.cutting.stop();
      this.outcome = undefined;
      return;
    }
    await this.cutting.ask('sentiment', async (model, signal) => {
      const options = { method: 'edges', edges, cut: 'weights', signal } as const;
      const found = await model.explain<'edges'>(of.text, options);
      const own = (value: number) => ofLast(found.label, value, model.info.labels);
      const alone = found.alone.map(own);
      this.outcome = { edges, before: own(found.value), after: own(found.without), alone };
    });
  }
}
