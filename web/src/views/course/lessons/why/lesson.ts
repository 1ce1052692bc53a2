import led from 'source:src/layers/attention/frozen_projection.cpp#FrozenProjection::lead_back';
import sum from 'source:src/explain/readings/score_attribution.cpp#ScoreReading::sum';
import { decimals, signedDecimals, weight as formatWeight } from '../../../../ui/text/format.ts';
import { papers } from '../../../../ui/export/citations.ts';
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
  word,
} from '../../../../ui/formula/formula.ts';
import { lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { groups, layer, readWhy, rightChoice, type WhyLive } from './reading.ts';

const [a, b, i, j, k] = [sym('a'), sym('b'), sym('i'), sym('j'), sym('k')];
const two = decimals(2);
const points = signedDecimals(2);
const pair = ({ labels, query, key }: WhyLive) => [labels[query] ?? '', labels[key] ?? ''] as const;

export default lesson<WhyLive, 'sentiment'>({
  claim: [
    'A head looks where its score is high, and a score is the product of a [query] and a [key]. But what is in them? Each row of the [residual stream] is a sum: the token, its position, and what earlier heads and networks have added.',
    'Query and key are computed from such sums, so the score is a sum, too: of each part of the query times each part of the key. One can read off which of them made the head look there.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readWhy(model, text, setting, signal),
  prediction: {
    question(live) {
      const [query, key] = pair(live);
      return `Layer ${layer + 1}, head ${live.head + 1} looks from “${query}” at “${key}” with the weight ${formatWeight(live.weight)}. What in the row of “${key}” attracts it most? Think: a head that always looks at the neighbor needs only positions; one that looks for a word needs the word; one that looks for “not good” needs a word that already knows its neighbor.`;
    },
    choices: () => groups.map(({ name }) => name),
    answer(live) {
      const right = rightChoice(live);
      const [, key] = pair(live);
      return {
        right,
        why: `Of the ${points(live.lead)} by which “${key}” is above the others, ${groups[right]!.name} is ${points(live.answers[right]!)}.`,
      };
    },
  },
  Picture,
  caption(live) {
    const [query, key] = pair(live);
    return `Why “${query}” looks at “${key}” in layer ${layer + 1}, head ${live.head + 1}: the score above the mean of the other tokens, split by what each row is made of.`;
  },
  formula: {
    lines: [
      row(
        marked('score', sub(sym('s'), row(i, j))),
        op('='),
        total(
          row(a, op(','), b),
          row(
            marked('asks', sup(sub(vec('q'), i), a)),
            op('·'),
            marked('answers', sup(sub(vec('k'), j), b)),
          ),
        ),
        op('/'),
        root(sym('d')),
      ),
      row(
        marked('lead', word('lead')),
        op('='),
        sub(sym('s'), row(i, j)),
        op('−'),
        over(
          total(row(k, op('≠'), j), row(sub(sym('A'), row(i, k)), sub(sym('s'), row(i, k)))),
          total(row(k, op('≠'), j), sub(sym('A'), row(i, k))),
        ),
      ),
    ],
    readings: [
      'The score of query i and key j is the sum over the parts a of the query and b of the key of their products, divided by the square root of d.',
      'The lead is the score minus the mean of the scores of the other keys by their weights.',
    ],
    symbols: [
      {
        name: 'score',
        maths: sub(sym('s'), row(i, j)),
        means: () => 'the score before the softmax, one number',
      },
      {
        name: 'asks',
        maths: sup(sub(vec('q'), i), a),
        means: () => 'a part of the query, 16 numbers',
      },
      {
        name: 'answers',
        maths: sup(sub(vec('k'), j), b),
        means: () => 'a part of the key, 16 numbers',
      },
      {
        name: 'lead',
        maths: word('lead'),
        means: () => 'how far above the others: softmax sees only differences',
      },
    ],
  },
  code: { pytorch, cpp: [sum, led], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'The head',
      options: (live) =>
        Array.from({ length: live?.heads ?? 8 }, (_, value) => ({ value, text: `${value + 1}` })),
    },
    initial: 5,
    task: 'Choose other heads of the layer. Which of them look at positions, and which at words?',
    told(live) {
      const [query, key] = pair(live);
      const right = rightChoice(live);
      return `Head ${live.head + 1} looks most from “${query}” at “${key}” (${formatWeight(live.weight)}); its score is ${two(live.score)}. In “${key}”, ${groups[right]!.name} counts most: ${points(live.answers[right]!)}.`;
    },
  },
  paper: [
    {
      where: `Elhage et al. 2021, ${papers.ledger.title}`,
      url: papers.ledger.url,
      says: 'the pattern of a head follows from the product of two rows of the stream through W_Q and W_K, and each row is the sum of what was written to it: earlier heads can compose with the query or with the key.',
    },
  ],
  exercise: {
    task: 'A query has the parts 2 (token) and 1 (position), a key the parts 3 (token) and −1 (position); vectors have one number and √d is 1. Compute the score, and what the key’s token answers with. Then: a part of the query is multiplied by the same number for every key. Can it decide where the head looks?',
    solution:
      'The score is (2 + 1) · (3 − 1) = 6. The key’s token answers with 3 · (2 + 1) = 9, its position with −1 · 3 = −3: together 6. No: it raises all scores alike, and the [softmax] sees only differences between keys; that is why the picture shows the score above the others.',
  },
});
