import type { Target } from '../../models/models.ts';
import type { TextPair } from '../../panels/transplant/text-pair.ts';
import type { Example } from '../../ui/controls/example.ts';

/** Texts to start from, one for each thing worth seeing. The view starts with the first. */
export const examples: Record<Target, readonly Example[]> = {
  de: [
    {
      name: 'A picture',
      text: 'A man in a red shirt is riding a bicycle.',
      notice:
        '“is riding a bicycle” becomes two words, “fährt Fahrrad”. Point at each to see what it was made from.',
    },
    {
      name: 'Word order',
      text: 'We have lost our key.',
      notice:
        '“verloren” goes to the end, as German wants it. Point at it: it looks back at “lost”.',
    },
    {
      name: 'Two clauses',
      text: "I don't know what to say.",
      notice:
        'It adds a comma, a subject and a modal verb that English does without: “, was ich sagen soll”.',
    },
    {
      name: 'Two meanings',
      text: 'I saw him on the bank yesterday.',
      notice:
        'With one beam it writes “auf der Bank” twice: choose 1 under “How it was found”. A river’s bank, “Ufer”, it thought of and gave up: it is in the tree.',
    },
    {
      name: 'He or she',
      text: 'My sister is a doctor.',
      notice:
        'It is wrong: “Arzt” is a man. A sister is “Ärztin”, and none of the other translations says so, either.',
    },
    {
      name: 'In haste',
      text: 'i dont know what to do',
      notice:
        'It puts right what is typed in haste, the capital and the comma included, but leaves the full stop out as you did.',
    },
    {
      name: 'Several sentences',
      text: 'Two children are playing in the snow. It is cold. They want to go home.',
      notice:
        'Each sentence is translated by itself and knows nothing of the others. Choose one below to see its heads and its search.',
    },
  ],
  fr: [
    {
      name: 'A picture',
      text: 'A man in a red shirt is riding a bicycle.',
      notice:
        'It puts the man into a “T-shirt”. “chemise”, a shirt with a collar, comes second in the list below.',
    },
    {
      name: 'Word order',
      text: 'She is wearing a black dress.',
      notice:
        'The color follows the noun and agrees with it: “robe noire”. The others in the list below have that wrong.',
    },
    {
      name: 'Two words for not',
      text: "I don't know what to say.",
      notice: '“don’t” becomes two words, “ne” and “pas”, with the verb between. Point at “ne”.',
    },
    {
      name: 'Two meanings',
      text: 'I saw him on the bank yesterday.',
      notice: 'It decides for a bank with money, “banque”. Of a river’s, “rive”, it never thinks.',
    },
    {
      name: 'Agreement',
      text: 'The houses are old but beautiful.',
      notice:
        'It is half wrong: houses are feminine, “vieilles mais belles”. It has “belles” right and “vieux” not.',
    },
    {
      name: 'In haste',
      text: 'i dont know what to do',
      notice:
        'It puts right what is typed in haste, the capital included, but leaves the full stop out as you did.',
    },
    {
      name: 'Several sentences',
      text: 'Two children are playing in the snow. It is cold. They want to go home.',
      notice:
        'Of the weather one says “Il fait froid”, not “Il est froid”. Choose sentence 2: it is in the list below, but not first.',
    },
  ],
};

/** Pairs of texts: one changed word changes another word of the answer. */
export const pairs: readonly TextPair[] = [
  {
    name: 'The article',
    base: 'I sat down on the bank of the river.',
    donor: 'I sat down on the bank of the city.',
  },
  {
    name: 'My',
    base: 'My brother is a doctor.',
    donor: 'My sister is a doctor.',
  },
  {
    name: 'The animal',
    base: 'The dog sleeps.',
    donor: 'The cat sleeps.',
  },
  {
    name: 'Not',
    base: 'He is not my friend.',
    donor: 'He is my friend.',
  },
];
