import segment from 'source:src/text/sentencepiece/unigram.cpp#Unigram::segment';
import { counted } from '../../../../ui/text/format.ts';
import { marked, num, op, row, sub, sym, total, word } from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { choicesFor, readTokens, type TokensLive } from './reading.ts';

const i = sym('i');
/** A space in a formula: those at the ends of words are dropped. */
const space = word('\u00a0');
const part = marked('t', sub(sym('t'), i));

export default lesson<TokensLive, 'sentiment'>({
  claim: [
    'A model computes with numbers, so a [tokenizer] first cuts the text into [tokens|token]. This one ignores capitals: “THE” and “the” are the same token.',
    'Each token is looked up in a fixed list, the [vocabulary]; its place in the list is its id.',
    'Frequent words are one token; rare words are made of several. Characters outside the vocabulary all share one id.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readTokens(model, text, setting !== 0, signal),
  prediction: {
    question: () => 'Into how many tokens will your sentence be cut?',
    choices: (live) => choicesFor(live).choices.map(String),
    answer(live) {
      const { words, before } = live;
      const more = before.length - words;
      return {
        right: choicesFor(live).right,
        why: `${counted(words, 'word')} become ${counted(before.length, 'token')}: ${
          more > 0
            ? 'punctuation marks, and parts of rare words, are tokens of their own.'
            : 'each word is frequent enough to be a token by itself.'
        }`,
      };
    },
  },
  Picture,
  caption: ({ vocabSize }) =>
    `Your sentence as the model sees it: each piece and its id, a number from 0 to ${(vocabSize - 1).toLocaleString('en')}. Press a piece.`,
  formula: {
    lines: [
      row(
        marked('text', word('text')),
        op('='),
        marked(
          't',
          row(sub(sym('t'), num(1)), sub(sym('t'), num(2)), op('…'), sub(sym('t'), sym('n'))),
        ),
      ),
      row(
        sub(word('id'), i),
        op('='),
        marked('id', row(word('place of'), space, part, space, word('in V'))),
      ),
      row(
        word('best cut: largest'),
        space,
        total(i, row(sym('log'), sym('p'), op('('), part, op(')'))),
      ),
    ],
    readings: [
      'The text is the sequence of tokens t 1 to t n.',
      'The id of token i is its place in the vocabulary V.',
      'Among all ways to cut the text, choose the one with the largest sum of log probabilities of its tokens.',
    ],
    symbols: [
      {
        name: 't',
        maths: sub(sym('t'), i),
        means: ({ tokens }) => `the tokens; here n = ${tokens.length}`,
      },
      { name: 'id', maths: sub(word('id'), i), means: () => 'their ids, which the model gets' },
      {
        name: 'text',
        maths: word('text'),
        means: ({ text }) => `your sentence, ${counted(text.length, 'character')}`,
      },
    ],
  },
  code: { pytorch, cpp: [segment], javascript, run },
  change: {
    control: { kind: 'switch', label: 'Make a typing error' },
    initial: 0,
    task: 'Two letters of the longest word change places. How does the tokenizer cope with a word that it has never seen?',
    told({ tokens, before, unknown, misspelt }, setting) {
      const now = `${counted(before.length, 'token')} now.`;
      if (!setting) return now;
      if (!misspelt) return `${now} There is no word with two letters to exchange.`;
      return tokens.length > before.length
        ? `${counted(before.length, 'token')} become ${tokens.length}: the misspelt word is put together from shorter tokens, if need be from single letters. ${unknown === 0 ? 'No word is unknown, but the' : 'The'} model has to guess the meaning from scraps.`
        : `Still ${counted(tokens.length, 'token')}: this misspelling, too, is made of as few tokens.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 5.1`,
      url: arxiv('1706.03762'),
      says: 'source and target share a vocabulary of about 37,000 tokens, found by byte-pair encoding.',
    },
    {
      where: 'Kudo 2018, Subword Regularization, section 3.2',
      url: arxiv('1804.10959'),
      says: 'the unigram model used here: each token has a probability, and the most probable cut wins.',
    },
  ],
  exercise: {
    task: 'Find an English word that this model cuts into at least four tokens, and one of eight letters or more that is a single token. What makes the difference?',
    solution:
      '“quixotic” becomes qui·x·o·tic and “unputdownable” un·put·down·able, but “strength” is one token. Only how often a word stood in the training texts counts: frequent words get a token of their own, whatever their length.',
  },
});
