import layerNorm from 'source:src/kernels/norm.hpp#layer_norm';
import begin from 'source:src/layers/norm/residual.cpp#Residual::begin';
import end from 'source:src/layers/norm/residual.cpp#Residual::finish';
import { decimals, percent } from '../../../../ui/text/format.ts';
import { marked, op, over, row, sym, vec, word } from '../../../../ui/formula/formula.ts';
import { arxiv, attention, lesson } from '../../lesson.ts';
import { run } from './javascript.js';
import javascript from './javascript.js?raw';
import Picture from './Picture.svelte';
import pytorch from './pytorch.py?raw';
import { choicesFor, postNorm, readResiduals, type ResidualsLive } from './reading.ts';

const x = vec('x');
const one = decimals(1);

export default lesson<ResidualsLive, 'sentiment'>({
  claim: [
    'A [sub-layer] does not replace a token’s vector. It adds to it: that is the [residual connection], and the vector that grows this way is the [residual stream].',
    'Before each sub-layer a [layer normalization] brings the vector to a standard size, so that every layer reads numbers of the same scale.',
    'The paper normalizes after the addition (post-norm). This model normalizes before it (pre-norm), as nearly all newer ones do, because gradients then reach the first layer undisturbed.',
  ],
  model: 'sentiment',
  read: ({ model, text, setting, signal }) => readResiduals(model, text, setting, signal),
  prediction: {
    question(live) {
      const { before } = choicesFor(live);
      return `The vector of “${live.labels[live.asked]}” has length ${one(before)} when it enters the first layer. Four layers add to it eight times. How long is it at the end?`;
    },
    choices: (live) => choicesFor(live).choices,
    answer(live) {
      const { right, before, after } = choicesFor(live);
      return {
        right,
        why: `It grows from ${one(before)} to ${one(after)}. It does not double with each addition, because the changes point in many directions; and nothing shrinks it, because pre-norm never normalizes the stream itself before the end.`,
      };
    },
  },
  Picture,
  caption: () =>
    'The length of each token’s vector on its way through the model. Press a cell to open that sub-layer.',
  formula: {
    lines: [
      row(
        word('pre-norm:'),
        word('\u00a0'),
        marked('y', vec('y')),
        op('='),
        marked('x', x),
        op('+'),
        marked(
          'f',
          row(sym('F'), op('('), marked('n', row(word('LN'), op('('), x, op(')'))), op(')')),
        ),
      ),
      row(
        word('post-norm:'),
        word('\u00a0'),
        vec('y'),
        op('='),
        word('LN'),
        op('('),
        x,
        op('+'),
        sym('F'),
        op('('),
        x,
        op(')'),
        op(')'),
      ),
      row(
        marked('n', row(word('LN'), op('('), x, op(')'))),
        op('='),
        over(row(x, op('−'), marked('mu', sym('μ'))), marked('mu', sym('σ'))),
        op('⊙'),
        vec('γ'),
        op('+'),
        vec('β'),
      ),
    ],
    readings: [
      'Pre-norm: y is x plus F of the layer norm of x. F is attention or feed-forward.',
      'Post-norm: y is the layer norm of x plus F of x.',
      'The layer norm of x is x minus its mean mu, divided by its standard deviation sigma, times gamma, plus beta.',
    ],
    symbols: [
      { name: 'x', maths: x, means: ({ dModel }) => `what enters, ${dModel} numbers` },
      { name: 'n', maths: word('LN'), means: () => 'the same, normalized' },
      { name: 'f', maths: sym('F'), means: () => 'what attention or feed-forward adds' },
      { name: 'y', maths: vec('y'), means: () => 'the sum, which the next sub-layer gets' },
      {
        name: 'mu',
        maths: row(sym('μ'), op(','), sym('σ')),
        means: () => 'mean and standard deviation of x',
      },
    ],
  },
  code: { pytorch, cpp: [begin, end, layerNorm], javascript, run },
  change: {
    control: {
      kind: 'choice',
      label: 'What to change',
      options: () => [
        { value: 0, text: 'as trained' },
        ...[1, 2, 3, 4].map((layer) => ({ value: layer, text: `cut in layer ${layer}` })),
        { value: postNorm, text: 'post-norm' },
      ],
    },
    initial: 0,
    task: 'Cut the residual connection around attention in one layer: only the change is left of each token. Or normalize after each addition, too, as the paper does.',
    told({ setting, usual, verdict, lengths, usualLengths, dModel, asked, labels }) {
      const change = `${percent(usual.positive)} positive becomes ${percent(verdict.positive)}${usual.label === verdict.label ? '' : ', and the verdict flips'}`;
      const end = one(lengths[asked]!.at(-1)!);
      if (setting === 0)
        return `As trained: ${percent(usual.positive)} positive; “${labels[asked]}” ends with length ${end}.`;
      if (setting === postNorm)
        return `After each norm a vector has length √${dModel} = ${one(Math.sqrt(dModel))}, instead of up to ${one(Math.max(...usualLengths.flat()))}. ${change}: the weights were not trained for it.`;
      return `From layer ${setting} on, nothing is left of what the tokens were. ${change}.`;
    },
  },
  paper: [
    {
      where: `${attention}, section 3.1`,
      url: arxiv('1706.03762'),
      says: '“the output of each sub-layer is LayerNorm(x + Sublayer(x))”: post-norm.',
    },
    {
      where: 'Xiong et al. 2020, On Layer Normalization in the Transformer Architecture',
      url: arxiv('2002.04745'),
      says: 'why pre-norm trains stably without a warm-up.',
    },
    {
      where: 'He et al. 2015, Deep Residual Learning',
      url: arxiv('1512.03385'),
      says: 'residual connections, first for pictures; Ba et al. 2016 (1607.06450) is layer normalization.',
    },
  ],
  exercise: {
    task: 'In pre-norm, y = x + F(LN(x)). Write the derivative of y with respect to x. What remains of it if F’s own derivative is almost 0, and why does that help to train twelve layers?',
    solution:
      'dy/dx = I + dF(LN(x))/dx. If the second part vanishes, the identity remains, so the gradient reaches the layer below unchanged. Through twelve layers it is multiplied by twelve matrices near the identity instead of twelve arbitrary ones, and neither vanishes nor explodes. In post-norm each LN rescales it once more.',
  },
});
