/** Why a head looks there: a score of the shown attention, as sums over what its rows are made of. */
import type { GenerationExplanations, ScoreAttribution } from 'glassformer';
import { Question, type ExplainingModel } from '../../models/explaining-model.svelte.ts';
import type { Model } from '../../models/model-loader.svelte.ts';
import type { Source } from '../../models/shared-models.ts';
import type { Cell } from '../attention/attention.ts';
import type { AttentionKind, HeadPosition } from '../heads/position.ts';

/** A cell of a head's map. */
export interface ScorePlace extends HeadPosition, Cell {
  attention: AttentionKind;
}

/** The options of a call that explains a score. */
export interface ScoreOptions {
  method: 'score';
  attention: string;
  head: number;
  query: number;
  key: number;
  rival?: number;
  contrast: true;
  reads: true;
  effects?: boolean;
  signal: AbortSignal;
}

export type ScoreAnswer = ScoreAttribution &
  Pick<GenerationExplanations['score'], 'queryTokens' | 'keyTokens' | 'value'>;

/** The result that is shown, whose scores can be explained. */
export interface ScoreSubject<M extends Model> {
  name: Source;
  explain(model: M, options: ScoreOptions): Promise<ScoreAnswer>;
}

/** A score that was explained. */
export interface Scored {
  place: ScorePlace;
  /** The key that it is compared with; undefined: all others, by their weights. */
  rival: number | undefined;
  answer: ScoreAnswer;
}

/** What the panel needs of a reading. */
export type Scores = Pick<
  ScoreReading<Model>,
  'found' | 'effects' | 'ask' | 'measure' | 'stop' | 'busy' | 'failure' | 'touched' | 'possible'
>;

/** Returns the name of an attention in the model: "encoder.layers.1.self_attn". */
export function attentionName(attention: AttentionKind, layer: number): string {
  const stack = attention === 'encoder' ? 'encoder' : 'decoder';
  return `${stack}.layers.${layer}.${attention === 'cross' ? 'encoder_attn' : 'self_attn'}`;
}

export class ScoreReading<M extends Model> {
  found = $state.raw<Scored>();
  /** The same with the effect of each part, once measured. */
  effects = $state.raw<Scored>();

  readonly #question: Question<M>;
  readonly #subject: () => ScoreSubject<M> | undefined;
  readonly #touched: () => boolean;

  /** `touched`: whether tokens are hidden or heads are off, which explanations ignore. */
  constructor(
    model: ExplainingModel<M>,
    subject: () => ScoreSubject<M> | undefined,
    touched: () => boolean,
  ) {
    this.#question = new Question(model);
    this.#subject = subject;
    this.#touched = touched;
  }

  get busy(): boolean {
    return this.#question.busy;
  }

  get failure() {
    return this.#question.failure;
  }

  get touched(): boolean {
    return this.#touched();
  }

  /** Whether there is a result to explain. */
  get possible(): boolean {
    return this.#subject() !== undefined;
  }

  /** Explains a cell. */
  ask(place: ScorePlace, rival?: number): Promise<void> {
    return this.#explain(place, rival, false, (scored) => {
      this.found = scored;
      this.effects = undefined;
    });
  }

  /** Measures what becomes of the weight and of the answer without each part of the found score. */
  measure(): Promise<void> {
    const { found } = this;
    if (!found) return Promise.resolve();
    return this.#explain(found.place, found.rival, true, (scored) => (this.effects = scored));
  }

  async #explain(
    place: ScorePlace,
    rival: number | undefined,
    effects: boolean,
    take: (scored: Scored) => void,
  ): Promise<void> {
    const subject = this.#subject();
    if (!subject) return this.stop();
    const { attention, layer, head, query, key } = place;
    await this.#question.ask(subject.name, async (model, signal) => {
      const answer = await subject.explain(model, {
        ...{ method: 'score', contrast: true, reads: true, effects, signal },
        ...{ attention: attentionName(attention, layer), head, query, key },
        ...(rival !== undefined && { rival }),
      });
      if (!signal.aborted) take({ place, rival, answer });
    });
    if (this.failure) this.found = this.effects = undefined;
  }

  stop(): void {
    this.#question.stop();
  }
}
