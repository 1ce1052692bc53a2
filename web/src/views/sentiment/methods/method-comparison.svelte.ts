/** Each method's token scores for a text, and its result in the deletion and insertion test. */
import type { Classifier, Token } from 'glassformer';
import { Question, type ExplainingModel } from '../../../models/explaining-model.svelte.ts';
import {
  byToken,
  leaveOneOut,
  randomOrders,
  type Compared,
  type MethodRow,
} from '../../../panels/methods/methods.ts';
import { scorings } from './methods.ts';

export interface Comparison extends Compared {
  text: string;
  tokens: readonly Token[];
  label: string;
}

export class MethodComparison {
  readonly question: Question<Classifier>;
  found = $state.raw<Comparison>();

  constructor(model: ExplainingModel<Classifier>) {
    this.question = new Question(model);
  }

  async compare(text: string): Promise<void> {
    await this.question.ask('sentiment', async (model, signal) => {
      const findings = {
        ledger: await model.explain<'direct_logit_attribution'>(text, {
          method: 'direct_logit_attribution',
          signal,
        }),
        valueNorms: await model.explain<'value_norms'>(text, { method: 'value_norms', signal }),
        valueZeroing: await model.explain<'value_zeroing'>(text, {
          method: 'value_zeroing',
          signal,
        }),
        rollout: await model.explain<'rollout'>(text, { method: 'rollout', signal }),
        gradientTimesInput: await model.explain<'gradient_times_input'>(text, {
          method: 'gradient_times_input',
          signal,
        }),
        integratedGradients: await model.explain<'integrated_gradients'>(text, {
          method: 'integrated_gradients',
          signal,
        }),
        relevance: await model.explain<'relevance'>(text, { method: 'relevance', signal }),
        attnLrp: await model.explain<'attn_lrp'>(text, { method: 'attn_lrp', signal }),
        cpLrp: await model.explain<'cp_lrp'>(text, { method: 'cp_lrp', signal }),
        result: await model.classify(text, { attention: true, signal }),
      };
      const { tokens, label } = findings.ledger;
      const rows: MethodRow[] = [];
      const test = { method: 'faithfulness', signal } as const;
      for (const { scores: scoresOf, exactness, ...method } of scorings) {
        const scores = scoresOf(findings);
        const found = await model.explain<'faithfulness'>(text, { ...test, scores, orders: 0 });
        if (rows.length === 0) {
          const ofTokens = byToken(found.losses, found.words, tokens.length);
          const { score } = found.leaveOneOut;
          rows.push({ method: leaveOneOut, scores: ofTokens, faithfulness: score });
        }
        rows.push({
          ...{ method, scores, faithfulness: found.order.score },
          ...(exactness && { exactness: exactness(findings) }),
        });
        this.found = { text, tokens, label, rows: [...rows], random: undefined };
      }
      const { random } = await model.explain<'faithfulness'>(text, {
        ...test,
        scores: rows[1]!.scores,
        orders: randomOrders,
      });
      this.found = { text, tokens, label, rows, random };
    });
    if (this.question.failure) this.found = undefined;
  }
}
