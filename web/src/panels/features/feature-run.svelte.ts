/** The graph of the next token's lead, and the model with one feature changed. */
import { Generator } from 'glassformer';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import type { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import { dictionariesOf, type FeatureGraph, type GraphNode } from './features.ts';

interface Guess {
  text: string;
  probability: number;
}

interface Changed {
  node: GraphNode;
  factor: number;
  /** The likeliest next tokens, before and after. */
  before: Guess[];
  after: Guess[];
}

export class FeatureRun {
  readonly #model: ExplainingModel<Generator>;
  readonly #name: ModelName;
  readonly question: Question<Generator>;
  readonly changing: Question<Generator>;
  found = $state.raw<{ text: string; graph: FeatureGraph }>();
  changed = $state.raw<Changed>();
  /** The model that has the dictionaries. */
  #with: Generator | undefined;

  constructor(view: ModelLoader<Generator>, name: ModelName) {
    this.#model = new ExplainingModel(Generator, view);
    this.#name = name;
    this.question = new Question(this.#model);
    this.changing = new Question(this.#model);
  }

  async read(text: string): Promise<void> {
    this.stop();
    this.changed = undefined;
    await this.question.ask(this.#name, async (model, signal) => {
      if (this.#with !== model)
        await model.loadDictionaries(dictionariesOf(this.#name), { signal });
      this.#with = model;
      const graph = await model.explain(text, { method: 'attribution_graph', signal });
      this.found = { text, graph };
    });
    if (this.question.failure) this.found = undefined;
  }

  /** Multiplies a feature of the text by a factor, and asks for the next token again. */
  async change(node: GraphNode, factor: number): Promise<void> {
    const { found } = this;
    this.changing.stop();
    if (!found || node.feature === undefined || factor === 1) {
      this.changed = undefined;
      return;
    }
    const { name, row, feature, activation = 0 } = node;
    await this.changing.ask(this.#name, async (model, signal) => {
      const add = await model.weights.row(`${name}.decoder.weight`, feature);
      const patch = [{ name, tokens: [row], add, scale: (factor - 1) * activation }];
      const next = async (options: object): Promise<Guess[]> =>
        (await model.next(found.text, { count: 3, signal, ...options })).next.map(
          ({ text, logprob }) => ({ text, probability: Math.exp(logprob) }),
        );
      const [before, after] = [await next({}), await next({ patch })];
      this.changed = { node, factor, before, after };
    });
  }

  stop(): void {
    this.question.stop();
    this.changing.stop();
  }

  close(): void {
    this.stop();
    this.#model.close();
  }
}
