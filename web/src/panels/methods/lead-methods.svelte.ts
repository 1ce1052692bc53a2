/** Each method's scores of the tokens before a next token, and its result in the test. */
import { Question, type ExplainingModel } from '../../models/explaining-model.svelte.ts';
import type { Model } from '../../models/model-loader.svelte.ts';
import type { LeadSubject } from '../ledger/ledger-reading.svelte.ts';
import type { ShownToken } from '../words/tokens.ts';
import {
  byToken,
  leaveOneOut,
  ledgerRead,
  longestForComparison,
  randomOrders,
  scoringMethods,
  type Compared,
  type Method,
  type MethodRow,
  type ScoringMethod,
} from './methods.ts';

const methods = Object.entries({
  direct_logit_attribution: ledgerRead,
  ...scoringMethods,
}) as [ScoringMethod, Method][];

/** How many rows there will be. */
export const rowsOfLead = methods.length + 1;

export interface LeadComparison<M extends Model> extends Compared {
  of: LeadSubject<M>;
  labels: readonly ShownToken[];
}

export class LeadMethods<M extends Model> {
  readonly question: Question<M>;
  found = $state.raw<LeadComparison<M>>();

  constructor(model: ExplainingModel<M>) {
    this.question = new Question(model);
  }

  async compare(of: LeadSubject<M>): Promise<void> {
    await this.question.ask(of.name, async (model, signal) => {
      const { labels } = await of.explain(model, { signal });
      const rows: MethodRow[] = [];
      if (labels.length > longestForComparison) {
        this.found = { of, labels, rows, random: undefined };
        return;
      }
      for (const [name, method] of methods) {
        const found = await of.tested(model, { of: name, orders: 0, signal });
        if (rows.length === 0) {
          const ofTokens = byToken(found.losses, found.words, labels.length);
          const note = 'the effect of one token at a time: the lead with it minus without it';
          const faithfulness = found.leaveOneOut.score;
          rows.push({ method: { ...leaveOneOut, note }, scores: ofTokens, faithfulness });
        }
        rows.push({
          method,
          scores: Float32Array.from(found.scores),
          faithfulness: found.order.score,
        });
        this.found = { of, labels, rows: [...rows], random: undefined };
      }
      const { scores } = rows[1]!;
      const { random } = await of.tested(model, { scores, orders: randomOrders, signal });
      this.found = { of, labels, rows, random };
    });
    if (this.question.failure) this.found = undefined;
  }
}
