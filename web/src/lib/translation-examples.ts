import type { Example } from './example.ts';
import type { Target } from './models.ts';

const picture = { name: 'A picture', text: 'A man in a red shirt is riding a bicycle.' };
const bank = { name: 'Two meanings', text: 'I saw him on the bank yesterday.' };
const know = "I don't know what to say.";
const haste = { name: 'In haste', text: 'i dont know what to do' };
const several = {
  name: 'Several sentences',
  text: 'Two children are playing in the snow. It is cold. They want to go home.',
};

/** Texts to start from, one for each thing worth seeing in a language. */
export const translationExamples: Record<Target, readonly Example[]> = {
  de: [
    {
      ...picture,
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
      text: know,
      notice:
        'It adds a comma, a subject and a modal verb that English does without: “, was ich sagen soll”.',
    },
    {
      ...bank,
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
      ...haste,
      notice:
        'It puts right what is typed in haste, the capital and the comma included, but leaves the full stop out as you did.',
    },
    {
      ...several,
      notice:
        'Each sentence is translated by itself and knows nothing of the others. Choose one below to see its heads and its search.',
    },
  ],
  fr: [
    {
      ...picture,
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
      text: know,
      notice: '“don’t” becomes two words, “ne” and “pas”, with the verb between. Point at “ne”.',
    },
    {
      ...bank,
      notice: 'It decides for a bank with money, “banque”. Of a river’s, “rive”, it never thinks.',
    },
    {
      name: 'Agreement',
      text: 'The houses are old but beautiful.',
      notice:
        'It is half wrong: houses are feminine, “vieilles mais belles”. It has “belles” right and “vieux” not.',
    },
    {
      ...haste,
      notice:
        'It puts right what is typed in haste, the capital included, but leaves the full stop out as you did.',
    },
    {
      ...several,
      notice:
        'Of the weather one says “Il fait froid”, not “Il est froid”. Choose sentence 2: it is in the list below, but not first.',
    },
  ],
};
