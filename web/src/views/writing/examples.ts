import type { TextPair } from '../../panels/transplant/text-pair.ts';
import type { Example } from '../../ui/controls/example.ts';

/** Texts to start from, one for each thing worth seeing. The view starts with the first. */
export const examples: readonly Example[] = [
  {
    name: 'Any film',
    text: 'This film is',
    notice:
      'Much may follow “is”: even the first choice, “a”, is not likely. Turn the temperature down, and it is.',
  },
  {
    name: 'Praise',
    text: 'One of the best films of the year',
    notice: 'The sentence may be whole: a full stop comes first, then a comma.',
  },
  {
    name: 'A complaint',
    text: 'The acting was so bad that',
    notice: '“so bad that” asks for a clause: “I”, “it” and “they” come first.',
  },
  {
    name: 'A turn',
    text: 'I expected very little, but',
    notice:
      'Set the temperature to 0 and press “To the end”: the film is very well done, and then again and again.',
  },
  {
    name: 'A list',
    text: 'The script, the music, the',
    notice:
      'It offers “music” once more. At temperature 0 it repeats that until it can read no further.',
  },
  {
    name: 'An open quote',
    text: 'The best line of the film is "',
    notice: 'It knows that something begins: “The” comes first, and after that capital letters.',
  },
  {
    name: 'A family outing',
    text: 'I watched it with my children and',
    notice:
      '“I” comes first: rather than name somebody else who watched, it begins another clause.',
  },
];

/** Pairs of texts: one changed word changes another word of the answer. */
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
