import type { Example } from '../../ui/controls/example.ts';

/** Texts to start from, one for each thing worth seeing. The view starts with the first. */
export const examples: readonly Example[] = [
  {
    name: 'Negation',
    text: 'The plot is not good.\nThe plot is good.',
    notice:
      'Before layer 1 only “not” tells the two apart. One layer on, “is” and “good” have heard of it.',
  },
  {
    name: 'Another word',
    text: 'I loved this film.\nI hated this film.',
    notice:
      'Before layer 1 one vector holds it all; one layer on it is spread so widely that none turns the verdict by itself.',
  },
  {
    name: 'Degree',
    text: 'A very good film.\nA slightly good film.',
    notice: 'Both are praise: the number moves, the verdict does not.',
  },
  {
    name: 'Another name',
    text: 'Steven Seagal is brilliant in this.\nMeryl Streep is brilliant in this.',
    notice:
      'The same praise of somebody else: a name alone has weight, which this model learned from reviews.',
  },
  {
    name: 'Order',
    text: 'The acting was good but the script was terrible.\nThe script was terrible but the acting was good.',
    notice: 'The same words in another order: what comes last weighs more.',
  },
  {
    name: 'Nothing bad',
    text: 'Nothing about it was bad.\nEverything about it was bad.',
    notice:
      'It takes three layers until the vector of “bad” has much to say about what stands at the beginning.',
  },
];
