import addTo from 'source:src/layers/feed_forward/feed_forward.cpp#FeedForward::add_to';
import hidden from 'source:src/layers/feed_forward/feed_forward.cpp#PlainFeedForward::hidden';
import { percent, wholePercent } from '../../../../ui/text/format.ts';
import {
  marked,
  num,
  op,
  row,
  sub,
  sym,
  total,
  vec,
  word,
} from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { choicesFor, keptAt, readFeedForward, type FeedForwardLive } from './reading.ts';

const W = (index: number) => sub(sym('W'), num(index));
const b = (index: number) => sub(vec('b'), num(index));

/** The share of units that are active, over all tokens and layers. */
const shareOf = ({ active, dFf }: FeedForwardLive) => {
  const all = active.flat();
  return all.reduce((sum, each) => sum + each, 0) / (all.length * dFf);
};

export default lesson<FeedForwardLive, 'sentiment'>({
  claim: [
    'Attention moves information between tokens; the [feed-forward network] then works on each token by itself.',
    'It has 512 [hidden units|hidden unit]. Each looks for one pattern in the token’s vector; [ReLU] sets it to 0 if the pattern is missing, and an active unit adds its own vector to the token.',
    'Few units are active at a time, although two thirds of a layer’s weights are theirs.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readFeedForward(model, text, setting, signal),
  prediction: {
    question: ({ active, labels, asked, dFf }) =>
      `For “${labels[asked]}”, W₁ and b₁ of layer 1 make ${dFf} numbers, of which ${dFf - active[0]![asked]!} are 0 or negative. How many hidden units are active after the ReLU?`,
    choices: (live) => choicesFor(live).choices,
    answer(live) {
      const { active, asked, dFf, labels } = live;
      const count = active[0]![asked]!;
      return {
        right: choicesFor(live).right,
        why: `ReLU keeps positive numbers and makes all others 0: ${count} of ${dFf} are left for “${labels[asked]}”, that is ${wholePercent(count / dFf)}. Over all tokens and layers of your sentence it is ${wholePercent(shareOf(live))}. Training made them sparse; nobody asked for it.`,
      };
    },
  },
  Picture,
  caption: ({ dModel, dFf }) =>
    `From ${dModel} numbers to ${dFf} hidden units and back, for one token. Grey cells are 0: most are. Press a unit to see what else activates it.`,
  formula: {
    lines: [
      row(
        marked('h', vec('h')),
        op('='),
        sym('max'),
        op('('),
        num(0),
        op(','),
        W(1),
        marked('n', vec('n')),
        op('+'),
        b(1),
        op(')'),
      ),
      row(marked('out', word('FFN')), op('='), W(2), marked('h', vec('h')), op('+'), b(2)),
      row(
        word('\u2003'),
        op('='),
        total(sym('u'), row(marked('unit', sub(sym('h'), sym('u'))), sub(vec('w'), sym('u')))),
        op('+'),
        b(2),
      ),
    ],
    readings: [
      'h is the maximum of 0 and W 1 times n plus b 1.',
      'FFN is W 2 times h plus b 2.',
      'That is, each active unit u adds h u times its vector w u, column u of W 2.',
    ],
    symbols: [
      {
        name: 'n',
        maths: vec('n'),
        means: ({ dModel }) => `the token’s vector, normalized, ${dModel} numbers`,
      },
      { name: 'h', maths: vec('h'), means: ({ dFf }) => `hidden units, ${dFf} numbers ≥ 0` },
      { name: 'unit', maths: sub(sym('h'), sym('u')), means: () => 'one unit, for every token' },
      {
        name: 'out',
        maths: word('FFN'),
        means: ({ dModel }) => `what is added to the token, ${dModel} numbers`,
      },
    ],
  },
  code: { pytorch, cpp: [hidden, addTo], javascript, run },
  change: {
    control: {
      kind: 'slider',
      label: 'Keep the largest',
      min: 0,
      max: 9,
      step: 1,
      shown: (value) =>
        value === 9 ? '512 units: all' : `${keptAt(value)} unit${value === 0 ? '' : 's'}`,
    },
    initial: 9,
    task: 'Keep only the largest hidden units of each token, in all four layers, and set the others to 0. How few are enough for the same verdict?',
    told({ kept, dFf, usual, verdict }) {
      if (kept >= dFf) return `All ${dFf} units: ${percent(usual.positive)} positive.`;
      const same = Math.abs(usual.positive - verdict.positive) < 0.005;
      return `With the ${kept} largest of ${dFf}: ${percent(verdict.positive)} positive, ${same ? 'as good as' : 'instead of'} ${percent(usual.positive)}.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.3`,
      url: arxiv('1706.03762'),
      says: '“position-wise”: the same two matrices for every token; d_ff is four times d_model, as here.',
    },
    {
      where: 'Geva et al. 2020, Transformer Feed-Forward Layers Are Key-Value Memories',
      url: arxiv('2012.14913'),
      says: 'rows of W₁ detect patterns, columns of W₂ are what is remembered about them.',
    },
    {
      where: 'Li et al. 2022, The Lazy Neuron Phenomenon',
      url: arxiv('2210.06313'),
      says: 'trained Transformers with ReLU are sparse, and larger ones are sparser.',
    },
  ],
  exercise: {
    task: 'Count the weights of one layer of this model, with d_model = 128 and d_ff = 512, without biases and norms: how many belong to attention, and how many to the feed-forward network?',
    solution:
      'Attention: four matrices of 128 × 128, 65,536 weights. Feed-forward: 128 × 512 + 512 × 128 = 131,072 weights, twice as many, so two thirds of the layer.',
  },
});
