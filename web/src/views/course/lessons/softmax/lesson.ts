import divisor from 'source:src/models/stack/stack.cpp#divisor_of';
import exponentials from 'source:src/kernels/softmax.hpp#exponentials';
import { fraction, percent } from '../../../../ui/text/format.ts';
import {
  marked,
  num,
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
import { choicesFor, readSoftmax, type SoftmaxLive } from './reading.ts';

const [i, j, k] = [sym('i'), sym('j'), sym('k')];
const both = row(i, j);
const d = sub(sym('d'), sym('head'));

export default lesson<SoftmaxLive, 'sentiment'>({
  claim: [
    'A [query] is compared with each [key] by their dot product. [Softmax|softmax] turns these numbers into [attention weights|attention weight], which sum to 1.',
    'Softmax reacts to differences: if the [scores|score] lie far apart, the largest takes nearly everything, and almost no gradient is left to learn from.',
    'The sum of 16 products varies about √16 times as much as one product. Dividing by √16 = 4 undoes that.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readSoftmax(model, text, setting, signal),
  prediction: {
    question: (live) =>
      `In layer ${live.layer + 1}, head ${live.head + 1}, the largest attention weight of “${live.labels[live.asked]}” is ${fraction(choicesFor(live).now)}. How large would it be without the division by ${live.root}?`,
    choices: (live) => choicesFor(live).choices,
    answer(live) {
      const { choices, right, now } = choicesFor(live);
      return {
        right,
        why: `Without the division all differences between scores are ${live.root} times as large, and softmax multiplies e to the power of each: ${fraction(now)} becomes ${choices[right]}. Move the slider to 1 to see it.`,
      };
    },
  },
  Picture,
  caption: ({ layer, head }) =>
    `Layer ${layer + 1}, head ${head + 1}, the head that the division changes most: from dot products to weights, for one query. Press a token to change the query.`,
  formula: {
    lines: [
      row(
        marked('s', sub(sym('s'), both)),
        op('='),
        over(marked('qk', row(sub(vec('q'), i), op('·'), sub(vec('k'), j))), marked('d', root(d))),
      ),
      row(
        marked('a', sub(sym('a'), both)),
        op('='),
        over(
          sup(sym('e'), marked('s', sub(sym('s'), both))),
          total(k, sup(sym('e'), sub(sym('s'), row(i, k)))),
        ),
      ),
      row(
        over(row(op('∂'), sub(sym('a'), both)), row(op('∂'), sub(sym('s'), both))),
        op('='),
        marked(
          'slope',
          row(sub(sym('a'), both), op('('), num(1), op('−'), sub(sym('a'), both), op(')')),
        ),
      ),
    ],
    readings: [
      'The score s i j is the dot product of query i and key j, divided by the square root of d head.',
      'The weight a i j is e to the s i j, divided by the sum of e to the s i k over all keys k.',
      'The derivative of a i j with respect to s i j is a i j times 1 minus a i j.',
    ],
    symbols: [
      {
        name: 'qk',
        maths: row(vec('q'), op('·'), vec('k')),
        means: ({ dHead }) => `dot product of a query and a key, ${dHead} numbers each`,
      },
      {
        name: 'd',
        maths: root(sym('d')),
        means: ({ dHead, root: value }) => `√${dHead} = ${value}; now ÷ by the slider’s number`,
      },
      { name: 's', maths: sym('s'), means: () => 'score, any number' },
      { name: 'a', maths: sym('a'), means: () => 'attention weight; a row sums to 1' },
      {
        name: 'slope',
        maths: row(sym('a'), op('('), num(1), op('−'), sym('a'), op(')')),
        means: () => 'slope of the softmax: near 0 where it is saturated',
      },
    ],
  },
  code: { pytorch, cpp: [divisor, exponentials], javascript, run },
  change: {
    control: {
      kind: 'slider',
      label: 'Divide by',
      min: 1,
      max: 16,
      step: 0.5,
      shown: (value) =>
        value === 4 ? '4 = √16, as trained' : value === 1 ? '1: no division' : `${value}`,
    },
    initial: 4,
    task: 'The slider changes the divisor in all heads of all layers. Go to 1, then to 16, and watch the bars, the slopes and the verdict.',
    told({ divisor: by, root: value, even, verdict, usual }) {
      const spread = `On average, attention has ${fraction(even.now)} of the largest possible [entropy]`;
      if (by === value) return `${spread}. The verdict: ${percent(usual.positive)} positive.`;
      const more = even.now > even.usual ? 'more evenly spread' : 'more focused';
      return `${spread}, instead of ${fraction(even.usual)}: ${more}. The verdict goes from ${percent(usual.positive)} positive to ${percent(verdict.positive)}${verdict.label === usual.label ? '' : ', and flips'}.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.2.1`,
      url: arxiv('1706.03762'),
      says: 'for large d_k the dot products grow large and push the softmax “into regions where it has extremely small gradients”; footnote 4 computes the variance.',
    },
  ],
  exercise: {
    task: 'The 16 numbers of q and of k are independent, with mean 0 and variance 1. What are the mean and the variance of q · k, and why does dividing by √16 give the scores a variance of 1?',
    solution:
      'Each product has mean 0 and variance 1. A sum of 16 independent products has mean 0 and variance 16, so its standard deviation is 4. Dividing by 4 divides the variance by 16.',
  },
});
