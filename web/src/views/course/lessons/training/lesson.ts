import loss from 'source:src/train/loss.cpp#CrossEntropy::add';
import rateAt from 'source:src/train/schedule.hpp#at';
import { decimals, wholePercent } from '../../../../ui/text/format.ts';
import {
  marked,
  num,
  op,
  over,
  row,
  sub,
  sym,
  total,
  word,
} from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import {
  choices,
  readTraining,
  rightChoice,
  rightOf,
  variants,
  type TrainingLive,
} from './reading.ts';
import { heldOut } from './sentences.ts';

const c = sym('c');
const two = decimals(2);

export default lesson<TrainingLive, 'sentiment'>({
  claim: [
    'To learn is to lower a number: the [cross-entropy], minus the logarithm of the probability of the right answer. Each step moves all weights a little downhill, as far as the [learning rate] says; in the [warm-up] that rises from 0.',
    'A small model soon knows its examples by heart: [overfitting]. [Dropout|dropout] and [label smoothing] keep it from being too sure; only [held-out] sentences show whether they do.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readTraining(model, text, setting, signal),
  prediction: {
    question: ({ examples, usual }) =>
      `A Transformer with ${usual.parameters.toLocaleString('en')} random weights has just learned from ${examples} sentences, in ${(usual.milliseconds / 1000).toFixed(1)} seconds, in this page. It now gets ${wholePercent(usual.training.accuracy)} of them right. How many of ${heldOut.length} sentences that it has never seen?`,
    choices: () => choices,
    answer: ({ usual }) => ({
      right: rightChoice(usual),
      why: `${rightOf(usual)} of ${heldOut.length}. Its loss is ${two(usual.training.loss)} on the sentences it learned and ${two(usual.heldOut.loss)} on the others: the difference is what it knows by heart. Nearly all their words occur in the training sentences, but in other combinations.`,
    }),
  },
  Picture,
  caption: ({ examples }) =>
    `A model with 2 layers, 4 heads and d_model = 32 learns from ${examples} sentences. Losses are measured without dropout and smoothing.`,
  formula: {
    lines: [
      row(
        marked('loss', sym('L')),
        op('='),
        op('−'),
        total(
          c,
          row(marked('t', sub(sym('t'), c)), word('log\u00a0'), marked('p', sub(sym('p'), c))),
        ),
      ),
      row(
        marked('t', sub(sym('t'), c)),
        op('='),
        op('('),
        num(1),
        op('−'),
        sym('ε'),
        op(')'),
        word('\u00a0if right,\u00a0'),
        op('+'),
        over(sym('ε'), sym('C')),
      ),
      row(
        marked('rate', sym('η')),
        op('='),
        sub(sym('η'), word('max')),
        op('·'),
        word('min'),
        op('('),
        over(sym('s'), sym('w')),
        op(','),
        over(row(num(1), op('−'), sym('s')), row(num(1), op('−'), sym('w'))),
        op(')'),
      ),
    ],
    readings: [
      'The loss L is minus the sum over the classes c of the target t c times the log of the probability p c.',
      'The target t c is 1 minus epsilon if c is the right class, plus epsilon divided by the number of classes C.',
      'The learning rate eta is its highest value times the smaller one of s over w, and 1 minus s over 1 minus w. s is how much of the training is over, and w the share of the warm-up.',
    ],
    symbols: [
      { name: 'loss', maths: sym('L'), means: () => 'loss; the curves show it for ε = 0' },
      { name: 'p', maths: sub(sym('p'), c), means: () => 'probability of a class' },
      {
        name: 't',
        maths: sub(sym('t'), c),
        means: ({ setting }) => {
          const share = variants[setting]!.options.smoothing ?? 0.1;
          return `target: ${two(1 - share / 2)} and ${two(share / 2)}, with ε = ${share}, C = 2`;
        },
      },
      { name: 'rate', maths: sym('η'), means: () => 'learning rate, lower picture' },
    ],
  },
  code: { pytorch, cpp: [loss, rateAt], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'What to change',
      options: () => variants.map(({ text }, value) => ({ value, text })),
    },
    initial: 0,
    task: 'Change one setting: the model learns again from the same random weights, and its curves grow beside the usual ones.',
    told({ setting, now, usual }) {
      const score = ({ heldOut: { loss }, right }: typeof now) =>
        `${two(loss)} with ${right.filter((each) => each > 0.5).length} of ${heldOut.length} right`;
      const seconds = (now.milliseconds / 1000).toFixed(1);
      if (setting === 0)
        return `As usual, the held-out loss ends at ${score(now)}. Loss ln 2 = 0.69 is what a coin gets.`;
      const stuck = now.training.loss > 0.6;
      const surer =
        setting === 1 && now.heldOut.loss > usual.heldOut.loss
          ? ' Without smoothing the model becomes as sure of its mistakes as of the rest.'
          : '';
      return `With “${variants[setting]!.text}”, the held-out loss ends at ${score(now)}, instead of ${score(usual)}.${surer}${stuck ? ' The first steps were so large that it never learned even its own examples.' : ''} (${seconds} s, one seed: another one gives other numbers, which the code below shows.)`;
    },
  },
  paper: [
    {
      where: `${attention}, sections 5.3 and 5.4`,
      url: arxiv('1706.03762'),
      says: 'the rate rises for 4,000 steps and then falls with 1/√step; dropout 0.1 and label smoothing 0.1, which “hurts perplexity […] but improves accuracy and BLEU score”.',
    },
    {
      where: 'Szegedy et al. 2016, Rethinking the Inception Architecture, section 7',
      url: arxiv('1512.00567'),
      says: 'label smoothing, against a model that is too confident.',
    },
    {
      where:
        'Srivastava et al. 2014, Dropout: A Simple Way to Prevent Neural Networks from Overfitting',
      url: 'https://jmlr.org/papers/v15/srivastava14a.html',
      says: 'why random zeros in training help on new examples.',
    },
  ],
  exercise: {
    task: 'With two classes and ε = 0.1 the targets are 0.95 and 0.05. Which probability of the right class makes the loss smallest, and how small is it then? And without smoothing? What does that mean for the logits?',
    solution:
      'The cross-entropy is smallest where p equals t, so p = 0.95, and the loss is −0.95 log 0.95 − 0.05 log 0.05 = 0.199. That needs a difference of logits of log(0.95 / 0.05) = 2.9. Without smoothing the loss falls towards 0 as p goes to 1, so the difference of logits grows without end: that is the overconfidence.',
  },
});
