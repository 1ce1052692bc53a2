import type { Example } from './example.ts';
import { pairText } from './transplant-link.ts';

/** A text here is the one that is carried into, and the one that is taken from, as a link has them. */
const example = (name: string, donor: string, base: string, notice: string): Example => ({
  name,
  text: pairText(base, donor),
  notice,
});

/** Pairs of texts to start from, one for each thing worth seeing. */
export const transplantExamples: readonly Example[] = [
  example(
    'Negation',
    'The plot is good.',
    'The plot is not good.',
    'Before layer 1 only “not” tells the two apart. One layer on, “is” and “good” have heard of it.',
  ),
  example(
    'Another word',
    'I hated this film.',
    'I loved this film.',
    'Before layer 1 one vector holds it all; one layer on it is spread so widely that none turns the verdict by itself.',
  ),
  example(
    'Degree',
    'A slightly good film.',
    'A very good film.',
    'Both are praise: the number moves, the verdict does not.',
  ),
  example(
    'Another name',
    'Meryl Streep is brilliant in this.',
    'Steven Seagal is brilliant in this.',
    'The same praise of somebody else: a name alone has weight, which this model learned from reviews.',
  ),
  example(
    'Order',
    'The script was terrible but the acting was good.',
    'The acting was good but the script was terrible.',
    'The same words in another order: what comes last weighs more.',
  ),
  example(
    'Nothing bad',
    'Everything about it was bad.',
    'Nothing about it was bad.',
    'It takes three layers until the vector of “bad” has much to say about what stands at the beginning.',
  ),
];
