import addTo from 'source:src/layers/attention/attention.cpp#Attention::add_to';
import { decimals, percent, signedDecimals } from '../../../../ui/text/format.ts';
import {
  marked,
  num,
  op,
  row,
  sub,
  sup,
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
import { choices, costliest, layer, readHeads, type HeadsLive } from './reading.ts';

const h = sym('h');
const one = decimals(1);
const points = signedDecimals(1);

export default lesson<HeadsLive, 'sentiment'>({
  claim: [
    'A single [attention head] can only take one weighted mean per token. So a layer has eight, side by side, each with queries, keys and values of its own, 16 numbers wide.',
    'Their outputs are concatenated and multiplied by W_O, which is the same as a sum: each head adds its own vector to the token.',
    'Some heads have a clear job, many share theirs: most can be switched off one at a time at little cost.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readHeads(model, text, setting, signal),
  prediction: {
    question: ({ texts, all }) =>
      `We switched off one of the ${all.length || 32} heads at a time and classified ${(texts || 1000).toLocaleString('en')} reviews that the model had never seen. How much accuracy did the most important head cost?`,
    choices: () => choices,
    answer(live) {
      const { right, points: most } = costliest(live);
      return {
        right,
        why: `The most important head costs ${one(most)} points. The heads share their work, and the [residual connection] carries everything past a missing head.`,
      };
    },
  },
  Picture,
  caption: ({ heads }) =>
    `The ${heads} heads of layer ${layer + 1} on your sentence: rows are queries, columns are keys. Below each: what it does over many texts. Press a head.`,
  formula: {
    lines: [
      row(
        marked('z', sub(vec('z'), h)),
        op('='),
        marked('A', sub(sym('A'), h)),
        op(' '),
        sub(sym('V'), h),
      ),
      row(
        marked('out', word('MultiHead')),
        op('='),
        sub(sym('W'), sym('O')),
        op('['),
        sub(vec('z'), num(1)),
        op(';'),
        op('…'),
        op(';'),
        sub(vec('z'), num(8)),
        op(']'),
        op('+'),
        vec('b'),
      ),
      row(
        word('\u2003'),
        op('='),
        total(h, marked('part', row(sup(sub(sym('W'), sym('O')), h), sub(vec('z'), h)))),
        op('+'),
        vec('b'),
      ),
    ],
    readings: [
      'The output z of head h is its attention weights A times its values V.',
      'Multi-head attention is W O times the concatenation of z 1 to z 8, plus b.',
      'That equals the sum over heads of the columns of W O for head h times z h, plus b.',
    ],
    symbols: [
      {
        name: 'A',
        maths: sub(sym('A'), h),
        means: ({ labels }) => `weights of a head, ${labels.length} × ${labels.length}`,
      },
      {
        name: 'z',
        maths: sub(vec('z'), h),
        means: ({ dHead }) => `a head’s output, ${dHead} numbers; the chosen head’s row`,
      },
      {
        name: 'part',
        maths: row(sup(sym('W'), h), sub(vec('z'), h)),
        means: ({ heads, dModel }) => `what each head adds, ${heads} × ${dModel}`,
      },
      {
        name: 'out',
        maths: word('sum'),
        means: ({ dModel }) => `what attention adds to the token, ${dModel} numbers`,
      },
    ],
  },
  code: { pytorch, cpp: [addTo], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'The head that is off',
      options: () => [
        { value: 0, text: 'all on' },
        ...Array.from({ length: 8 }, (_, head) => ({
          value: head + 1,
          text: `${head + 1}`,
        })),
      ],
    },
    initial: 0,
    task: 'Switch one head of this layer off ([ablation]). Which one matters for your sentence?',
    told({ off, usual, verdict, measured, texts }) {
      if (off === 0) return `All heads on: ${percent(usual.positive)} positive.`;
      const lost = measured.find(({ head }) => head === off - 1)?.scoreLost?.points;
      const many =
        lost === undefined
          ? ''
          : ` Over ${texts.toLocaleString('en')} texts, accuracy ${lost === 0 ? 'stays the same' : `changes by ${points(-lost)} points`}.`;
      return `Without head ${off}: ${percent(usual.positive)} positive becomes ${percent(verdict.positive)}.${many}`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.2.2`,
      url: arxiv('1706.03762'),
      says: 'several heads let the model “jointly attend to information from different representation subspaces”.',
    },
    {
      where: 'Michel et al. 2019, Are Sixteen Heads Really Better than One?',
      url: arxiv('1905.10650'),
      says: 'most heads of a trained model can be removed without a significant loss.',
    },
    {
      where: 'Voita et al. 2019, Analyzing Multi-Head Self-Attention',
      url: arxiv('1905.09418'),
      says: 'the heads that matter have roles: positional, syntactic, rare words.',
    },
  ],
  exercise: {
    task: 'A layer with d_model = 128 and 8 heads has matrices W_Q, W_K, W_V and W_O. How many weights are these, and how many would they be with one head of width 128? What do more heads cost?',
    solution:
      '4 × 128 × 128 = 65,536 weights in both cases: 8 heads of 16 numbers are as wide as one of 128. The products cost the same, too; only the number of attention matrices grows, from one T × T matrix to eight.',
  },
});
