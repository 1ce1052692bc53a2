/** The tour of the page: claims about the models, each with the control that tests it. */
import type { Link } from '../ui/link.ts';

export interface Stop {
  /** The name of the view in the address. */
  view: string;
  /** A state of the view for which the claim is true; see tests/page/visit/tour.test.mjs. */
  link: Link;
  title: string;
  /** The claim about the model. */
  claim: string;
  /** How to test the claim, first on this text, then on the visitor's own. */
  test: string;
  /** The CSS selector of the control to use. */
  control: string;
}

export const stops: readonly Stop[] = [
  {
    view: 'sentiment',
    link: {
      text: 'The plot is not good at all, and I would never watch it again.',
      head: '0.0',
    },
    title: 'One word flips the verdict',
    claim: 'Without “not”, the model calls this review positive.',
    test: 'Press “not” to hide it. Then type your own sentence: which word decides its verdict?',
    control: '[data-testid=token][data-index="3"]',
  },
  {
    view: 'sentiment',
    link: {
      text: 'A gripping, beautifully shot film.',
      head: '0.0',
    },
    title: 'A striking attention head may not matter',
    claim:
      'In any text, layer 1, head 1 mostly attends to the previous token: it was set so before training. Without this head, “positive” changes by less than one percentage point.',
    test: 'Switch the head off. Does your own sentence need it?',
    control: '[data-testid=head-switch]',
  },
  {
    view: 'sentiment',
    link: {
      text: 'A gripping, beautifully shot film.',
      head: '3.2',
    },
    title: 'Some heads work against the verdict',
    claim:
      'Of all 32 heads, layer 4, head 3 has the largest effect here. It works against the verdict: without it, “positive” becomes more likely.',
    test: 'Weigh every head. With another text, another head has the largest effect.',
    control: '[data-testid=weigh]',
  },
  {
    view: 'transplant',
    link: {
      text: 'The plot is not good.\nThe plot is good.',
    },
    title: 'Which vector carries the verdict',
    claim:
      'Before layer 1, the vector of “not” holds the whole difference. After layer 2, patching it no longer flips the verdict: other tokens have read it.',
    test: 'Press its cell before layer 1, then those before the later layers.',
    control: '[data-testid=transplant]',
  },
  {
    view: 'inside',
    link: {
      text: 'The plot is not good.',
      token: 'encoder.4',
      head: '1.5',
    },
    title: 'An attention weight, down to its products',
    claim: 'In layer 2, head 6, “good” gives more than 90% of its attention to “not”.',
    test: 'Press that weight: it unfolds into the products of a query and a key.',
    control: '[data-step="encoder.layers.1.self_attn.weights"]',
  },
  {
    view: 'translation',
    link: {
      to: 'de',
      text: 'He was seen on the bank yesterday.',
      beams: '4',
      head: 'cross.0.0',
    },
    title: 'Beam search pays off',
    claim:
      'With four beams, the German is right. With one beam, “seen” is lost: “Er war gestern auf der Bank.”',
    test: 'Set the beams to 1. How many does your own sentence need?',
    control: '[data-testid=beams]',
  },
  {
    view: 'translation',
    link: {
      to: 'de',
      text: 'He was seen on the bank yesterday.',
      beams: '4',
      head: 'cross.0.0',
    },
    title: 'A different beginning, a different sentence',
    claim:
      'Forced to begin with “Gestern”, the model puts the verb second, as German requires: “Gestern wurde er”.',
    test: 'Press “Gestern” in the first column of the tree. Then try any other token.',
    control: '[data-testid=tree]',
  },
  {
    view: 'writing',
    link: {
      text: 'The script, the music, the',
      temperature: '0',
      head: '0.0',
    },
    title: 'The most likely token, over and over',
    claim: 'At temperature 0, this model repeats “the music” until it reaches its length limit.',
    test: 'Write to the end. Then raise the temperature, or start your own review.',
    control: '[data-testid=finish]',
  },
];
