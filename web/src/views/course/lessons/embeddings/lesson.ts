import copyRow from 'source:src/layers/embed/embedding.cpp#TableEmbedding::copy_row';
import lookUp from 'source:src/layers/embed/embedding.cpp#Embedding::operator()';
import { fraction, percent } from '../../../../ui/text/format.ts';
import {
  marked,
  op,
  over,
  root,
  row,
  sub,
  sym,
  vec,
  word,
} from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { choicesFor, readEmbeddings, type EmbeddingsLive } from './reading.ts';
import { neighborsOf } from './table.ts';

const i = sym('i');
const bars = (name: string) => row(op('|'), vec(name), op('|'));

export default lesson<EmbeddingsLive, 'sentiment'>({
  claim: [
    'Each id selects a row of the [embedding table]: a vector of 128 learned numbers, the token’s [embedding].',
    'Nobody chose these numbers. Training made words that do the same work point in similar directions, which the [cosine] measures.',
    'The rows are then multiplied by √d, so that the positional encoding, which comes next, does not drown them.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readEmbeddings(model, text, setting !== 0, signal),
  prediction: {
    question: ({ labels, asked }) =>
      `This model only learned to tell good reviews from bad ones. Which word’s vector is closest to that of “${labels[asked]}”?`,
    choices: (live) => choicesFor(live).choices,
    answer(live) {
      const { table, tokens, asked, labels, offered } = live;
      const { opposite, alike } = offered;
      const [first, second] = neighborsOf(table, tokens[asked]!.id);
      return {
        right: choicesFor(live).right,
        why: `Of all ${table.rows.length.toLocaleString('en')} tokens, “${first!.name.trim()}” has the largest cosine with “${labels[asked]}”, ${fraction(first!.cosine)}; then comes “${second!.name.trim()}”. “${alike.name.trim()}”, which is spelled alike, has ${fraction(alike.cosine)}, and “${opposite.name.trim()}” points the other way, ${fraction(opposite.cosine)}. For this model, words are alike if they say the same about a film.`,
      };
    },
  },
  Picture,
  caption: ({ labels, dModel, scaled }) =>
    `One row per token: ${labels.length} × ${dModel} numbers${scaled ? ', already × √d' : ', without √d'}. Press a row to see its nearest neighbors.`,
  formula: {
    lines: [
      row(
        marked('x', sub(vec('x'), i)),
        op('='),
        marked('d', root(sym('d'))),
        op('·'),
        marked('E', sub(sym('E'), sub(word('id'), i))),
      ),
      row(
        marked('cos', row(sym('cos'), op('('), vec('a'), op(','), vec('b'), op(')'))),
        op('='),
        over(row(vec('a'), op('·'), vec('b')), row(bars('a'), op(' '), bars('b'))),
      ),
    ],
    readings: [
      'x i is the square root of d times row id i of the table E.',
      'The cosine of a and b is their dot product divided by the product of their lengths.',
    ],
    symbols: [
      {
        name: 'x',
        maths: sub(vec('x'), i),
        means: ({ dModel }) => `the token’s vector, ${dModel} numbers`,
      },
      {
        name: 'E',
        maths: sym('E'),
        means: ({ table, dModel }) => `embedding table, ${table.rows.length} × ${dModel}, learned`,
      },
      {
        name: 'd',
        maths: root(sym('d')),
        means: ({ dModel, root: value }) => `√${dModel} = ${fraction(value)}`,
      },
      { name: 'cos', maths: sym('cos'), means: () => 'how alike two directions are, −1 to 1' },
    ],
  },
  code: { pytorch, cpp: [lookUp, copyRow], javascript, run },
  change: {
    control: { kind: 'switch', label: 'Multiply by √d' },
    initial: 1,
    task: 'Take the factor away. The model was trained with it: what happens to the verdict?',
    told({ lengths, verdict, usual, scaled }) {
      const sizes = `A token’s vector is ${fraction(lengths.tokens)} long on average, its positional encoding ${fraction(lengths.positions)}.`;
      if (scaled)
        return `${sizes} Both can be heard. The verdict: ${percent(usual.positive)} positive.`;
      const flips = verdict.label !== usual.label;
      return `${sizes} Position drowns meaning: ${percent(usual.positive)} positive becomes ${percent(verdict.positive)}${flips ? ', and the verdict flips' : ''}.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.4`,
      url: arxiv('1706.03762'),
      says: '“In the embedding layers, we multiply those weights by √d_model.”',
    },
    {
      where: 'Mikolov et al. 2013, Efficient Estimation of Word Representations',
      url: arxiv('1301.3781'),
      says: 'words with similar use get similar vectors.',
    },
  ],
  exercise: {
    task: 'Type “good bad” and compare the neighbors of “good” with those of “bad”. In many embeddings trained on plain text, “good” and “bad” are neighbors of each other. Why not here?',
    solution:
      'In plain text both stand in the same places (“a good film”, “a bad film”), so a model that predicts the words around makes them alike. This model learned to predict the verdict, for which they are opposites: their cosine is 0.25, while that of “good” and “great” is 0.60.',
  },
});
