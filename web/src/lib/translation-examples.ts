import type { Target } from './models.ts';

interface Example {
  name: string;
  text: string;
}

const picture = { name: 'A picture', text: 'A man in a red shirt is riding a bicycle.' };
const bank = { name: 'Two meanings', text: 'I saw him on the bank yesterday.' };
const haste = { name: 'In haste', text: 'i dont know what to do' };
const several = {
  name: 'Several sentences',
  text: 'Two children are playing in the snow. It is cold. They want to go home.',
};

/** Texts to start from, one for each thing worth seeing in a language. */
export const translationExamples: Record<Target, readonly Example[]> = {
  de: [
    picture,
    { name: 'Word order', text: 'We have lost our key.' },
    { name: 'Two clauses', text: "I don't know what to say." },
    bank,
    { name: 'He or she', text: 'My sister is a doctor.' },
    haste,
    several,
  ],
  fr: [
    picture,
    { name: 'Word order', text: 'She is wearing a black dress.' },
    { name: 'Two words for not', text: "I don't know what to say." },
    bank,
    { name: 'Agreement', text: 'The houses are old but beautiful.' },
    haste,
    several,
  ],
};
