/** A number as an exact sum, and the measured effect of each of its parts. */
import type { Classifier, GenerationExplanations, Generator, Translator } from 'glassformer';
import { evidence, evidenceName } from './evidence.ts';
import { Question, type ExplainingModel } from '../../models/explaining-model.svelte.ts';
import { componentsOf, headOf, type LedgerHead, type LedgerTable } from './ledger.ts';
import type { Model } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import type { ScoringMethod } from '../methods/methods.ts';
import { nextLogits } from '../words/next-logits.ts';
import { shownTokens, type ShownToken } from '../words/tokens.ts';

/** A table with the labels of its rows. */
type LabelledTable = LedgerTable & {
  labels: readonly ShownToken[];
  /** The first row of a translation's source. */
  source?: number;
};

/** The number that a ledger explains, and how to get its parts from the model. */
export interface LedgerSubject<M extends Model> {
  name: ModelName;
  /** The number in words, and the part of the model that computes it from the last vectors. */
  measure: string;
  reader: string;
  explain(
    model: M,
    options: { effects?: boolean; loadings?: boolean; signal: AbortSignal },
  ): Promise<LabelledTable>;
  /** Runs the model without these heads and returns the number. */
  measured(model: M, options: { heads: LedgerHead[]; signal: AbortSignal }): Promise<number>;
}

/** The lead of one next token, whose methods can be tested. */
export interface LeadSubject<M extends Model> extends LedgerSubject<M> {
  /** Tests a method's scores, or given ones, of every token that the model read. */
  tested(
    model: M,
    options: { of?: ScoringMethod; scores?: Float32Array; orders: number; signal: AbortSignal },
  ): Promise<Tested>;
}
type Tested = Pick<
  GenerationExplanations['faithfulness'],
  'scores' | 'words' | 'losses' | 'order' | 'leaveOneOut' | 'random'
>;

/** The evidence for a classifier's last label. */
export const evidenceOf = (text: string, labels: readonly string[]): LedgerSubject<Classifier> => ({
  name: 'sentiment',
  measure: evidenceName(labels),
  reader: 'the classifier',
  explain: async (model, options) => {
    const asked = { method: 'direct_logit_attribution', label: labels.at(-1), ...options } as const;
    const table = await model.explain<'direct_logit_attribution'>(text, asked);
    return { ...table, labels: shownTokens(text, table.tokens) };
  },
  measured: async (model, { heads, signal }) => {
    const ablate = heads.map(({ layer, head }) => ({ attention: 'encoder', layer, head }) as const);
    return evidence(await model.classify(text, { ablate, signal }));
  },
});

/** A candidate for the next token, with its name on the page. */
export interface Named {
  id: number;
  name: string;
}

const lead = (token: Named, against: Named) => ({
  measure: `the lead of “${token.name}” over “${against.name}”`,
  reader: 'the output projection',
});

/** The lead of one next token over another. */
export const leadOf = (text: string, token: Named, against: Named): LeadSubject<Generator> => ({
  name: 'writer',
  ...lead(token, against),
  explain: async (model, options) => {
    const asked = {
      method: 'direct_logit_attribution',
      token: token.id,
      against: against.id,
      ...options,
    } as const;
    const table = await model.explain<'direct_logit_attribution'>(text, asked);
    return { ...table, labels: shownTokens(text, table.tokens) };
  },
  measured: async (model, { heads, signal }) => {
    const ablate = heads.map(({ layer, head }) => ({ attention: 'decoder', layer, head }) as const);
    const all = { count: 0, temperature: 1, topK: 0, topP: 1 };
    const { next } = await model.next(text, { ...all, ablate, signal });
    const of = ({ id }: Named) => next.find((each) => each.id === id)?.logprob ?? NaN;
    return of(token) - of(against);
  },
  tested: (model, options) => {
    const pair = { token: token.id, against: against.id };
    return model.explain<'faithfulness'>(text, { method: 'faithfulness', ...pair, ...options });
  },
});

/** A sentence and the first tokens of its translation. */
interface Begun {
  name: ModelName;
  text: string;
  prefix: readonly number[];
  /** The labels of the tokens that the decoder read, from its start token, then the source. */
  labels: readonly ShownToken[];
}

/** The lead of one token over another after the first tokens of a translation. */
export const choiceOf = (
  { name, text, prefix, labels }: Begun,
  token: Named,
  against: Named,
): LeadSubject<Translator> => ({
  name,
  ...lead(token, against),
  explain: async (model, options) => {
    const pair = { token: token.id, against: against.id };
    const asked = { method: 'direct_logit_attribution', prefix, ...pair, ...options } as const;
    const table = await model.explain<'direct_logit_attribution'>(text, asked);
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
  tested: (model, options) => {
    const pair = { prefix, token: token.id, against: against.id };
    return model.explain<'faithfulness'>(text, { method: 'faithfulness', ...pair, ...options });
  },
});

export class LedgerReading<M extends Model> {
  readonly question: Question<M>;
  /** The number that the table explains. */
  of = $state.raw<LedgerSubject<M>>();
  table = $state.raw<LabelledTable>();
  /** The number with each column minus without it; undefined until it is measured. */
  effects = $state.raw<readonly number[]>();
  /** The same without all heads of a layer that read the same, by the first head's column. */
  ofHeads = $state.raw<ReadonlyMap<number, number>>(new Map());

  constructor(model: ExplainingModel<M>) {
    this.question = new Question(model);
  }

  /** Computes a ledger. The sum comes at once; the effects need one run each and come later. */
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
        ofHeads.set(columns[0]!, table.value - (await of.measured(model, { heads, signal })));
      }
      this.ofHeads = ofHeads;
      const whole = await of.explain(model, { effects: true, loadings: true, signal });
      this.effects = whole.effects;
      this.table = whole;
    });
    if (this.question.failure) this.table = this.of = undefined;
  }
}
