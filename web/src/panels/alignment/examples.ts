import type { Target } from '../../models/models.ts';
import type { TextPair } from '../transplant/text-pair.ts';
import type { Example } from '../../ui/controls/example.ts';

/** Example texts, each with something to notice. The view opens with the first. */
export const examples: Record<Target, readonly Example[]> = {
  de: [
    {
      name: 'A picture',
      text: 'A man in a red shirt is riding a bicycle.',
      notice:
        '“is riding a bicycle” becomes two words, “fährt Fahrrad”. Point at each to see which words it attends to.',
    },
    {
      name: 'Word order',
      text: 'We have lost our key.',
      notice: '“verloren” goes to the end, as German requires. Point at it: it attends to “lost”.',
    },
    {
      name: 'Two clauses',
      text: "I don't know what to say.",
      notice:
        'The translation adds a comma, a subject and a modal verb that English omits: “, was ich sagen soll”.',
    },
    {
      name: 'Two meanings',
      text: 'He was seen on the bank yesterday.',
      notice:
        'With one beam, it forgets “seen” and says that he was there: choose 1 under “Beam search”. It considered “Ufer” (river bank) and dropped it: see the tree.',
    },
    {
      name: 'He or she',
      text: 'My sister is a doctor.',
      notice:
        'The translation is wrong: “Arzt” is a man. A woman is “Ärztin”, and no other translation in the list says so, either.',
    },
    {
      name: 'In haste',
      text: 'i dont know what to do',
      notice:
        'It corrects hasty typing, including the capital and the comma, but adds no period: you typed none.',
    },
    {
      name: 'Several sentences',
      text: 'Two children are playing in the snow. It is cold. They want to go home.',
      notice:
        'Each sentence is translated on its own, without the others. Choose one below to see its heads and its search.',
    },
  ],
  fr: [
    {
      name: 'A picture',
      text: 'A man in a red shirt is riding a bicycle.',
      notice:
        'It translates “shirt” as “T-shirt”. “chemise”, a shirt with a collar, comes second in the list below.',
    },
    {
      name: 'Word order',
      text: 'She is wearing a black dress.',
      notice:
        'The color follows the noun and agrees with it: “robe noire”. The other translations in the list below get this wrong.',
    },
    {
      name: 'Two words for not',
      text: "I don't know what to say.",
      notice:
        '“don’t” becomes two words, “ne” and “pas”, with the verb between them. Point at “ne”.',
    },
    {
      name: 'Two meanings',
      text: 'I saw him on the bank yesterday.',
      notice: 'It chooses the financial bank, “banque”. It never considers “rive” (river bank).',
    },
    {
      name: 'Agreement',
      text: 'The houses are old but beautiful.',
      notice:
        'Half of it is wrong: houses are feminine, “vieilles mais belles”. “belles” is right, “vieux” is not.',
    },
    {
      name: 'In haste',
      text: 'i dont know what to do',
      notice:
        'It corrects hasty typing, including the capital, but adds no period: you typed none.',
    },
    {
      name: 'Several sentences',
      text: 'Two children are playing in the snow. It is cold. They want to go home.',
      notice:
        'For the weather, French says “Il fait froid”, not “Il est froid”. Choose sentence 2: the right one is in the list below, but not first.',
    },
  ],
};

/** Pairs of texts. The change of one word changes another word of the translation. */
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

/** Pairs of sentences of equally many tokens. */
export const circuitPairs: readonly TextPair[] = [
  ...pairs.filter(({ name }) => ['My', 'The animal'].includes(name)),
  { name: 'The color', base: 'I see a red car.', donor: 'I see a green car.' },
];
