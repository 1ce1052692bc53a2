import plan from 'source:src/explain/interventions/faithfulness.cpp#FaithfulnessTest::plan';
import read from 'source:src/explain/interventions/faithfulness.cpp#FaithfulnessTest::read';
import { decimals, percent } from '../../../../ui/text/format.ts';
import {
  marked,
  num,
  op,
  over,
  row,
  sub,
  sup,
  sym,
  total,
  word,
} from '../../../../ui/formula/formula.ts';
import { arxiv, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { choices, methods, readExplanation, rightChoice, type ExplanationLive } from './reading.ts';

const [i, j] = [sym('i'), sym('j')];
const n = sym('n');
const given = (...what: Parameters<typeof row>) =>
  row(sym('P'), op('('), sym('y'), op('|'), ...what, op(')'));
const [x, top] = [sym('x'), word('top')];
const two = decimals(2);

/** Says how alike the orders are. */
function alike(rho: number, count: number): string {
  if (count < 3) return `${two(rho)}, which means nothing for so few tokens`;
  // The standard deviation of ρ for random orders; about 19 of 20 are within two of them.
  const most = 2 / Math.sqrt(Math.max(1, count - 1));
  if (Math.abs(rho) > most) return two(rho);
  return `${two(rho)}, no more than chance: about 19 of 20 random orders of ${count} tokens stay within ±${two(Math.min(1, most))}`;
}

export default lesson<ExplanationLive, 'sentiment'>({
  claim: [
    'Attention weights look like reasons: here the model looked, so that is why. But a token with much attention may change nothing, and what the weights carry is mixed in every layer before.',
    'There is a test: take tokens away and see what happens ([leaving out]). An explanation that ranks tokens should agree with it, or at least beat random orders.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readExplanation(model, text, setting, signal),
  prediction: {
    question: ({ labels, most, answer }) =>
      `${labels.length === 1 ? `“${labels[most]}” is the only token` : `In the last layer, “${labels[most]}” receives the most attention of all ${labels.length} tokens`}. How does it rank by what happens to the answer “${answer}” if it is left out?`,
    choices: () => choices,
    answer(live) {
      const { labels, most, byEffect, effects, rhoOfAttention } = live;
      return {
        right: rightChoice(live),
        why: `“${labels[most]}” ranks ${Math.round(byEffect[most]!)} of ${labels.length}: without it the log-odds change by ${two(Math.abs(effects[most]!))}. The rank correlation of attention and leaving out is ${alike(rhoOfAttention, labels.length)}.`,
      };
    },
  },
  Picture,
  caption: ({ method, answer, probability }) =>
    `The answer “${answer}” (${percent(probability)}) has two explanations: ${methods[method]!.says}; and what leaving out each token really does.`,
  formula: {
    lines: [
      row(
        marked('a', sub(sym('â'), j)),
        op('='),
        over(num(1), row(sym('H'), n)),
        total(row(sym('h'), op(','), i), sub(sup(sym('a'), sym('h')), row(i, j))),
      ),
      row(
        marked('effect', sub(word('effect'), j)),
        op('='),
        word('log-odds'),
        op('('),
        x,
        op(')'),
        op('−'),
        word('log-odds'),
        op('('),
        x,
        op('∖'),
        j,
        op(')'),
      ),
      row(
        marked('rho', sym('ρ')),
        op('='),
        num(1),
        op('−'),
        over(
          row(num(6), total(j, sup(sub(word('(rank\u00a0difference)'), j), num(2)))),
          row(n, op('('), sup(n, num(2)), op('−'), num(1), op(')')),
        ),
      ),
      row(marked('comp', word('comp')), op('='), given(x), op('−'), given(x, op('∖'), top)),
      row(marked('suff', word('suff')), op('='), given(x), op('−'), given(top)),
    ],
    readings: [
      'The attention that token j receives is the mean over heads h and queries i of a i j.',
      'The effect of j is the log-odds of the answer y with all tokens, minus the same without token j.',
      'Spearman’s rank correlation rho is 1 minus 6 times the sum of squared rank differences, divided by n times n squared minus 1.',
      'Comprehensiveness is the probability of y given the text, minus that without the top-ranked words.',
      'Sufficiency is the probability of y given the text, minus that given only the top-ranked words.',
    ],
    symbols: [
      { name: 'a', maths: sym('â'), means: ({ method }) => `scores: ${methods[method]!.name}` },
      {
        name: 'effect',
        maths: word('effect'),
        means: () => 'log-odds, log P / (1 − P), with it minus without it',
      },
      { name: 'rho', maths: sym('ρ'), means: () => 'rank correlation of |score| and |effect|' },
      { name: 'comp', maths: word('comp'), means: () => 'comprehensiveness: high is good' },
      { name: 'suff', maths: word('suff'), means: () => 'sufficiency: low is good' },
    ],
  },
  code: { pytorch, cpp: [plan, read], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'The method',
      options: () => methods.map(({ name }, value) => ({ value, text: name })),
    },
    initial: 0,
    task: 'Choose another way to explain the same answer. Which one agrees best with leaving out, and which ones beat random orders?',
    told({ method, rho, labels, test }) {
      const agrees = `“${methods[method]!.name}” and leaving out agree with a [rank correlation] of ${alike(rho, labels.length)}.`;
      if (!test) return agrees;
      const { mean, deviation, scores } = test.random;
      const better = scores.filter((each) => each >= test.order.score).length;
      const bar = mean + 2 * deviation;
      return `${agrees} Its order scores ${two(test.order.score)} in the test; ${better} of ${scores.length} random orders ${better === 1 ? 'is' : 'are'} as good (they score ${two(mean)} ± ${two(deviation)}): ${test.order.score > bar ? 'more' : 'less'} than two standard deviations above chance.`;
    },
  },
  paper: [
    {
      where: 'Jain and Wallace 2019, Attention is not Explanation',
      url: arxiv('1902.10186'),
      says: 'attention weights often do not correlate with gradients and leaving out, and other weights can give the same answer.',
    },
    {
      where: 'Wiegreffe and Pinter 2019, Attention is not not Explanation',
      url: arxiv('1908.04626'),
      says: 'that depends on what one calls an explanation; and other weights that are found by training do worse in a simple test, so attention is not disproved.',
    },
    {
      where: 'Chefer et al. 2021, Transformer Interpretability Beyond Attention Visualization',
      url: arxiv('2012.09838'),
      says: 'attention combined with gradients, through all layers, and specific to the answer; their method for models with several kinds of attention (2103.15679) is “relevance” here.',
    },
    {
      where: 'DeYoung et al. 2020, ERASER',
      url: arxiv('1911.03429'),
      says: 'comprehensiveness and sufficiency.',
    },
  ],
  exercise: {
    task: 'A text has 5 tokens. Attention ranks them 1, 2, 3, 4, 5 and leaving out ranks the same tokens 2, 1, 3, 5, 4. Compute ρ. Then: why can two tokens that both say “good” each have an effect near 0 although together they decide the answer?',
    solution:
      'The rank differences are 1, 1, 0, 1, 1, so ρ = 1 − 6 · 4 / (5 · 24) = 0.8. If one “good” is left out, the other still says it, so neither alone changes much: leaving out one at a time misses what is said twice. That is why the test takes many away in order, and why its upper bound is no truth either.',
  },
});
