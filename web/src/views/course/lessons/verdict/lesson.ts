import weigh from 'source:src/layers/pooling/pooling.cpp#MeanPooling::weigh';
import finish from 'source:src/models/stack/stack.cpp#Stack::finish';
import runFrom from 'source:src/models/stack/stack.cpp#Stack::run_from';
import { percent, signed } from '../../../../ui/text/format.ts';
import {
  marked,
  num,
  op,
  over,
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
import { choicesFor, paddings, readVerdict, type VerdictLive } from './reading.ts';

const i = sym('i');
const wholeOf = (share: number) => `${Math.round(100 * share)}%`;

export default lesson<VerdictLive, 'sentiment'>({
  claim: [
    'An [encoder] is a stack of layers, here four. A sentence becomes one answer by [pooling]: the mean of all tokens’ vectors, from which a small matrix computes two [logits|logit].',
    'Because each layer only adds to the vectors, we can stop early and read off what the model would answer: the [logit lens].',
    'In a batch, short texts are filled up with padding. A [padding mask] must hide it from attention and from the mean, or it changes the verdict.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readVerdict(model, text, setting, signal),
  prediction: {
    question: ({ usual, layers }) =>
      `After all ${layers} layers the model says ${percent(usual.positive)} positive. What would it say if it stopped after the first?`,
    choices: (live) => choicesFor(live).choices.map(wholeOf),
    answer(live) {
      const path = live.usualLens.map(({ positive }) => wholeOf(positive));
      return {
        right: choicesFor(live).right,
        why: `From the embeddings to the last layer: ${path.join(' → ')}. Each layer revises what the layers before it made of the words.`,
      };
    },
  },
  Picture,
  caption: ({ layers }) =>
    `What the model would answer after each of its ${layers} layers, and how the last answer is put together from the tokens.`,
  formula: {
    lines: [
      row(
        marked('p', vec('p')),
        op('='),
        over(num(1), marked('n', sym('n'))),
        total(i, sub(vec('x'), i)),
        word('\u00a0'),
        word('(no padding)'),
      ),
      row(
        marked('z', vec('z')),
        op('='),
        sub(sym('W'), sym('c')),
        marked('p', vec('p')),
        op('+'),
        sub(vec('b'), sym('c')),
      ),
      row(
        marked('e', row(sub(sym('z'), word('pos')), op('−'), sub(sym('z'), word('neg')))),
        op('='),
        total(i, marked('c', sub(sym('c'), i))),
        op('+'),
        sym('b'),
      ),
    ],
    readings: [
      'p is the mean of the vectors x i of the n tokens that are not padding.',
      'The logits z are W c times p plus b c.',
      'The difference of the two logits is the sum over tokens of the contributions c i, plus b.',
    ],
    symbols: [
      { name: 'n', maths: sym('n'), means: ({ averaged }) => `tokens in the mean: ${averaged}` },
      { name: 'p', maths: vec('p'), means: ({ dModel }) => `pooled vector, ${dModel} numbers` },
      { name: 'z', maths: vec('z'), means: () => 'logits after each layer, shown as probability' },
      { name: 'c', maths: sub(sym('c'), i), means: () => 'what each token contributes' },
      { name: 'e', maths: word('log-odds'), means: () => 'their sum, which decides' },
    ],
  },
  code: { pytorch, cpp: [runFrom, finish, weigh], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'Padding',
      options: () => [
        { value: 0, text: 'no padding' },
        { value: 1, text: '8, masked' },
        { value: 2, text: '8, not masked' },
        { value: 3, text: '32, not masked' },
      ],
    },
    initial: 0,
    task: 'Add tokens of padding at the end, first with the mask, then without.',
    told({ verdict, usual, evidence, bias }, setting) {
      const { count, masked } = paddings[setting]!;
      const sum = evidence.reduce((all, each) => all + each, bias);
      if (count === 0)
        return `${percent(usual.positive)} positive; the log-odds are ${signed(sum)}.`;
      const now = percent(verdict.positive);
      if (masked)
        return Math.abs(verdict.positive - usual.positive) < 1e-6
          ? `Still ${now} positive, to the last digit: masked padding has no effect at all.`
          : `${now} positive, almost as before.`;
      return `${percent(usual.positive)} becomes ${now}${verdict.label === usual.label ? '' : ', and the verdict flips'}: the tokens attend to ${count} pads, and the mean is taken over them, too.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.1`,
      url: arxiv('1706.03762'),
      says: 'the encoder is a stack of N = 6 identical layers; ours has 4.',
    },
    {
      where: 'Belrose et al. 2023, Eliciting Latent Predictions',
      url: arxiv('2303.08112'),
      says: 'the logit lens, its weaknesses, and a tuned version.',
    },
    {
      where: 'Reimers and Gurevych 2019, Sentence-BERT, section 3',
      url: arxiv('1908.10084'),
      says: 'the mean of all tokens, compared with the first token and the maximum.',
    },
  ],
  exercise: {
    task: 'A batch holds texts of 5, 12 and 40 tokens. How many of its rows are padding if all are filled up to the longest? This program uses no padding at all: how can it compute the batch?',
    solution:
      '(40 − 5) + (40 − 12) = 63 of 120 rows are padding, more than half. Instead, the 57 real rows are laid end to end; matrix products work on all of them at once, and attention runs text by text, with the lengths kept beside.',
  },
});
