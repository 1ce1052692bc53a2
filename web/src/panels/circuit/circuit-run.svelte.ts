/** The circuit between two texts, and the lead without one of its edges. */
import type { TextPair } from 'glassformer';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import type { Model, ModelLoader } from '../../models/model-loader.svelte.ts';
import type { ModelName } from '../../models/models.ts';
import type { Loadable } from '../../models/shared-models.ts';
import { edgeName, type CircuitEdge, type EdgeCircuit } from './circuit.ts';

/** The class of a model, and its search for a circuit. */
export interface CircuitKind<M extends Model> {
  of: Loadable<M>;
  find: (
    model: M,
    pair: TextPair,
    options: { cutEdges?: string[]; randomCircuits?: number; signal: AbortSignal },
  ) => Promise<EdgeCircuit>;
}

interface Found {
  base: string;
  donor: string;
  circuit: EdgeCircuit;
}

export class CircuitRun<M extends Model> {
  readonly #model: ExplainingModel<M>;
  readonly question: Question<M>;
  readonly cutting: Question<M>;
  found = $state.raw<Found>();
  /** An edge that is cut, and the number without it. */
  cut = $state.raw<{ edge: CircuitEdge; without: number | undefined }>();

  constructor(of: Loadable<M>, view: ModelLoader<M>) {
    this.#model = new ExplainingModel(of, view);
    this.question = new Question(this.#model);
    this.cutting = new Question(this.#model);
  }

  async read(name: ModelName, kind: CircuitKind<M>, base: string, donor: string): Promise<void> {
    this.stop();
    this.cut = undefined;
    await this.question.ask(name, async (model, signal) => {
      const circuit = await kind.find(model, { text: base, pair: donor }, { signal });
      this.found = { base, donor, circuit };
    });
    if (this.question.failure) this.found = undefined;
  }

  /** Cuts an edge of the whole graph; undefined: none. */
  async without(
    name: ModelName,
    kind: CircuitKind<M>,
    edge: CircuitEdge | undefined,
  ): Promise<void> {
    const { found } = this;
    this.cutting.stop();
    this.cut = edge && { edge, without: undefined };
    if (!edge || !found) return;
    await this.cutting.ask(name, async (model, signal) => {
      const pair = { text: found.base, pair: found.donor };
      const { kept } = await kind.find(model, pair, { cutEdges: [edgeName(edge)], signal });
      this.cut = { edge, without: kept };
    });
  }

  stop(): void {
    this.question.stop();
    this.cutting.stop();
  }

  close(): void {
    this.stop();
    this.#model.close();
  }
}
