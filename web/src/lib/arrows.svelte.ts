/** Arrows of attention: what is left of the verdict without some, and how few keep it. */
import type { AttentionEdge, Classifier, Explanations, Token } from 'glassformer';
import { Question, type ExplainingModel } from './explaining-model.svelte.ts';
import { carried } from './tokens.ts';

/** A text with the tokens that arrows go between. */
export interface ArrowText {
  text: string;
  tokens: readonly Token[];
}

/** The search tries every head, and then arrows by the square of the tokens: more would take too long. */
export const longestForCircuit = 64;

const same = (a: AttentionEdge, b: AttentionEdge) =>
  a.layer === b.layer && a.head === b.head && a.query === b.query && a.key === b.key;

/** Where arrows are after an edit; those that an end of which went are no more. */
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

export class Arrows {
  readonly cutting: Question<Classifier>;
  readonly searching: Question<Classifier>;

  cut = $state.raw<readonly AttentionEdge[]>([]);
  /** What they do. */
  outcome = $state.raw<Explanations['edges'] & { edges: readonly AttentionEdge[] }>();
  /** Whether a circuit is asked for, of every text anew. */
  wanted = $state(false);
  circuit = $state.raw<Explanations['circuit'] & { of: ArrowText }>();

  #of = $state.raw<ArrowText>();

  constructor(model: ExplainingModel<Classifier>) {
    this.cutting = new Question(model);
    this.searching = new Question(model);
  }

  /** Another text, or the same: cut arrows go along. */
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
  }

  async search(): Promise<void> {
    this.wanted = true;
    this.circuit = undefined;
    const of = this.#of;
    if (!of || of.tokens.length > longestForCircuit) return this.searching.stop();
    await this.searching.ask('sentiment', async (model, signal) => {
      const found = await model.explain<'circuit'>(of.text, { method: 'circuit', signal });
      this.circuit = { ...found, of };
    });
  }

  forget(): void {
    this.wanted = false;
    this.searching.stop();
    this.circuit = undefined;
  }

  stop(): void {
    this.cutting.stop();
    this.searching.stop();
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
      this.outcome = { ...(await model.explain<'edges'>(of.text, options)), edges };
    });
  }
}
