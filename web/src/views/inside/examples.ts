import type { Example } from '../../ui/controls/example.ts';
import type { InsideModel } from './reading/models.ts';

/** Example texts, each with something to notice. The view opens with the first. */
export const examples: Record<InsideModel, readonly Example[]> = {
  sentiment: [
    {
      name: 'Negation',
      text: 'The plot is not good.',
      notice:
        'Choose “good”: in layer 1, head 1 attends to the token before, as in any text. In layer 2, head 6 attends to “not”.',
    },
    {
      name: 'Praise',
      text: 'A gripping, beautifully shot film.',
      notice:
        'Layer 1, head 6: “A”, the comma and “shot” all attend to “beautifully”, from both sides.',
    },
    {
      name: 'Contrast',
      text: 'A great cast, but the script is dreadful.',
      notice: 'Layer 1, head 6: even “great” and “cast”, far from it, attend most to “dreadful”.',
    },
    {
      name: 'Short',
      text: 'Meh.',
      notice:
        'The vocabulary lacks “Meh”: it is split into “Me” and “h”, and each has its own embedding.',
    },
  ],
  'en-de': [
    {
      name: 'A train',
      text: 'The train arrives at seven.',
      notice:
        '“arrives” becomes “kommt” and, at the end, “an”. Choose “Uhr”, just before it: in layer 2, head 6 attends to “arrive”.',
    },
    {
      name: 'Two meanings',
      text: 'She sat on the bank of the river.',
      notice:
        'The translation is wrong: “Bank” is a bench or a financial bank. A river bank is “Ufer”.',
    },
    {
      name: 'Negation',
      text: 'I have not seen him today.',
      notice:
        'The word order changes: “nicht” comes after “heute”, and “gesehen” moves to the end.',
    },
  ],
  'en-fr': [
    {
      name: 'A train',
      text: 'The train arrives at seven.',
      notice: 'French needs “heures” after “sept”; no English word says so.',
    },
    {
      name: 'Two meanings',
      text: 'She sat on the bank of the river.',
      notice: 'The translation is wrong: “banque” is a financial bank. A river bank is “rive”.',
    },
    {
      name: 'Negation',
      text: 'I have not seen him today.',
      notice: '“not” becomes two tokens, “ne” and “pas”, with “l’ai” between them.',
    },
  ],
  writer: [
    {
      name: 'A film',
      text: 'This film is one of the',
      notice: '“best” comes first, “worst” third: see the last step.',
    },
    {
      name: 'A complaint',
      text: 'It stopped working after two',
      notice:
        '“years” comes first, then “wee”: the vocabulary has no token for “weeks”, so it takes two.',
    },
    {
      name: 'A name',
      text: 'The director, Steven',
      notice:
        'Two tokens lead, “Sp” and “Se”. In the Writing view, at temperature 0, “Sp” becomes “Spielberg”.',
    },
  ],
};

/** How the training of each model started (see weights/train). */
export const trainingStarts: Record<InsideModel, string> = {
  sentiment:
    'started with such matrices, but with small, normally distributed embeddings, and with four heads in each of the first two layers set to attend to nearby tokens',
  'en-de': 'started with such matrices, but with normally distributed embeddings',
  'en-fr': 'did not start from random weights, but from those of the German translator',
  writer: 'started with small, normally distributed weights, like GPT-2’s',
};
