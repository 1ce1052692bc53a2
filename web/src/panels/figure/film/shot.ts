/** The parts of a film. */
import type { PictureRegion, Pixels, TracedTensor } from 'glassformer';
import type { Stack, Station } from '../figure.ts';
import type { HeadLinks } from './links.ts';

/** One or two sentences below the picture, with a heading. */
export interface Caption {
  title: string;
  text: string;
}

/** A token or patch on the screen, with its row in the tensors. */
export interface Lane {
  row: number;
  label: string;
  place?: PictureRegion | undefined;
}

/** What happens in a box. */
export type Inside =
  | { kind: 'table' }
  | { kind: 'spread' }
  | { kind: 'added'; tensor: TracedTensor }
  | { kind: 'hidden'; tensor: TracedTensor }
  | { kind: 'links'; links: HeadLinks; keys: readonly Lane[]; ownKeys: boolean }
  /** The best answers, the most probable first, and the vector that they are read from. */
  | { kind: 'answers'; answers: readonly Answer[]; read: ReadVector | undefined }
  /** For each row on the screen, the token that it writes and the best probabilities. */
  | { kind: 'written'; answers: readonly Answer[]; best: readonly Float32Array[] };

/** The vector that an answer is read from: that of one row, or the mean of all. */
export interface ReadVector {
  /** [1, D] */
  vector: TracedTensor;
  /** Undefined: all rows. */
  row: number | undefined;
}

export interface Answer {
  text: string;
  probability: number;
}

export interface Shot {
  kind: 'title' | 'station' | 'end';
  /** In milliseconds. */
  start: number;
  duration: number;
  caption: Caption;
  station?: Station;
  lanes: readonly Lane[];
  /** The vectors before and after the box, if they are known. */
  before?: TracedTensor | undefined;
  after?: TracedTensor | undefined;
  inside?: Inside | undefined;
}

export interface Scene {
  shots: readonly Shot[];
  /** In milliseconds. */
  duration: number;
  stacks: readonly Stack[];
  text: string;
  picture?: Pixels | undefined;
  /** The answer and its probability. */
  answer?: Answer | undefined;
  translation?: string | undefined;
  /** The least probable token of a translation. */
  doubtful?: Answer | undefined;
}
