import align from 'source:src/tasks/translate/alignment.cpp#align';
import choose from 'source:src/search/beam_search.cpp#BeamSearch::choose';
import { decimals, fraction } from '../../../../ui/text/format.ts';
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
  word,
} from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import {
  choicesFor,
  mostBeams,
  readTranslation,
  usualBeams,
  type TranslationLive,
} from './reading.ts';

const [i, j, t] = [sym('i'), sym('j'), sym('t')];
const three = decimals(3);

export default lesson<TranslationLive, 'en-de'>({
  claim: [
    'In [cross-attention] the [queries|query] come from the [decoder] and the [keys|key] and [values|value] from the [encoder]: each token of the translation looks up what it needs in the source. Nobody taught it which words belong together; the [alignment] is learned on the way.',
    'Which token comes next is a search. Taking the most probable one each time can miss a better sentence, so a [beam search] keeps several beginnings, and ranks them by their [log-probability].',
  ],
  model: 'en-de',
  read: ({ model, text, setting, signal }) =>
    readTranslation(model, text, Math.round(setting), signal),
  prediction: {
    question: ({ asked, layers, target }) =>
      `The translation contains “${asked?.word ?? target[0]}”. In layer ${layers} of the decoder, to which word of the source does it attend most?`,
    choices: (live) => choicesFor(live).choices,
    answer(live) {
      const { asked } = live;
      return {
        right: choicesFor(live).right,
        why: asked
          ? `On average over the heads of the last layer, “${asked.word}” gives ${fraction(asked.weight)} of its attention to “${asked.source}”. Look at single heads, too: not all of them align.`
          : 'No word of this translation has a clear partner in the source.',
      };
    },
  },
  Picture,
  caption: ({ layers, heads, sentences }) =>
    `${sentences > 1 ? 'The first of your sentences. ' : ''}Rows are the translation’s tokens, columns the source’s. Choose one of the ${layers} × ${heads} heads, or the mean of a layer.`,
  formula: {
    lines: [
      row(
        marked('a', sub(sym('a'), row(i, j))),
        op('='),
        word('softmax'),
        op('('),
        over(
          row(marked('q', sub(vec('q'), i)), op('·'), marked('k', sub(vec('k'), j))),
          root(sub(sym('d'), sym('head'))),
        ),
        op(')'),
      ),
      row(
        word('score'),
        op('('),
        sym('y'),
        op(')'),
        op('='),
        over(num(1), marked('n', sup(sym('n'), sym('α')))),
        marked(
          'p',
          total(
            t,
            row(
              word('log\u00a0'),
              sym('P'),
              op('('),
              sub(sym('y'), t),
              op('|'),
              sub(sym('y'), row(op('<'), t)),
              op(','),
              sym('x'),
              op(')'),
            ),
          ),
        ),
      ),
    ],
    readings: [
      'The weight a i j is the softmax over the source of decoder query i dot encoder key j, divided by the square root of d head.',
      'The score of a translation y is the sum of the log-probabilities of its n tokens, divided by n to the alpha.',
    ],
    symbols: [
      { name: 'q', maths: vec('q'), means: () => 'query of a token of the translation' },
      { name: 'k', maths: vec('k'), means: () => 'key of a token of the source' },
      {
        name: 'a',
        maths: sym('a'),
        means: ({ target, source }) => `cross-attention, ${target.length} × ${source.length}`,
      },
      { name: 'p', maths: row(op('∑'), word('log P')), means: () => 'sum of log-probabilities' },
      {
        name: 'n',
        maths: sup(sym('n'), sym('α')),
        means: () => 'tokens; here α = 1, so the score is the mean',
      },
    ],
  },
  code: { pytorch, cpp: [choose, align], javascript, run },
  change: {
    control: {
      kind: 'slider',
      label: 'Number of beams',
      min: 1,
      max: mostBeams,
      step: 1,
      shown: (value) => (value === 1 ? '1: greedy' : `${value}`),
    },
    initial: usualBeams,
    task: 'Go to 1 beam, then to 8. Does the best translation change? Watch how many beginnings are tried.',
    told({ beams, sentence, usual, greedy }) {
      const tried = sentence.tree.length - 1;
      const other = beams === usualBeams ? greedy : usual;
      const against = beams === usualBeams ? '1 beam' : `${usualBeams} beams`;
      const score = sentence.score;
      const same = other.text === sentence.text;
      const compared = same
        ? `the same translation as ${against}`
        : `another one than ${against}: “${other.text}” (${three(other.score)})`;
      return `${beams} ${beams === 1 ? 'beam considers' : 'beams consider'} ${tried} continuations and find a translation with score ${three(score)}, ${compared}.`;
    },
  },
  paper: [
    {
      where: `${attention}, sections 3.2.3 and 6.1`,
      url: arxiv('1706.03762'),
      says: '“encoder-decoder attention” lets every position of the decoder attend to all of the input; its translations use a beam of 4 and a length penalty α = 0.6.',
    },
    {
      where: 'Wu et al. 2016, Google’s Neural Machine Translation System, section 7',
      url: arxiv('1609.08144'),
      says: 'beam search with a length penalty: without one, short translations win, because every further token lowers the sum.',
    },
    {
      where: 'Stahlberg and Byrne 2019, On NMT Search Errors and Model Errors',
      url: arxiv('1908.10090'),
      says: 'searching everything does not help: for more than half of the sentences, the most probable translation is empty.',
    },
  ],
  exercise: {
    task: 'A model gives “a b” the probabilities 0.5 and 0.3, and “c d” 0.4 and 0.9 (each followed by a certain end). What does a greedy search find, what one with 2 beams? Compute both log-probabilities. Why do we add logarithms instead of multiplying probabilities?',
    solution:
      'Greedy takes “a” (0.5), then “b”: 0.15, or −1.90. Two beams keep “c” as well and find “c d”: 0.36, or −1.02. A product of many probabilities soon is smaller than the smallest float; a sum of logarithms is not, and the order is the same.',
  },
});
