/** A view's description of its model, for the figure at the top of the page. */
import type { Architecture, PictureRegion, Pixels, TracedTensor } from 'glassformer';

/** The kind of model that a view opens, for the figure before the model is loaded. */
export type Kind = 'encoder' | 'encoder-decoder' | 'decoder' | 'pictures';

export type StackName = 'encoder' | 'decoder';
export type Part =
  'tokens' | 'embedding' | 'positions' | 'norm' | 'attention' | 'cross' | 'add' | 'feed' | 'answer';

/** The input and the answers of the last run, in words and pictures, for the film. */
export interface Words {
  /** The text that was read; empty for a picture. */
  text: string;
  /** The labels of the tokens or patches that each stack reads. */
  read: Partial<Record<StackName, readonly string[] | undefined>>;
  /** The answers with their probabilities. */
  scores?: readonly { label: string; score: number }[] | undefined;
  /** A translation, and its tokens: row i of the decoder writes token i. */
  translation?: { text: string; tokens: readonly { text: string; id: number }[] };
  /** The picture that was read, and the place of each row in it. Special rows have no place. */
  picture?: { pixels: Pixels; places: readonly (PictureRegion | undefined)[] };
}

/** A view's model and its last run. */
export interface Figured {
  /** Undefined until the model is loaded. */
  architecture: Architecture | undefined;
  /** The kind of its model, if not the view's. */
  kind?: Kind;
  /** The number of tokens or patches that each stack reads. */
  rows: Partial<Record<StackName, number | undefined>>;
  /** The answer, in one word. */
  answer?: string | undefined;
  /** The parts that the view shows, and in which stack and layer. */
  here?: { parts: readonly Part[]; stack?: StackName; layer?: number } | undefined;
  /** The model and the text, if the view Inside can open them. */
  inside?: { model: string; text: string; token?: string | undefined } | undefined;
  /** Returns tensors of the last run. */
  traceOf?: (names: readonly string[]) => Promise<Readonly<Record<string, TracedTensor>>>;
  /** Returns what that run read and answered. */
  wordsOf?: () => Words | undefined;
}
