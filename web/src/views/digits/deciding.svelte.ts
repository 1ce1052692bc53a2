/** Methods that give each patch a number, beside wiping it. They need the binary with gradients. */
import { ImageClassifier } from 'glassformer';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import type { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { Source } from '../../models/shared-models.ts';
import type { Reading } from '../../panels/pictures/patches.ts';
import {
  layersBy,
  scoresBy,
  scorings,
  type Explaining,
  type RowScores,
} from '../../panels/reasons/reasons.ts';

/** The verdict after some layers: of the whole picture, and of each patch by itself. */
export interface LayerVerdict {
  label: string;
  score: number;
  patches: { label: string; score: number }[];
}

export class Deciding {
  readonly #model: ExplainingModel<ImageClassifier>;
  readonly question: Question<ImageClassifier>;
  found = $state.raw<{ of: Reading; methods: RowScores[]; layers: LayerVerdict[] }>();

  constructor(view: ModelLoader<ImageClassifier>) {
    this.#model = new ExplainingModel(ImageClassifier, view);
    this.question = new Question(this.#model);
  }

  ask(source: Source, reading: Reading): void {
    void this.question.ask(source, async (model, signal) => {
      const { label, grid } = reading.result;
      const explaining: Explaining = {
        special: grid.special.length,
        scores: (options) => model.explain(reading.picture, options),
        lens: (options) => model.explain(reading.picture, options),
      };
      const methods: RowScores[] = [];
      for (const scoring of scorings)
        methods.push(await scoresBy(scoring, explaining, label, signal));
      const layers = (await layersBy(explaining, signal)).map(({ rows, ...verdict }) => ({
        ...verdict,
        patches: rows.map((logits) => best(model.info.labels, logits)),
      }));
      if (!signal.aborted) this.found = { of: reading, methods, layers };
    });
  }

  close(): void {
    this.question.stop();
    this.#model.close();
  }
}

/** Returns the label with the largest logit, and its probability. */
function best(labels: readonly string[], logits: Float32Array): { label: string; score: number } {
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return { label: labels[logits.indexOf(most)]!, score: 1 / sum };
}
