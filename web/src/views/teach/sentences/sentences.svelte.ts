/** A few labelled sentences that the sentiment model is taught, and what they change. */
import { Classifier } from 'glassformer';
import { folderOf } from '../../../models/models.ts';
import { borrow } from '../../../models/shared-models.ts';
import { Learning } from '../learning/learning.svelte.ts';
import { probes } from '../../../panels/verdict/probes.ts';
import { rehearsals } from './rehearsals.ts';

export interface Taught {
  text: string;
  label: string;
}

/** The model's verdict on a text. */
export interface Verdict {
  label: string;
  score: number;
}

/** A text's verdicts before and after the lesson. */
export interface Change {
  text: string;
  before: Verdict;
  after?: Verdict;
}

export const labels = ['negative', 'positive'] as const;

/** Sentences that the shipped model gets wrong; see test/teach.browser.test.mjs. */
export const firstSentences: readonly Taught[] = [
  { text: 'This album slaps.', label: 'positive' },
  { text: 'This movie is sick!', label: 'positive' },
  { text: 'The new phone is a brick.', label: 'negative' },
  { text: 'He phoned it in.', label: 'negative' },
  { text: 'The pizza there is to die for.', label: 'positive' },
];

const options = {
  heldOut: 0,
  rate: 1e-4,
  warmUp: 0.1,
  decay: 'none',
  dropout: 0,
  smoothing: 0.05,
  averaging: 0,
  weightDecay: 0,
} as const;
const epochs = 60;
/** The lesson ends when all sentences are right and their mean loss is below this. */
const enough = 0.3;

export class Sentences {
  readonly learning = new Learning();
  rows = $state.raw<readonly Taught[]>(firstSentences);
  /** Whether the model also rehearses sentences that it knows. */
  rehearses = $state(true);
  /** The taught sentences and the probes, as the last lesson left them. */
  taught = $state.raw<readonly (Change & { wanted: string })[]>([]);
  probed = $state.raw<readonly Change[]>([]);

  /** The sentences that have a text. */
  get filled(): readonly Taught[] {
    return this.rows.filter(({ text }) => text.trim() !== '');
  }

  edit(index: number, change: Partial<Taught>): void {
    this.rows = this.rows.map((row, i) => (i === index ? { ...row, ...change } : row));
  }

  add(): void {
    this.rows = [...this.rows, { text: '', label: 'positive' }];
  }

  remove(index: number): void {
    this.rows = this.rows.filter((_, i) => i !== index);
  }

  /** Teaches the shipped model the sentences of the rows. */
  async teach(): Promise<void> {
    const rows = this.filled;
    const texts = [...rows.map(({ text }) => text), ...probes];
    this.taught = [];
    this.probed = [];
    const show = (before: readonly Verdict[], after: readonly Verdict[] = []) => {
      const changes = texts.map((text, i) => ({
        text,
        before: before[i]!,
        ...(after[i] && { after: after[i] }),
      }));
      this.taught = rows.map(({ label }, i) => ({ ...changes[i]!, wanted: label }));
      this.probed = changes.slice(rows.length);
    };
    let before: readonly Verdict[] = [];
    const examples = async () => {
      const known = await verdictsBefore([...texts, ...(this.rehearses ? rehearsals : [])]);
      before = known.slice(0, texts.length);
      show(before);
      const rehearsed = known.slice(texts.length).map(({ label }, i) => ({
        label,
        text: rehearsals[i]!,
      }));
      return [...rows, ...rehearsed].map(lineOf).join('');
    };
    await this.learning.run({
      start: folderOf('sentiment'),
      examples: examples(),
      options,
      train: { epochs },
      until: ({ accuracy, loss }) => accuracy === 1 && loss < enough,
      atEnd: async (trainer) => show(before, await verdictsOf(trainer, texts)),
    });
  }
}

const lineOf = ({ label, text }: Taught) => `${label}\t${text.replace(/\s+/g, ' ').trim()}\n`;

async function verdictsBefore(texts: readonly string[]): Promise<Verdict[]> {
  const classifier = await borrow({ source: 'sentiment', kind: Classifier, explains: false });
  try {
    return await verdictsOf(classifier, texts);
  } finally {
    classifier.dispose();
  }
}

async function verdictsOf(
  model: { classify(text: string): Promise<Verdict> },
  texts: readonly string[],
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const text of texts) {
    const { label, score } = await model.classify(text);
    verdicts.push({ label, score });
  }
  return verdicts;
}
