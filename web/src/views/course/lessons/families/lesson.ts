import block from 'source:src/models/stack/block.cpp#Block::operator()';
import makeKind from 'source:src/models/stack/stack.cpp#make_kind';
import { decimals, milliseconds, wholePercent } from '../../../../ui/text/format.ts';
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
  vec,
  word,
} from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { costsOf, evenAt, window } from './costs.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { choicesFor, lengthOf, powers, readFamilies, type FamiliesLive } from './reading.ts';

const [i, j] = [sym('i'), sym('j')];
const n = sym('n');
const phi = (of: ReturnType<typeof row>) => row(sym('φ'), op('('), of, op(')'));
const two = decimals(2);

export default lesson<FamiliesLive, 'sentiment'>({
  claim: [
    'BERT, GPT, T5 and ViT are stacks of one and the same block: attention, feed-forward, and around both a [residual connection] and [layer normalization]. They differ in who may see whom, in how positions are told, and in what they were trained to say.',
    'All four share a price: full attention compares every token with every other, so it costs n². [Local|local attention] and [linear attention] cost n, and see less sharply.',
  ],
  model: 'sentiment',
  read: readFamilies,
  prediction: {
    question: ({ sizes }) =>
      `In a layer with d_model = ${sizes.d} and d_ff = ${sizes.dFf}, attention’s own products grow with n², all others with n. At how many tokens do both cost the same?`,
    choices: ({ sizes }) => choicesFor(evenAt(sizes)).choices,
    answer({ sizes }) {
      const even = evenAt(sizes);
      return {
        right: choicesFor(even).right,
        why: `At ${even}: 2n²d = n(4d² + 2·d·d_ff) where n = 2d + d_ff. Below that length most multiplications are in the matrices. Softmax, which is not counted here, adds n² exponentials per head. With d_model = 4,096 and d_ff = 4·d_model, both are even at 24,576 tokens.`,
      };
    },
  },
  Picture,
  caption: () =>
    'Four models answer, each made of the same block. The squares are the attention weights of their first layer, the mean of all heads: rows are queries, columns keys.',
  formula: {
    lines: [
      row(
        word('full:\u00a0'),
        sub(vec('z'), i),
        op('='),
        total(j, row(sub(sym('a'), row(i, j)), sub(vec('v'), j))),
        op(','),
        marked('full', row(num(2), sup(n, num(2)), sym('d'))),
      ),
      row(
        word('local:\u00a0'),
        op('|'),
        i,
        op('−'),
        j,
        op('|'),
        op('≤'),
        sym('w'),
        op(','),
        marked(
          'local',
          row(num(2), n, op('('), num(2), sym('w'), op('+'), num(1), op(')'), sym('d')),
        ),
      ),
      row(
        word('linear:\u00a0'),
        sub(vec('z'), i),
        op('='),
        over(
          row(
            phi(row(sub(vec('q'), i))),
            total(j, row(phi(row(sub(vec('k'), j))), sub(vec('v'), j))),
          ),
          row(phi(row(sub(vec('q'), i))), total(j, phi(row(sub(vec('k'), j))))),
        ),
      ),
      row(
        word('its cost:\u00a0'),
        marked(
          'linear',
          row(num(2), n, sym('d'), op('('), sub(sym('d'), sym('head')), op('+'), num(1), op(')')),
        ),
      ),
      row(
        word('all else:\u00a0'),
        marked(
          'rest',
          row(
            n,
            op('('),
            num(4),
            sup(sym('d'), num(2)),
            op('+'),
            num(2),
            sym('d'),
            op('·'),
            sub(sym('d'), sym('ff')),
            op(')'),
          ),
        ),
      ),
    ],
    readings: [
      'Full attention: z i is the sum over all j of a i j times v j. It takes 2 n squared d multiplications.',
      'Local attention: only keys at most w away. It takes 2 n times 2 w plus 1, times d.',
      'Linear attention: z i is phi of q i times the sum over j of phi of k j times v j, divided by phi of q i times the sum of phi of k j. The sums are the same for all i.',
      'So it takes 2 n d times d head plus 1 multiplications.',
      'All other products of a layer take n times 4 d squared plus 2 d d ff.',
    ],
    symbols: [
      {
        name: 'full',
        maths: row(num(2), sup(n, num(2)), sym('d')),
        means: ({ n: tokens }) => `full attention; now n = ${tokens}`,
      },
      { name: 'local', maths: word('local'), means: () => `w = ${window} tokens to each side` },
      { name: 'linear', maths: sym('φ'), means: () => 'linear attention; φ(x) = elu(x) + 1' },
      { name: 'rest', maths: word('all else'), means: () => 'W_Q, W_K, W_V, W_O, feed-forward' },
    ],
  },
  code: { pytorch, cpp: [block, makeKind], javascript, run },
  change: {
    control: {
      kind: 'slider',
      label: 'Length',
      min: powers[0],
      max: powers.at(-1)!,
      step: 1,
      shown: (power) => `${lengthOf(Math.round(power))} tokens`,
    },
    initial: 7,
    task: 'Make the text longer: each step doubles the number of tokens. Which bars double, which one grows fourfold, and what does the clock say?',
    told({ n: tokens, sizes, timings }) {
      const { full, rest, linear } = costsOf(tokens, sizes);
      const own = timings.find((each) => each.n === tokens)!;
      const before = timings.find((each) => 2 * each.n === tokens);
      const grown = before
        ? `, ${two(own.model / before.model)} times the time for half the length`
        : '';
      return `At ${tokens} tokens, full attention makes ${wholePercent(full / (full + rest))} of a layer’s multiplications; linear attention would make ${wholePercent(linear / (linear + rest))}. The whole model took ${milliseconds(own.model)} in this tab${grown}.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 4, table 1`,
      url: arxiv('1706.03762'),
      says: 'self-attention costs O(n²·d) per layer, and restricted to r neighbors O(r·n·d).',
    },
    {
      where: 'Devlin et al. 2018, BERT',
      url: arxiv('1810.04805'),
      says: 'an encoder that guesses hidden words from both sides.',
    },
    {
      where: 'Radford et al. 2019, Language Models are Unsupervised Multitask Learners',
      url: 'https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf',
      says: 'GPT-2: a decoder that predicts the next token, and nothing else.',
    },
    {
      where: 'Raffel et al. 2019, T5',
      url: arxiv('1910.10683'),
      says: 'encoder and decoder, every task as text to text.',
    },
    {
      where: 'Dosovitskiy et al. 2020, ViT',
      url: arxiv('2010.11929'),
      says: 'an image is worth 16×16 words: its patches are the tokens.',
    },
    {
      where: 'Beltagy et al. 2020, Longformer',
      url: arxiv('2004.05150'),
      says: 'local attention, with a few tokens that see everything.',
    },
    {
      where: 'Katharopoulos et al. 2020, Transformers are RNNs',
      url: arxiv('2006.16236'),
      says: 'linear attention: the products in another order.',
    },
  ],
  exercise: {
    task: 'A layer has d_ff = 4·d. Show that full attention’s products cost as much as all others at n = 6d, and compute that n for d = 768 (BERT base) and d = 12,288 (GPT-3). How many numbers does one head’s attention matrix have at n = 100,000?',
    solution:
      '2n²d = n(4d² + 8d²) = 12nd², so n = 6d: 4,608 and 73,728 tokens. One matrix has n² = 10 billion numbers, 40 GB as floats, which is why kernels such as FlashAttention never store it. The time stays quadratic.',
  },
});
