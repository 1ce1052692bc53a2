import type { Example } from '../../ui/controls/example.ts';
import type { InsideModel } from './reading/models.ts';

/** Texts to start from, one for each thing worth seeing. The view starts with the first. */
export const examples: Record<InsideModel, readonly Example[]> = {
  sentiment: [
    {
      name: 'Negation',
      text: 'The plot is not good.',
      notice:
        'Choose “good”: in layer 1, head 1 has it look at the token before, as in any text. In layer 2, head 6 seeks “not”.',
    },
    {
      name: 'Praise',
      text: 'A gripping, beautifully shot film.',
      notice:
        'Layer 1, head 6: “A”, the comma and “shot” all look at “beautifully”, from either side.',
    },
    {
      name: 'Contrast',
      text: 'A great cast, but the script is dreadful.',
      notice:
        'Layer 1, head 6: even “great” and “cast”, far from it, look at “dreadful” more than at anything else.',
    },
    {
      name: 'Short',
      text: 'Meh.',
      notice:
        'The vocabulary lacks “Meh”: it is cut into “Me” and “h”, and each has a row of its own in the table.',
    },
  ],
  'en-de': [
    {
      name: 'A train',
      text: 'The train arrives at seven.',
      notice:
        '“arrives” becomes “kommt” and, at the end, “an”. Choose “Uhr”, which comes before: in layer 2, head 6 looks back at “arrive”.',
    },
    {
      name: 'Two meanings',
      text: 'She sat on the bank of the river.',
      notice: 'It is wrong: “Bank” is where one sits, or money lies. A river’s is “Ufer”.',
    },
    {
      name: 'Negation',
      text: 'I have not seen him today.',
      notice:
        'One word order becomes another: “nicht” comes after “heute”, and “gesehen” waits for the end.',
    },
  ],
  'en-fr': [
    {
      name: 'A train',
      text: 'The train arrives at seven.',
      notice: 'French wants “heures” after “sept”; no word in English says so.',
    },
    {
      name: 'Two meanings',
      text: 'She sat on the bank of the river.',
      notice: 'It is wrong: “banque” is where money lies. A river’s is “rive”.',
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
      notice: '“best” comes first, “worst” third: see the last pane.',
    },
    {
      name: 'A complaint',
      text: 'It stopped working after two',
      notice:
        '“years” comes first, then “wee”: there is no piece for “weeks”, so it takes two steps.',
    },
    {
      name: 'A name',
      text: 'The director, Steven',
      notice:
        'Two pieces lead, “Sp” and “Se”. In the Writing view, at temperature 0, “Sp” becomes “Spielberg”.',
    },
  ],
};

/** How the training of each model started, as in weights/train. */
export const trainingStarts: Record<InsideModel, string> = {
  sentiment:
    'began with such matrices, but with small, normally distributed embeddings, and with four heads of each of the first two layers set to look at tokens nearby',
  'en-de': 'began with such matrices, but with normally distributed embeddings',
  'en-fr': 'did not begin at random: it went on from the German translator’s weights',
  writer: 'began with small, normally distributed weights, as GPT-2’s did',
};
