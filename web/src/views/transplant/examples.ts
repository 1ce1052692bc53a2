import type { Example } from '../../ui/controls/example.ts';

/** Example pairs, each with something to notice. The view opens with the first. */
export const examples: readonly Example[] = [
  {
    name: 'Negation',
    text: 'The plot is not good.\nThe plot is good.',
    notice:
      'Before layer 1, only “not” differs between the texts. After one layer, “is” and “good” carry that difference, too.',
  },
  {
    name: 'Another word',
    text: 'I loved this film.\nI hated this film.',
    notice:
      'Before layer 1, one vector holds the whole difference. After one layer, it is spread so widely that no single vector changes the verdict.',
  },
  {
    name: 'Degree',
    text: 'A very good film.\nA slightly good film.',
    notice: 'Both are praise: the number changes, the verdict does not.',
  },
  {
    name: 'Another name',
    text: 'Steven Seagal is brilliant in this.\nMeryl Streep is brilliant in this.',
    notice:
      'The same praise for another person: even a name has an effect, which this model learned from reviews.',
  },
  {
    name: 'Order',
    text: 'The acting was good but the script was terrible.\nThe script was terrible but the acting was good.',
    notice: 'The same words in another order: what comes last counts more.',
  },
  {
    name: 'Nothing bad',
    text: 'Nothing about it was bad.\nEverything about it was bad.',
    notice:
      'It takes three layers until the vector of “bad” carries much of what the text starts with.',
  },
];
