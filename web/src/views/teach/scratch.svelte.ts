/** A Transformer that learns to classify texts from scratch, or from the sentiment model. */
import type { Score } from 'glassformer';
import { folderOf } from '../../models/models.ts';
import { Learning } from './learning/learning.svelte.ts';
import { messages } from './messages.ts';
import { readOwnFile, type OwnFile } from './own-file.ts';

/** The small Transformer that learns in seconds. */
export const smallModel = { encoder_layers: 2, d_model: 64, d_ff: 256, n_heads: 4 } as const;

/** How it learns. */
export const smallOptions = {
  optimizer: 'muon',
  rate: 1e-3,
  dropTokens: 0.2,
  keepCase: true,
} as const;

export const firstMessage = 'WINNER! You have won a free prize. Call now to claim it.';

export class Scratch {
  readonly learning = new Learning();
  /** The score on messages that were kept for the end. */
  test = $state.raw<Score>();
  epochs = $state(3);

  /** The visitor's own file. */
  file = $state.raw<File>();
  /** What it holds; undefined until it is read. */
  held = $state.raw<OwnFile>();
  from = $state<'nothing' | 'sentiment'>('nothing');
  minutes = $state(0.5);

  constructor() {
    this.learning.watched = firstMessage;
  }

  /** Takes the visitor's file, and looks what it holds. */
  async choose(file: File | undefined): Promise<void> {
    this.file = file;
    this.held = undefined;
    if (!file) return;
    const text = await file.text();
    if (this.file === file) this.held = readOwnFile(file.name, text);
  }

  /** Trains a new model on the SMS messages. */
  learnMessages(): Promise<void> {
    this.test = undefined;
    return this.learning.run({
      start: smallModel,
      examples: messages('train'),
      options: { ...smallOptions, heldOut: 0.1 },
      train: { epochs: this.epochs },
      atEnd: async (trainer) => {
        this.test = await trainer.evaluate(await messages('test'));
      },
    });
  }

  /** Trains on the visitor's own file. */
  learnFile(file: File): Promise<void> {
    const isNew = this.from === 'nothing';
    return this.learning.run({
      start: isNew ? smallModel : folderOf('sentiment'),
      examples: file,
      options: { ...(isNew && smallOptions), heldOut: 0.1 },
      train: { minutes: this.minutes },
    });
  }
}
