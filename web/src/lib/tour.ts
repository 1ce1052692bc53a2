/** A way through the page: claims about the models, each with the control that tests it. */
import type { Link } from './address.ts';

export interface Stop {
  /** In the address. */
  view: 'sentiment' | 'transplant' | 'inside' | 'translation' | 'writing';
  /** What the view shows: a text that the claim is true of; tests/page/tour.test.mjs. */
  link: Link;
  title: string;
  /** What the model does, to be tested. */
  claim: string;
  /** What to do, with that, and with a text of one’s own. */
  test: string;
  /** The control that does it. */
  control: string;
}
