import extend from 'source:src/layers/embed/positional_encoding.cpp#SinusoidalEncoding::extend';
import { percent } from '../../../../ui/text/format.ts';
import { marked, num, op, over, row, sub, sup, sym, vec } from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { outcomeOf, readPositions, runs, type PositionsLive } from './reading.ts';

const t = marked('t', sym('t'));
const pair = marked('i', row(num(2), sym('i')));
const angle = over(t, sup(num(10000), row(pair, op('/'), sym('d'))));

export default lesson<PositionsLive, 'sentiment'>({
  claim: [
    'Attention treats a text as a bag of tokens: without help, “the dog bit the man” and “the man bit the dog” are the same to it.',
    'So a [positional encoding] is added to each embedding. Here it is not learned: sines and cosines of ever longer waves, like the hands of many clocks, tell each position from all others.',
  ],
  model: 'sentiment',
  read: readPositions,
  prediction: {
    question: () =>
      'We switch the positional encoding off. Then we also shuffle the tokens. What does the shuffling do to the verdict?',
    choices: () => ['Nothing at all', 'It changes a little', 'It flips'],
    answer(live) {
      const [, , off, both] = live.verdicts.map(({ positive }) => percent(positive));
      return {
        right: outcomeOf(live),
        why: `${off} positive before, ${both} after. Without positions, every token sees the same set of tokens, whatever their order, and the mean at the end doesn’t depend on it either.`,
      };
    },
  },
  Picture,
  caption: ({ labels, dModel }) =>
    `What is added to the embeddings: one row per position, ${labels.length} × ${dModel}. Left columns turn fast, right ones hardly move. Press a cell.`,
  formula: {
    lines: [
      row(marked('p', sub(sym('p'), row(t, op(','), pair))), op('='), sym('sin'), angle),
      row(
        marked('p', sub(sym('p'), row(t, op(','), pair, op('+'), num(1)))),
        op('='),
        sym('cos'),
        angle,
      ),
      row(
        sub(vec('x'), sym('t')),
        op('='),
        sub(vec('e'), sym('t')),
        op('+'),
        marked('p', sub(vec('p'), sym('t'))),
      ),
    ],
    readings: [
      'p at t, 2 i is the sine of t divided by 10000 to the power of 2 i over d.',
      'p at t, 2 i plus 1 is the cosine of the same.',
      'The input x t of the first layer is the embedding e t plus p t.',
    ],
    symbols: [
      {
        name: 'p',
        maths: vec('p'),
        means: ({ labels, dModel }) => `positional encoding, ${labels.length} × ${dModel}`,
      },
      { name: 't', maths: sym('t'), means: () => 'the position, a row; counts from 0 here' },
      { name: 'i', maths: row(num(2), sym('i')), means: () => 'a pair of columns: one clock' },
    ],
  },
  code: { pytorch, cpp: [extend], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'Positions and order',
      options: () => [
        { value: 0, text: 'as trained' },
        { value: 1, text: 'shuffle the tokens' },
        { value: 2, text: 'positions off' },
        { value: 3, text: 'both' },
      ],
    },
    initial: 0,
    task: 'Shuffle the tokens, then switch the positions off, then do both.',
    told(live, setting) {
      const { positions, shuffle } = runs[setting]!;
      const [usual, other] = [live.verdicts[0]!, live.verdicts[setting]!];
      const all = `${percent(usual.positive)} positive`;
      const now = `${percent(other.positive)} positive`;
      if (positions && !shuffle) return `${all}: the words in their order.`;
      if (positions) return `${all} becomes ${now}: with positions, order counts.`;
      if (!shuffle)
        return `${all} becomes ${now}: this is what the model makes of the mere set of words.`;
      return outcomeOf(live) === 0
        ? `${now}, exactly as without shuffling: no positions, no order.`
        : `${now}, with positions off and shuffled.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.5`,
      url: arxiv('1706.03762'),
      says: 'the two formulas, and why sines: for any offset k, the encoding at t + k is a linear function of that at t.',
    },
    {
      where: `${attention}, table 3, row E`,
      url: arxiv('1706.03762'),
      says: 'learned positions gave nearly identical results.',
    },
  ],
  exercise: {
    task: 'Columns 1 and 2 form a clock whose hand turns by 1 radian per position. Show that turning all clocks by fixed angles leads from position t to position t + 3, whatever t is. Why may this help attention?',
    solution:
      'sin(ω(t+3)) = sin(ωt)cos(3ω) + cos(ωt)sin(3ω), and likewise for the cosine: a rotation by 3ω that doesn’t depend on t. One matrix does this for all clocks at once, so a head can learn “three tokens back” as a fixed matrix between queries and keys.',
  },
});
