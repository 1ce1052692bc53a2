/** A number as an exact sum, and beside it what each of its parts causes. */
import type { Classifier, Generator, Translator } from 'glassformer';
import { evidence, evidenceName } from './evidence.ts';
import { Question, type ExplainingModel } from '../../models/explaining-model.svelte.ts';
import { componentsOf, headOf, type LedgerHead, type LedgerTable } from './ledger.ts';
import type { Model } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import { nextLogits } from '../words/next-logits.ts';
import { shownTokens, type ShownToken } from '../words/tokens.ts';

/** With what its rows are called. */
type LabelledTable = LedgerTable & {
  labels: readonly ShownToken[];
  /** Of a translation, the first row that is of its source. */
  source?: number;
};

/** What a ledger is drawn up of, and how its model is asked for that. */
export interface LedgerSubject<M extends Model> {
  name: ModelName;
  /** The number, in words, and what reads it from the last vectors. */
  measure: string;
  reader: string;
  explain(model: M, options: { effects?: boolean; signal: AbortSignal }): Promise<LabelledTable>;
  /** The number itself, without these heads. */
  measured(model: M, options: { heads: LedgerHead[]; signal: AbortSignal }): Promise<number>;
}

/** The evidence for a classifier's last label. */
export const evidenceOf = (text: string, labels: readonly string[]): LedgerSubject<Classifier> => ({
  name: 'sentiment',
  measure: evidenceName(labels),
  reader: 'the classifier',
  explain: async (model, options) => {
    const asked = { method: 'ledger', label: labels.at(-1), ...options } as const;
    const table = await model.explain<'ledger'>(text, asked);
    return { ...table, labels: shownTokens(text, table.tokens) };
  },
  measured: async (model, { heads, signal }) => {
    const ablate = heads.map(({ layer, head }) => ({ attention: 'encoder', layer, head }) as const);
    return evidence(await model.classify(text, { ablate, signal }), labels);
  },
});

/** A token that may come next, as the page names it. */
export interface Named {
  id: number;
  name: string;
}

const lead = (token: Named, against: Named) => ({
  measure: `the lead of “${token.name}” over “${against.name}”`,
  reader: 'the projection',
});

/** How far one next token is ahead of another. */
export const leadOf = (text: string, token: Named, against: Named): LedgerSubject<Generator> => ({
  name: 'writer',
  ...lead(token, against),
  explain: async (model, options) => {
    const asked = { method: 'ledger', token: token.id, against: against.id, ...options } as const;
    const table = await model.explain<'ledger'>(text, asked);
    return { ...table, labels: shownTokens(text, table.tokens) };
  },
  measured: async (model, { heads, signal }) => {
    const ablate = heads.map(({ layer, head }) => ({ attention: 'decoder', layer, head }) as const);
    const all = { count: 0, temperature: 1, topK: 0, topP: 1 };
    const { next } = await model.next(text, { ...all, ablate, signal });
    const of = ({ id }: Named) => next.find((each) => each.id === id)?.logprob ?? NaN;
    return of(token) - of(against);
  },
});

/** A sentence whose translation begins with some tokens. */
interface Begun {
  name: ModelName;
  text: string;
  prefix: readonly number[];
  /** What the decoder had read, its start token first, and then the source, are called. */
  labels: readonly ShownToken[];
}

/** The same behind the beginning of a translation. */
export const choiceOf = (
  { name, text, prefix, labels }: Begun,
  token: Named,
  against: Named,
): LedgerSubject<Translator> => ({
  name,
  ...lead(token, against),
  explain: async (model, options) => {
    const pair = { token: token.id, against: against.id };
    const asked = { method: 'ledger', prefix, ...pair, ...options } as const;
    const table = await model.explain<'ledger'>(text, asked);
    return { ...table, labels, source: prefix.length + 1 };
  },
  measured: async (model, { heads, signal }) => {
    const ablate = heads.map(
      ({ cross, layer, head }) =>
        ({ attention: cross ? 'cross' : 'decoder', layer, head }) as const,
    );
    const logits = await nextLogits(model, text, prefix, { ablate, signal });
    return logits[token.id]! - logits[against.id]!;
  },
});

export class LedgerReading<M extends Model> {
  readonly question: Question<M>;
  /** What the table is of. */
  of = $state.raw<LedgerSubject<M>>();
  table = $state.raw<LabelledTable>();
  /** Δ of the number without each column, after − before; undefined until that is measured. */
  effects = $state.raw<readonly number[]>();
  /** The same without all heads of a layer that read the same, by the first one's column. */
  ofHeads = $state.raw<ReadonlyMap<number, number>>(new Map());

  constructor(model: ExplainingModel<M>) {
    this.question = new Question(model);
  }

  /** The sum is there at once; what its parts cause takes a run for each, and comes after. */
  async read(of: LedgerSubject<M>): Promise<void> {
    await this.question.ask(of.name, async (model, signal) => {
      const table = await of.explain(model, { signal });
      this.of = of;
      this.table = table;
      this.effects = undefined;
      this.ofHeads = new Map();
      const ofHeads = new Map<number, number>();
      for (const { columns } of componentsOf(table.columns, new Set())) {
        const heads = columns.flatMap((column) => headOf(table.columns[column]!) ?? []);
        if (heads.length === 0) continue;
        ofHeads.set(columns[0]!, (await of.measured(model, { heads, signal })) - table.value);
      }
      this.ofHeads = ofHeads;
      // The package tells what is lost: before − after.
      const { effects } = await of.explain(model, { effects: true, signal });
      this.effects = effects?.map((lost) => -lost);
    });
    if (this.question.failure) this.table = this.of = undefined;
  }
}
