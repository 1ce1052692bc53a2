/** Texts of all views but the first: a file of its own, fetched beside the code of those views. */
import address from '../content.json?url';
import type { Example } from './example.ts';
import type { InsideModel } from './inside/models.ts';
import type { Input, TaskName } from './model-tasks.ts';
import type { Target } from './models.ts';
import type { TextPair } from './text-pair.ts';
import type { Stop } from './tour.ts';

export interface Content {
  tour: readonly Stop[];
  /** Labeled texts, a line each, to be judged one after the other. */
  list: string;
  /** Texts to start from, one for each thing worth seeing; the first is what a view starts with. */
  translation: Record<Target, readonly Example[]>;
  transplant: readonly Example[];
  writing: readonly Example[];
  /** One word's change turns another word of the translation, or the next one. */
  pairs: Record<'translation' | 'writing', readonly TextPair[]>;
  inside: Record<InsideModel, readonly Example[]>;
  /** What the training of each model began with, as weights/train has it. */
  trainingStarts: Record<InsideModel, string>;
  /** What a model of one’s own is asked first. */
  ownModel: Record<TaskName, Input>;
}

/** There once `fetchContent` has resolved. */
export let content: Content;
let fetching: Promise<Content> | undefined;

export async function fetchContent(): Promise<void> {
  fetching ??= fetch(address).then((response) => response.json() as Promise<Content>);
  try {
    content = await fetching;
  } catch (error) {
    fetching = undefined;
    throw error;
  }
}
