import keysNear from 'source:src/layers/attention/query_blocks.hpp#keys_near';
import attendRows from 'source:src/layers/attention/row_attention.cpp#attend_rows';
import { percent, wholePercent } from '../../../../ui/text/format.ts';
import {
  marked,
  num,
  op,
  over,
  root,
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
import {
  asTrained,
  choices,
  readDecoder,
  rightChoice,
  withoutMask,
  wrongToken,
  type DecoderLive,
} from './reading.ts';

const [i, j] = [sym('i'), sym('j')];
const both = row(i, j);
const y = (index: ReturnType<typeof row>) => sub(sym('y'), index);

export default lesson<DecoderLive, 'en-de'>({
  claim: [
    'A [decoder] writes one token after the other. In training it is spared the wait: it gets the whole right translation at once, [shifted right], so that each row has to predict the token that the next row reads. That is [teacher forcing].',
    'It would only copy the answer from the next row, if it could see it. The [causal mask|causal mask] prevents that: the [score] of every later token is −∞, so its weight is 0.',
  ],
  model: 'en-de',
  read: ({ model, text, setting, signal }) => readDecoder(model, text, setting, signal),
  prediction: {
    question: ({ target, changed, wrong }) =>
      `The decoder is given the translation “${target.slice(0, 6).join(' ')} …”. We replace its token ${changed + 1}, “${target[changed]}”, by “${wrong}”. Which of the right tokens’ probabilities change?`,
    choices: () => choices,
    answer(live) {
      const { changed, still, moved, target } = live;
      return {
        right: rightChoice(live),
        why: `The rows up to the one that predicts token ${changed + 1} never see it: they change by ${still === 0 ? 'exactly 0' : `less than ${still.toExponential(0)}`}. ${moved.length} of the ${target.length} rows read it, and all of these change. This is why one pass can compute all rows at once.`,
      };
    },
  },
  Picture,
  caption: ({ source, head }) =>
    `“${source}”: each row reads a token of the given translation and all before it, and predicts the next. Below: layer 1 of the decoder, head ${head + 1}.`,
  formula: {
    lines: [
      row(
        marked('s', sub(sym('s'), both)),
        op('='),
        over(row(sub(vec('q'), i), op('·'), sub(vec('k'), j)), root(sub(sym('d'), sym('head')))),
        op('+'),
        marked('m', sub(sym('m'), both)),
      ),
      row(
        marked('m', sub(sym('m'), both)),
        op('='),
        num(0),
        word('\u00a0if\u00a0'),
        j,
        op('≤'),
        i,
        word(',\u00a0else\u00a0'),
        op('−∞'),
      ),
      row(
        marked('a', sub(sym('a'), i)),
        op('='),
        word('softmax'),
        op('('),
        marked('s', sub(sym('s'), i)),
        op(')'),
      ),
      row(
        word('loss'),
        op('='),
        op('−'),
        over(num(1), sym('T')),
        total(
          i,
          row(
            word('log\u00a0'),
            marked(
              'p',
              row(
                sym('P'),
                op('('),
                y(row(i)),
                op('|'),
                marked('y', y(row(op('<'), i))),
                op(','),
                sym('x'),
                op(')'),
              ),
            ),
          ),
        ),
      ),
    ],
    readings: [
      'The score s i j is query i dot key j, divided by the square root of d head, plus the mask m i j.',
      'The mask m i j is 0 if j is at most i, and minus infinity otherwise.',
      'The weights a i are the softmax of the scores s i.',
      'The loss is minus the mean over all T rows of the log of the probability of y i, given the tokens y before i and the source x.',
    ],
    symbols: [
      { name: 'y', maths: y(row(op('<'), i)), means: () => 'what a row reads: shifted right' },
      {
        name: 'p',
        maths: row(sym('P'), op('('), y(row(i)), op(')')),
        means: ({ target }) => `probability of the right next token, ${target.length} rows`,
      },
      {
        name: 's',
        maths: sym('s'),
        means: ({ target }) => `scores, ${target.length} × ${target.length}`,
      },
      { name: 'm', maths: sym('m'), means: () => 'the mask: −∞ above the diagonal' },
      { name: 'a', maths: sym('a'), means: () => 'attention weights; a row sums to 1' },
    ],
  },
  code: { pytorch, cpp: [keysNear, attendRows], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'What to change',
      options: () => [
        { value: asTrained, text: 'as trained' },
        { value: withoutMask, text: 'without the mask' },
        { value: wrongToken, text: 'a wrong token' },
      ],
    },
    initial: asTrained,
    task: 'Take the mask off this head to see where it would look. Or give the decoder one wrong token, and see which rows notice.',
    told(live, setting) {
      const { rows, later, answer, target, changed, wrong, after, moved } = live;
      const mean = (values: readonly number[]) =>
        values.reduce((sum, each) => sum + each, 0) / values.length;
      const loss = (values: readonly number[]) =>
        -mean(values.map((each) => Math.log(Math.max(each, 1e-12))));
      if (setting === withoutMask) {
        const most = answer.indexOf(Math.max(...answer));
        return `Without the mask this head would give ${wholePercent(mean(later))} of its attention to later tokens, although it was never trained to look there; row ${most + 1} would give ${wholePercent(answer[most]!)} to “${target[most]}”, the very token that it has to predict. A decoder trained like that learns to copy, and can write nothing when there is nothing to copy yet.`;
      }
      if (setting === wrongToken)
        return `With “${wrong}” as token ${changed + 1}, ${moved.length} of ${target.length} rows change, all of them below it. The mean loss of the right tokens goes from ${loss(rows.right).toFixed(2)} to ${loss(after.right).toFixed(2)} nats.`;
      // Only tokens that it would not have chosen itself count.
      const others = rows.right.map((each, i) => (rows.favorites[i] === target[i] ? 1 : each));
      const least = others.indexOf(Math.min(...others));
      const itself =
        rows.favorites[least] === target[least]
          ? 'The decoder would have chosen every one of these tokens itself.'
          : `The decoder gives the right token “${target[least]}” only ${percent(rows.right[least]!)}: by itself it would say “${rows.favorites[least]}” there. Training raises that probability.`;
      return `${itself} The mean loss is ${loss(rows.right).toFixed(2)} nats.`;
    },
  },
  paper: [
    {
      where: `${attention}, sections 3.1 and 3.2.3`,
      url: arxiv('1706.03762'),
      says: 'masked self-attention “combined with fact that the output embeddings are offset by one position, ensures that the predictions for position i can depend only on the known outputs at positions less than i”; illegal connections are set to −∞ before the softmax.',
    },
    {
      where:
        'Williams and Zipser 1989, A Learning Algorithm for Continually Running Fully Recurrent Neural Networks',
      url: 'https://doi.org/10.1162/neco.1989.1.2.270',
      says: 'teacher forcing: during training, the right output replaces the network’s own.',
    },
    {
      where: 'Bengio et al. 2015, Scheduled Sampling',
      url: arxiv('1506.03099'),
      says: 'its price: in training the decoder only ever continues right beginnings, in use also its own mistakes.',
    },
  ],
  exercise: {
    task: 'A translation has 4 tokens and an end token. Write down the decoder’s input, what each row must predict, and the 5 × 5 mask. How many of the 25 scores are masked? And for T tokens?',
    solution:
      'Input: start, y1, y2, y3, y4. Targets: y1, y2, y3, y4, end. Row i may see columns 1 to i, so 4 + 3 + 2 + 1 = 10 scores above the diagonal are −∞; in general T(T − 1)/2. In use the last row alone matters: the earlier ones do not change when a token is added, so their keys and values can be kept in a cache.',
  },
});
