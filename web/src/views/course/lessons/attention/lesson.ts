import addTo from 'source:src/layers/attention/attention.cpp#Attention::add_to';
import inputOf from 'source:src/layers/attention/attention.cpp#Attention::input_of';
import { fraction } from '../../../../ui/text/format.ts';
import {
  marked,
  op,
  over,
  root,
  row,
  sub,
  sup,
  sym,
  total,
  vec,
} from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { layer, ratioFor, readAttention, rowAt, type AttentionLive } from './reading.ts';

const [i, j] = [sym('i'), sym('j')];
const both = row(i, j);
const product = (name: string, symbol: string) =>
  row(
    marked(symbol, sub(vec(name), i)),
    op('='),
    sub(sym('W'), sym(name.toUpperCase())),
    marked('x', sub(vec('x'), i)),
    op('+'),
    sub(vec('b'), sym(name.toUpperCase())),
  );

export default lesson<AttentionLive, 'sentiment'>({
  claim: [
    'An [attention head] makes three short vectors of each token: a [query], “what do I look for?”, a [key], “what do I offer?”, and a [value], “what do I hand over?”.',
    'A token’s query is multiplied with every key; the [softmax] of these [scores|score] says how much of each value it takes.',
    'That is all: a weighted mean, whose weights the tokens compute themselves.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readAttention(model, text, setting, signal),
  prediction: {
    question(live) {
      const { head, labels, asked, most } = live;
      const { second, scores } = ratioFor(live);
      const where = `In layer ${layer + 1}, head ${head + 1}`;
      if (second === undefined)
        return `${where}, how much of its attention does “${labels[asked]}” give to itself, the only token?`;
      return `${where}, the query of “${labels[asked]}” and the key of “${labels[most]}” have a score of ${fraction(scores[0])}; next comes “${labels[second]}” with ${fraction(scores[1])}. How many times as much attention does “${labels[most]}” get?`;
    },
    choices: (live) => ratioFor(live).choices,
    answer(live) {
      const { labels, asked, most, weights } = live;
      const own = rowAt(weights, asked, labels.length);
      const { second, right } = ratioFor(live);
      const gets = `“${labels[asked]}” gives ${fraction(own[most]!)} of its attention to “${labels[most]}”`;
      if (second === undefined)
        return { right, why: `${gets}: the weights of a query add up to 1.` };
      return {
        right,
        why: `${gets} and ${fraction(own[second]!)} to “${labels[second]}”. The softmax takes e to the power of each score, and divides by their sum. No rule of grammar made the scores: the matrices that make queries and keys were learned, and other heads choose other tokens.`,
      };
    },
  },
  Picture,
  caption: ({ head, heads }) =>
    `Layer ${layer + 1}, head ${head + 1} of ${heads}. Press a token to make it the query, and a cell of A to choose the key.`,
  formula: {
    lines: [
      product('q', 'q'),
      product('k', 'k'),
      product('v', 'v'),
      row(
        marked('s', sub(sym('s'), both)),
        op('='),
        over(
          row(marked('q', sub(vec('q'), i)), op('·'), marked('k', sub(vec('k'), j))),
          root(sub(sym('d'), sym('head'))),
        ),
      ),
      row(
        marked('a', sub(sym('a'), both)),
        op('='),
        over(
          sup(sym('e'), marked('s', sub(sym('s'), both))),
          total(sym('k'), sup(sym('e'), sub(sym('s'), row(i, sym('k'))))),
        ),
      ),
      row(
        marked('z', sub(vec('z'), i)),
        op('='),
        total(j, row(marked('a', sub(sym('a'), both)), marked('v', sub(vec('v'), j)))),
      ),
    ],
    readings: [
      'Query i is W Q times x i plus b Q.',
      'Key i is W K times x i plus b K.',
      'Value i is W V times x i plus b V.',
      'Score i j is query i dot key j, divided by the square root of d head.',
      'Weight a i j is e to the score i j, divided by the sum of e to the scores of query i.',
      'The output z i is the sum over j of a i j times value j.',
    ],
    symbols: [
      {
        name: 'x',
        maths: vec('x'),
        means: ({ labels, dModel }) => `normalized input, ${labels.length} × ${dModel}`,
      },
      {
        name: 'q',
        maths: vec('q'),
        means: ({ labels, dHead }) => `queries, ${labels.length} × ${dHead}`,
      },
      {
        name: 'k',
        maths: vec('k'),
        means: ({ labels, dHead }) => `keys, ${labels.length} × ${dHead}`,
      },
      {
        name: 'v',
        maths: vec('v'),
        means: ({ labels, dHead }) => `values, ${labels.length} × ${dHead}`,
      },
      { name: 's', maths: sym('s'), means: () => 'score of the chosen query and key' },
      {
        name: 'a',
        maths: sym('a'),
        means: ({ labels }) => `attention weights, ${labels.length} × ${labels.length}`,
      },
      { name: 'z', maths: vec('z'), means: ({ dHead }) => `the head’s output, ${dHead} numbers` },
    ],
  },
  code: { pytorch, cpp: [addTo, inputOf], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'Head',
      options: () => Array.from({ length: 8 }, (_, head) => ({ value: head, text: `${head + 1}` })),
    },
    initial: 5,
    task: 'Each head has matrices of its own. Go through the eight heads of this layer, and watch which token wins.',
    told({ head, labels, asked, most, weights }) {
      const own = weights[asked * labels.length + most]!;
      return `Head ${head + 1}: “${labels[asked]}” attends to “${labels[most]}” with ${fraction(own)}, the strongest link between two tokens in this head.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.2.1`,
      url: arxiv('1706.03762'),
      says: 'Attention(Q, K, V) = softmax(QKᵀ / √d_k) V, for all queries at once.',
    },
    {
      where:
        'Bahdanau et al. 2014, Neural Machine Translation by Jointly Learning to Align and Translate, section 3.1',
      url: arxiv('1409.0473'),
      says: 'attention before the Transformer: a small network compares the decoder’s state with each source word.',
    },
  ],
  exercise: {
    task: 'Choose a head and a query. Multiply by hand the first two numbers of its query with those of a key, and check them in the table. Then: if all 16 numbers of a query were 0, what would its attention weights be?',
    solution:
      'All scores would be 0, so softmax gives every token the same weight, 1/n, and the output is the plain mean of all values: attention that ignores what the tokens say.',
  },
});
