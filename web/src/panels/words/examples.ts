import type { TextPair } from '../transplant/text-pair.ts';
import type { Example } from '../../ui/controls/example.ts';

/** Example texts, each with something to notice. The view opens with the first. */
export const examples: readonly Example[] = [
  {
    name: 'Any film',
    text: 'This film is',
    notice:
      'Many words can follow “is”: even the first choice, “a”, is not likely. At a lower temperature, it is.',
  },
  {
    name: 'Praise',
    text: 'One of the best films of the year',
    notice: 'The sentence may be complete: a period comes first, then a comma.',
  },
  {
    name: 'A complaint',
    text: 'The acting was so bad that',
    notice: '“so bad that” needs a clause: “I”, “it” and “they” come first.',
  },
  {
    name: 'A turn',
    text: 'I expected very little, but',
    notice:
      'Set the temperature to 0 and press “To the end”: it repeats “The film is very well done” again and again.',
  },
  {
    name: 'A list',
    text: 'The script, the music, the',
    notice:
      '“music” comes first again. At temperature 0, the model repeats it up to its length limit.',
  },
  {
    name: 'An open quote',
    text: 'The best line of the film is "',
    notice:
      'After an opening quote, a sentence starts: “The” comes first, then other capital letters.',
  },
  {
    name: 'A family outing',
    text: 'I watched it with my children and',
    notice: '“I” comes first: it starts a new clause and does not name another person who watched.',
  },
];

/** Pairs of texts. The change of one word changes the next word. */
export const pairs: readonly TextPair[] = [
  {
    name: 'A problem',
    base: 'This film is',
    donor: 'The problem is',
  },
  {
    name: 'He or she',
    base: 'The hero of the film is a young man, and',
    donor: 'The hero of the film is a young woman, and',
  },
  {
    name: 'One actor',
    base: 'The actors in this film',
    donor: 'The actor in this film',
  },
  {
    name: 'Neither',
    base: 'The film is neither funny',
    donor: 'The film is funny',
  },
];

/** Pairs of texts of equally many tokens. */
export const circuitPairs: readonly TextPair[] = pairs.filter(({ name }) =>
  ['He or she', 'One actor'].includes(name),
);
