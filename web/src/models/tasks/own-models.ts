/** The table of the page's own models that read texts. */
import { Classifier, Generator, Translator } from 'glassformer';
import type { Kind } from '../../ui/figured.ts';
import type { ModelName } from '../models.ts';
import type { Loadable, Model } from '../shared-models.ts';

interface OwnModel {
  title: string;
  /** The class of the package that opens it. */
  opens: Loadable<Model>;
  figure: Kind;
  /** The texts that it was made for. */
  reads: string;
}

const translator = {
  opens: Translator,
  figure: 'encoder-decoder',
  reads: 'plain sentences in English',
} as const;

export const ownModels = {
  sentiment: {
    title: 'Sentiment',
    opens: Classifier,
    figure: 'encoder',
    reads: 'reviews in English',
  },
  'en-de': { title: 'To German', ...translator },
  'en-fr': { title: 'To French', ...translator },
  writer: { title: 'Writer', opens: Generator, figure: 'decoder', reads: 'reviews in English' },
} satisfies Record<Exclude<ModelName, 'digits'>, OwnModel>;
