/** Explains a classifier's answer. For that, the chosen model is loaded once more, with gradients. */
import {
  GlassformerError,
  load,
  type Classifier,
  type ImageClassifier,
  type LabelScore,
  type Model,
  type ZeroShotImageClassifier,
} from 'glassformer';
import type { ChosenFiles } from '../../../models/model-files.ts';
import { ExplainingModel, Question } from '../../../models/explaining-model.svelte.ts';
import {
  evidenceFor,
  layersBy,
  scoresBy,
  scorings,
  type Explaining,
  type RowScores,
} from '../../../panels/reasons/reasons.ts';
import { placeName, type Reading } from '../../../panels/pictures/patches.ts';
import { range } from '../../../ui/text/range.ts';
import type { ModelExplorer } from '../explorer.svelte.ts';
import { areProbabilities } from '../answer/probable.ts';

/** An answer, and how to explain it. */
export interface Subject {
  label: string;
  /** Its number. */
  id: number;
  /** What explanations take for the label: its name, or its number if another has the name, too. */
  asked: string;
  /** Whether scores are probabilities. */
  probable: boolean;
  /** The names of the tokens or patches that the model read. */
  rows: readonly string[];
  /** How many of them a decoder read, which come before the others. */
  decoders: number;
  /** The picture, on the page. */
  read: Reading | undefined;
  explaining: (model: Model) => Explaining;
}

/** The explanation of an answer. */
export interface Reasons {
  of: Subject;
  methods: RowScores[];
  /** Methods that this model does not have, and why. */
  refused: { name: string; why: string }[];
  /** After each layer: its verdict, and each row's evidence for the answer. */
  layers: { label: string; score: number; evidence: Float32Array }[];
}

/** Returns how to name the best of some labels. */
function best(scores: readonly LabelScore[]): Pick<Subject, 'label' | 'id' | 'asked'> {
  const { id, label } = scores.reduce((most, each) => (each.logit > most.logit ? each : most));
  const alone = scores.filter((each) => each.label === label).length === 1;
  return { label, id, asked: alone ? label : `${id}` };
}

/** Returns undefined without an answer, and for tasks that are not explained here. */
export function subjectOf(explorer: ModelExplorer): Subject | undefined {
  const { verdict, outcome, pictured } = explorer;
  const { picture, reading } = pictured;
  if (verdict && picture && reading) {
    // The labels of this verdict: the visitor may be typing others.
    const texts = verdict.scores.map(({ label }) => label);
    const { grid } = verdict;
    const special = grid.special.length;
    return {
      ...best(verdict.scores),
      probable: areProbabilities(verdict),
      rows: range(grid.rows * grid.columns).map((patch) => placeName(patch, grid)),
      decoders: 0,
      read: reading,
      explaining: (model) =>
        explorer.matchesTexts
          ? {
              special,
              scores: (how) => (model as ZeroShotImageClassifier).explain(picture, texts, how),
              lens: (how) => (model as ZeroShotImageClassifier).explain(picture, texts, how),
            }
          : {
              special,
              scores: (how) => (model as ImageClassifier).explain(picture, how),
              lens: (how) => (model as ImageClassifier).explain(picture, how),
            },
    };
  }
  const answered = outcome?.answered;
  if (!outcome || answered?.task !== 'text-classification') return undefined;
  const { first: text, second: pair } = outcome.input;
  const input = pair.trim() ? { text, pair } : text;
  const { source = [], target = [] } = outcome.texts[0] ?? {};
  return {
    ...best(answered.result.scores),
    probable: areProbabilities(answered.result),
    rows: [...target, ...source],
    decoders: target.length,
    read: undefined,
    explaining: (model) => ({
      special: 0,
      scores: (how) => (model as Classifier).explain(input, how),
      lens: (how) => (model as Classifier).explain(input, how),
    }),
  };
}

export class Why {
  readonly #model = new ExplainingModel<Model>({ load }, undefined);
  readonly question = new Question(this.#model);
  found = $state.raw<Reasons>();

  ask(files: ChosenFiles | undefined, subject: Subject | undefined): void {
    if (!files || !subject) return this.question.stop();
    const { id, asked } = subject;
    void this.question.ask(files, async (model, signal) => {
      const explaining = subject.explaining(model);
      const refused: Reasons['refused'] = [];
      /** Answers undefined if this model does not have the method. */
      const unlessRefused = async <T>(name: string, computed: Promise<T>): Promise<T | undefined> =>
        computed.catch((error: unknown) => {
          if (signal.aborted || !(error instanceof GlassformerError)) throw error;
          refused.push({ name, why: error.message });
          return undefined;
        });
      const methods: RowScores[] = [];
      for (const scoring of scorings) {
        const scores = scoresBy(scoring, explaining, asked, signal);
        const found = await unlessRefused(scoring.name, scores);
        if (found) methods.push(found);
      }
      const layers = await unlessRefused('The layers’ verdicts', layersBy(explaining, signal));
      if (signal.aborted) return;
      this.found = {
        ...{ of: subject, methods, refused },
        layers: (layers ?? []).map(({ rows, ...verdict }) => ({
          ...verdict,
          evidence: Float32Array.from(rows, (logits) => evidenceFor(logits[id]!, logits)),
        })),
      };
    });
  }

  close(): void {
    this.question.stop();
    this.#model.close();
  }
}
