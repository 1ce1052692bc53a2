/** A number as an exact sum, and beside it what each of its parts causes. */
import type { Classifier, Generator, ModelInfo } from 'glassformer';
import { evidence, evidenceName } from './evidence.ts';
import { Question, type ExplainingModel } from './explaining-model.svelte.ts';
import type { HeadPosition } from './head-choice.svelte.ts';
import type { LedgerTable } from './ledger.ts';
import type { ModelName } from './models.ts';

interface Model {
  readonly info: ModelInfo;
  dispose(): void;
}

/** What a ledger is drawn up of, and how its model is asked for that. */
export interface LedgerSubject<M extends Model> {
  name: ModelName;
  text: string;
  /** The number, in words, and what reads it from the last vectors. */
  measure: string;
  reader: string;
  explain(model: M, options: { effects?: boolean; signal: AbortSignal }): Promise<LedgerTable>;
  /** The number itself, without these heads. */
  measured(model: M, options: { heads: HeadPosition[]; signal: AbortSignal }): Promise<number>;
}

/** The evidence for a classifier's last label. */
export const evidenceOf = (text: string, labels: readonly string[]): LedgerSubject<Classifier> => ({
  ...{ name: 'sentiment', text },
  ...{ measure: evidenceName(labels), reader: 'the classifier' },
  explain: (model, options) =>
    model.explain<'ledger'>(text, { method: 'ledger', label: labels.at(-1), ...options }),
  measured: async (model, { heads, signal }) => {
    const ablate = heads.map((head) => ({ attention: 'encoder' as const, ...head }));
    return evidence(await model.classify(text, { ablate, signal }), labels);
  },
});

/** A token that may come next, as the page names it. */
interface Named {
  id: number;
  name: string;
}

/** How far one next token is ahead of another. */
export const leadOf = (text: string, token: Named, against: Named): LedgerSubject<Generator> => ({
  ...{ name: 'writer', text },
  ...{ measure: `the lead of “${token.name}” over “${against.name}”`, reader: 'the projection' },
  explain: (model, options) =>
    model.explain<'ledger'>(text, {
      ...{ method: 'ledger', token: token.id, against: against.id, ...options },
    }),
  measured: async (model, { heads, signal }) => {
    const ablate = heads.map((head) => ({ attention: 'decoder' as const, ...head }));
    const all = { count: 0, temperature: 1, topK: 0, topP: 1 };
    const { next } = await model.next(text, { ...all, ablate, signal });
    const of = ({ id }: Named) => next.find((each) => each.id === id)?.logprob ?? NaN;
    return of(token) - of(against);
  },
});

export class LedgerReading<M extends Model> {
  readonly question: Question<M>;
  /** What the table is of. */
  of = $state.raw<LedgerSubject<M>>();
  table = $state.raw<LedgerTable>();
  /** How far the number falls without each column; undefined until that is measured. */
  effects = $state.raw<readonly number[]>();
  /** The same without all heads of a layer. */
  ofLayers = $state.raw<ReadonlyMap<number, number>>(new Map());

  constructor(model: ExplainingModel<M>) {
    this.question = new Question(model);
  }

  /** The sum is there at once; what its parts cause takes a run for each, and comes after. */
  async read(of: LedgerSubject<M>): Promise<void> {
    await this.question.ask(of.name, async (model, signal) => {
      const { layers, heads } = model.info;
      const table = await of.explain(model, { signal });
      this.of = of;
      this.table = table;
      this.effects = undefined;
      this.ofLayers = new Map();
      const ofLayers = new Map<number, number>();
      for (let layer = 0; layer < layers; layer++) {
        const all = Array.from({ length: heads }, (_, head) => ({ layer, head }));
        ofLayers.set(layer, table.value - (await of.measured(model, { heads: all, signal })));
      }
      this.ofLayers = ofLayers;
      this.effects = (await of.explain(model, { effects: true, signal })).effects;
    });
    if (this.question.failure) this.table = this.of = undefined;
  }
}
