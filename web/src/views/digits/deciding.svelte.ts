/** Methods that give each patch a number, beside wiping it. They need the binary with gradients. */
import { ImageClassifier } from 'glassformer';
import { ExplainingModel, Question } from '../../models/explaining-model.svelte.ts';
import type { ModelLoader } from '../../models/model-loader.svelte.ts';
import type { Source } from '../../models/shared-models.ts';
import { range } from '../../ui/text/range.ts';
import type { Picture, Reading } from '../../panels/pictures/patches.ts';

export interface PatchScores {
  name: string;
  note: string;
  /** Whether numbers have a sign, against or for the answer. */
  signed: boolean;
  /** One per patch. */
  scores: Float32Array;
}

/** The verdict after some layers: of the whole picture, and of each patch by itself. */
export interface LayerVerdict {
  label: string;
  score: number;
  patches: { label: string; score: number }[];
}

export class Deciding {
  readonly #model: ExplainingModel<ImageClassifier>;
  readonly question: Question<ImageClassifier>;
  found = $state.raw<{ of: Reading; methods: PatchScores[]; layers: LayerVerdict[] }>();

  constructor(view: ModelLoader<ImageClassifier>) {
    this.#model = new ExplainingModel(ImageClassifier, 'gradients', view);
    this.question = new Question(this.#model);
  }

  ask(source: Source, reading: Reading): void {
    void this.question.ask(source, async (model, signal) => {
      const { picture } = reading;
      const { label } = reading.result;
      const after = reading.result.grid.special.length;
      const patches = (scores: readonly number[]) => Float32Array.from(scores.slice(after));
      const relevance = await model.explain(picture, { method: 'relevance', label, signal });
      const times = { method: 'gradient_times_input', label, signal } as const;
      const product = await model.explain(picture, times);
      const rollout = await model.explain(picture, { method: 'rollout', signal });
      const layers = await layersOf(model, picture, signal);
      if (signal.aborted) return;
      this.found = {
        of: reading,
        layers,
        methods: [
          {
            name: 'Attention rollout',
            note: 'the weights of all layers multiplied; it does not know the answer',
            signed: false,
            scores: patches(rollout.scores),
          },
          {
            name: 'Relevance',
            note: 'weights times how much the answer depends on them (Chefer et al. 2021)',
            signed: false,
            scores: patches(relevance.scores),
          },
          {
            name: 'Gradient × input',
            note: 'each number of a patch’s vector, times how much the answer changes with it',
            signed: true,
            scores: patches(product.scores),
          },
        ],
      };
    });
  }

  close(): void {
    this.question.stop();
    this.#model.close();
  }
}

/** Applies the model's head to the states of each layer, and of each patch in it. */
async function layersOf(
  model: ImageClassifier,
  picture: Picture,
  signal: AbortSignal,
): Promise<LayerVerdict[]> {
  const { labels } = model.info;
  const lens = await model.explain(picture, { method: 'lens', signal });
  const [, rows, classes] = lens.tokenLogits.shape as [number, number, number];
  const after = lens.grid.special.length;
  return lens.layers.map(({ label, scores }, layer) => ({
    label,
    score: scores[label]!,
    patches: range(rows - after).map((patch) => {
      const start = (layer * rows + after + patch) * classes;
      return best(labels, lens.tokenLogits.data.subarray(start, start + classes));
    }),
  }));
}

/** Returns the label with the largest logit, and its probability. */
function best(labels: readonly string[], logits: Float32Array): { label: string; score: number } {
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return { label: labels[logits.indexOf(most)]!, score: 1 / sum };
}
