/** A way through the page: claims about the models, each with the control that tests it. */
import type { Link } from '../ui/link.ts';

export interface Stop {
  /** In the address. */
  view: string;
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

export const stops: readonly Stop[] = [
  {
    view: 'sentiment',
    link: {
      text: 'The plot is not good at all, and I would never watch it again.',
      head: '0.0',
    },
    title: 'One word turns a verdict',
    claim: 'Without “not” this review is positive to the model.',
    test: 'Press “not” to hide it. Then type a sentence of your own: which word does it hang on?',
    control: '[data-testid=token][data-index="3"]',
  },
  {
    view: 'sentiment',
    link: {
      text: 'A gripping, beautifully shot film.',
      head: '0.0',
    },
    title: 'A striking head need not matter',
    claim:
      'Layer 1, head 1 always looks at the token before. Without it this verdict moves by less than a point.',
    test: 'Switch it off. Does your own sentence need it?',
    control: '[data-testid=head-switch]',
  },
  {
    view: 'sentiment',
    link: {
      text: 'A gripping, beautifully shot film.',
      head: '3.2',
    },
    title: 'Some heads argue against the verdict',
    claim:
      'Of all 32, layer 4’s head 3 weighs most here, and against it: without it “positive” gains.',
    test: 'Weigh every head. With another text it is another head.',
    control: '[data-testid=weigh]',
  },
  {
    view: 'transplant',
    link: {
      text: 'The plot is not good.\nThe plot is good.',
    },
    title: 'Where a verdict is kept',
    claim:
      'Before layer 1 the vector of “not” holds all of the difference. After layer 2 it no longer turns the verdict: others have read it.',
    test: 'Press its cell in the top row, then those below it.',
    control: '[data-testid=transplant]',
  },
  {
    view: 'inside',
    link: {
      text: 'The plot is not good.',
      token: 'encoder.4',
      head: '1.5',
    },
    title: 'A weight, down to its products',
    claim: 'In layer 2, head 6, “good” gives more than nine tenths of its attention to “not”.',
    test: 'Press that weight here: it unfolds into the products of a query and a key.',
    control: '[data-step="encoder.layers.1.self_attn.weights"]',
  },
  {
    view: 'translation',
    link: {
      to: 'de',
      text: 'I saw him on the bank yesterday.',
      beams: '4',
      head: 'cross.0.0',
    },
    title: 'Looking ahead pays',
    claim: 'With four beams the German is right. With one it says “auf der Bank” twice.',
    test: 'Set the beams to 1. Do your own sentences need more?',
    control: '[data-testid=beams]',
  },
  {
    view: 'translation',
    link: {
      to: 'de',
      text: 'I saw him on the bank yesterday.',
      beams: '4',
      head: 'cross.0.0',
    },
    title: 'Another beginning, another sentence',
    claim:
      'Made to begin with “Gestern”, it puts the verb second, as German wants: “Gestern habe ich ihn”.',
    test: 'Press “Gestern” in the tree’s first column. Press any other token, too.',
    control: '[data-testid=tree]',
  },
  {
    view: 'writing',
    link: {
      text: 'The script, the music, the',
      temperature: '0',
      head: '0.0',
    },
    title: 'Always the likeliest, always the same',
    claim: 'At temperature 0 this model repeats “the music” until it can read no further.',
    test: 'Write to the end. Then raise the temperature, or begin a review of your own.',
    control: '[data-testid=finish]',
  },
];
