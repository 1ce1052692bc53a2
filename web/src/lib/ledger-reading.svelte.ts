/** The evidence of a text as an exact sum, and beside it what each of its parts causes. */
import type { Classifier } from 'glassformer';
import { evidence } from './evidence.ts';
import { Question, type ExplainingModel } from './explaining-model.svelte.ts';
import type { LedgerTable } from './ledger.ts';

export class LedgerReading {
  readonly question: Question<Classifier>;
  text = $state.raw<string>();
  table = $state.raw<LedgerTable>();
  /** How far the evidence falls without each column; undefined until that is measured. */
  effects = $state.raw<readonly number[]>();
  /** The same without all heads of a layer. */
  ofLayers = $state.raw<ReadonlyMap<number, number>>(new Map());

  constructor(model: ExplainingModel<Classifier>) {
    this.question = new Question(model);
  }

  /** The sum is there at once; what its parts cause takes a run for each, and comes after. */
  async read(text: string): Promise<void> {
    await this.question.ask('sentiment', async (model, signal) => {
      const { labels, layers, heads } = model.info;
      const options = { method: 'ledger', label: labels.at(-1), signal } as const;
      const table = await model.explain<'ledger'>(text, options);
      this.text = text;
      this.table = table;
      this.effects = undefined;
      this.ofLayers = new Map();
      const ofLayers = new Map<number, number>();
      for (let layer = 0; layer < layers; layer++) {
        const ablate = Array.from({ length: heads }, (_, head) => ({ layer, head }));
        const without = await model.classify(text, {
          ablate: ablate.map((head) => ({ attention: 'encoder' as const, ...head })),
          signal,
        });
        ofLayers.set(layer, table.value - evidence(without, labels));
      }
      this.ofLayers = ofLayers;
      this.effects = (await model.explain<'ledger'>(text, { ...options, effects: true })).effects;
    });
    if (this.question.failure) this.table = this.text = undefined;
  }
}
