/**
 * The path of one token through a model as a list of steps: the tensors each step shows, and how
 * their numbers are computed from earlier numbers and from weights. Every model that `Stacks` can
 * describe has such a list; the view draws it without depending on the model.
 */
import type { Activation, Stack, StackName, Stacks } from '../reading/stacks.ts';
import {
  apply,
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
  type Maths,
} from '../../../ui/formula/formula.ts';

/** How a tensor's numbers are computed, with tensors of the trace and weights of the model file. */
export type Recipe =
  | { made: 'lookup'; weight: string; scale: number }
  | { made: 'sinusoid'; halves: boolean }
  | { made: 'position'; weight: string; first: number }
  | { made: 'sum'; of: readonly string[] }
  | {
      made: 'norm';
      /** The tensors whose sum is normalized. */
      of: readonly string[];
      weight: string;
      bias: string | undefined;
      kind: Stack['layerNorm'];
      eps: number;
    }
  | {
      made: 'product';
      of: string;
      weight: string;
      bias: string | undefined;
      activation?: Activation;
    }
  | { made: 'score'; q: string; k: string; divisor: number }
  | { made: 'share'; of: string }
  | { made: 'mixture'; weights: string; values: string }
  | { made: 'mean'; of: string }
  | { made: 'first'; of: string };

/** A token's vector, drawn as a strip. */
export interface Vector {
  tensor: string;
  symbol: Maths;
  label: string;
  /** Whose row it is: the chosen token's, its chosen key's, or the whole text's. */
  of: 'token' | 'key' | 'text';
  /** For a tensor with heads: shows the chosen head, or all heads concatenated. */
  heads?: 'one' | 'all';
  recipe: Recipe;
}

/** The chosen token's attention: one number per key. */
export interface KeyRow {
  tensor: string;
  label: string;
  recipe: Recipe;
  kind: 'scores' | 'mask' | 'weights';
}

export interface Step {
  /** Unique within the model. */
  id: string;
  /** The heading of a group of steps, such as a layer's attention or feed-forward network. */
  part: string;
  title: string;
  /** Formulas, one per line. */
  formulas: readonly Maths[];
  words: string;
  vectors?: readonly Vector[];
  keys?: KeyRow;
  /** Logits, of which the largest are shown with their probabilities. */
  answer?: { tensor: string; of: 'token' | 'text'; recipe: Recipe };
  /** The summary of the numbers: mean and standard deviation, or the number of active units. */
  gist?: 'spread' | 'awake';
}

/** The recipe of every tensor, by name. */
export type Recipes = ReadonlyMap<string, Recipe>;

const t = sym('t');
const j = sym('j');
const x = vec('x');
const W = (name: string) => sub(sym('W'), sym(name));

const activationNames = { relu: 'relu', gelu: 'gelu', gelu_tanh: 'gelu' };

/** Returns the steps of one layer, and those before the first and after the last layer. */
export function stepsOf(stacks: Stacks, name: StackName, layer: number): Step[] {
  const stack = stacks[name];
  if (!stack) throw new RangeError(`the model has no ${name}`);
  return [
    ...entrance(stack),
    ...(layer > 0 ? [arrival(stack, layer)] : []),
    ...attention(stack, layer, 'self_attn'),
    ...(stack.cross ? attention(stack, layer, 'encoder_attn') : []),
    ...feedForward(stack, layer),
    ...exit(stacks, stack),
  ];
}

/** Returns the recipe of every tensor of the steps. */
export function recipesOf(steps: readonly Step[]): Recipes {
  const recipes = new Map<string, Recipe>();
  for (const { vectors = [], keys, answer } of steps) {
    for (const { tensor, recipe } of vectors) recipes.set(tensor, recipe);
    if (keys && keys.kind !== 'mask') recipes.set(keys.tensor, keys.recipe);
    if (answer) recipes.set(answer.tensor, answer.recipe);
  }
  return recipes;
}

/** Returns the names of the tensors that the steps need: those to trace. */
export function tensorsOf(steps: readonly Step[]): string[] {
  const names = new Set<string>();
  for (const [name, recipe] of recipesOf(steps)) {
    names.add(name);
    for (const each of ingredients(recipe)) names.add(each);
  }
  return [...names];
}

function ingredients(recipe: Recipe): readonly string[] {
  switch (recipe.made) {
    case 'lookup':
    case 'sinusoid':
    case 'position':
      return [];
    case 'sum':
    case 'norm':
      return recipe.of;
    case 'score':
      return [recipe.q, recipe.k];
    case 'mixture':
      return [recipe.weights, recipe.values];
    default:
      return [recipe.of];
  }
}

// --- into the stack -------------------------------------------------------------------------------

function entrance(stack: Stack): Step[] {
  const at = (name: string) => `${stack.name}.${name}`;
  const table = `${stack.embedding}.weight`;
  const scaled = stack.scaleEmbedding;
  const positions: Recipe =
    stack.positions === 'learned'
      ? {
          made: 'position',
          weight: at('embed_positions.weight'),
          first: stack.positionOffset ?? 0,
        }
      : { made: 'sinusoid', halves: stack.positions === 'sinusoidal_halves' };
  const sum = { made: 'sum', of: [at('embed_tokens'), at('embed_positions')] } as const;
  const wave = over(t, sup(num(10000), row(num(2), sym('i'), op('/'), sym('d'))));
  return [
    {
      id: 'piece',
      part: 'Into the model',
      title: scaled ? 'Token embedding × √d' : 'Token embedding',
      formulas: [
        row(
          sub(vec('e'), t),
          op('='),
          sub(sym('E'), word('token')),
          ...(scaled ? [op('·'), root(sym('d'))] : []),
        ),
      ],
      words: `The embedding table E has a row of ${stack.dModel} learned numbers for each of the ${stack.vocabSize.toLocaleString('en')} tokens of the vocabulary${
        scaled ? `; √${stack.dModel} scales them to the size of the positional encoding` : ''
      }.`,
      vectors: [
        {
          tensor: at('embed_tokens'),
          symbol: sub(vec('e'), t),
          label: 'token embedding',
          of: 'token',
          recipe: { made: 'lookup', weight: table, scale: scaled ? Math.sqrt(stack.dModel) : 1 },
        },
      ],
    },
    {
      id: 'position',
      part: 'Into the model',
      title: 'Add the positional encoding',
      formulas: [
        row(sub(x, t), op('='), sub(vec('e'), t), op('+'), sub(vec('p'), t)),
        ...(stack.positions === 'learned'
          ? []
          : [
              row(sub(sym('p'), row(t, op(','), num(2), sym('i'))), op('='), sym('sin'), wave),
              row(
                sub(sym('p'), row(t, op(','), num(2), sym('i'), op('+'), num(1))),
                op('='),
                sym('cos'),
                wave,
              ),
            ]),
      ],
      words:
        stack.positions === 'learned'
          ? 'Without it, the order of the tokens would be lost. Each position has a row of learned numbers.'
          : 'Without it, the order of the tokens would be lost. It is not learned: each pair of numbers is the hand of a clock, and each clock is slower than the one before.',
      vectors: [
        {
          tensor: at('embed_positions'),
          symbol: sub(vec('p'), t),
          label: 'positional encoding',
          of: 'token',
          recipe: positions,
        },
        {
          tensor: at('embeddings'),
          symbol: sub(x, t),
          label: 'input of layer 1',
          of: 'token',
          recipe: stack.embeddingNorm ? normOf(stack, at('layernorm_embedding'), sum.of) : sum,
        },
      ],
    },
  ];
}

/** Returns the step that shows the output of the layer before. */
function arrival(stack: Stack, layer: number): Step {
  const before = `${stack.name}.layers.${layer - 1}`;
  return {
    id: `${stack.name}.${layer}.input`,
    part: `Layer ${layer + 1}`,
    title: `Output of layer ${layer}`,
    formulas: [row(sub(x, t), op('←'), sub(x, t), op('+'), sub(word('ffn'), t))],
    words: `This token’s vector after layer ${layer}. Every layer reads it and adds to it.`,
    vectors: [
      {
        tensor: `${stack.name}.layers.${layer}.input`,
        symbol: sub(x, t),
        label: `after layer ${layer}`,
        of: 'token',
        recipe: layerOutput(stack, before),
      },
    ],
  };
}

const layerOutput = (stack: Stack, layer: string): Recipe =>
  stack.layer.norm === 'pre'
    ? { made: 'sum', of: [attended(stack, layer), `${layer}.fc2`] }
    : normOf(stack, `${layer}.final_layer_norm`, [attended(stack, layer), `${layer}.fc2`]);

/** Returns the tensor that enters a layer's feed-forward network, or the norm before it. */
const attended = (stack: Stack, layer: string) =>
  `${layer}.${stack.cross ? 'encoder_attn' : 'self_attn'}${stack.layer.norm === 'pre' ? '.residual' : '_layer_norm'}`;

// --- a norm ---------------------------------------------------------------------------------------

function normOf(stack: Stack, name: string, of: readonly string[]): Recipe {
  return {
    made: 'norm',
    of,
    weight: `${name}.weight`,
    bias: stack.layerNorm === 'rms' ? undefined : `${name}.bias`,
    kind: stack.layerNorm,
    eps: stack.layerNormEps,
  };
}

const normFormula = (symbol: string, of: Maths) =>
  row(
    sub(vec(symbol), t),
    op('='),
    over(row(of, op('−'), sym('μ')), sym('σ')),
    op('⊙'),
    vec('γ'),
    op('+'),
    vec('β'),
  );

/** Returns the step of a layer normalization. The step before shows its input. */
function norm(
  stack: Stack,
  part: string,
  name: string,
  of: readonly string[],
  where: string,
): Step {
  return {
    id: name,
    part,
    title: 'Layer normalization',
    formulas: [normFormula('n', sub(x, t))],
    words: `Subtract the mean, divide by the standard deviation, so that ${where} sees vectors of similar size. γ and β are learned.`,
    gist: 'spread',
    vectors: [
      {
        tensor: name,
        symbol: sub(vec('n'), t),
        label: 'normalized',
        of: 'token',
        recipe: normOf(stack, name, of),
      },
    ],
  };
}

// --- attention ------------------------------------------------------------------------------------

function attention(stack: Stack, layer: number, kind: 'self_attn' | 'encoder_attn'): Step[] {
  const block = `${stack.name}.layers.${layer}`;
  const at = `${block}.${kind}`;
  const cross = kind === 'encoder_attn';
  const part = `Layer ${layer + 1}: ${cross ? 'cross-attention' : 'attention'}`;
  const pre = stack.layer.norm === 'pre';
  const causal = stack.layer.attention === 'causal';
  const normed = `${at}_layer_norm`;
  const stream = cross
    ? pre
      ? `${block}.self_attn.residual`
      : `${block}.self_attn_layer_norm`
    : `${block}.input`;
  const reads = pre ? normed : stream;
  const keysRead = cross ? 'encoder.output' : reads;
  const n = sub(vec(pre ? 'n' : 'x'), t);
  const nj = cross ? sub(vec('h'), j) : sub(vec(pre ? 'n' : 'x'), j);
  const project = (name: 'q' | 'k' | 'v', of: string): Recipe => ({
    made: 'product',
    of,
    weight: `${at}.${name}_proj.weight`,
    bias: stack.layer.attentionBias ? `${at}.${name}_proj.bias` : undefined,
  });
  const divisor = Math.sqrt(stack.layer.dHead);
  const score: Recipe = { made: 'score', q: `${at}.q`, k: `${at}.k`, divisor };
  const s = sub(sym('s'), row(t, j));
  const a = sub(sym('a'), row(t, j));

  const projections: Step = {
    id: `${at}.qkv`,
    part,
    title: 'Query, key, value',
    formulas: [
      row(sub(vec('q'), t), op('='), W('q'), n),
      row(sub(vec('k'), j), op('='), W('k'), nj),
      row(sub(vec('v'), j), op('='), W('v'), nj),
    ],
    words: cross
      ? 'Cross-attention: the query says what this token looks for, a key what a source token offers, a value what it passes on. Keys and values are computed from the encoder’s output.'
      : 'Self-attention: the query says what this token looks for, a key what a token offers, a value what it passes on. Each head has its own weights.',
    vectors: [
      {
        tensor: `${at}.q`,
        symbol: sub(vec('q'), t),
        label: 'query',
        of: 'token',
        heads: 'one',
        recipe: project('q', reads),
      },
      {
        tensor: `${at}.k`,
        symbol: sub(vec('k'), j),
        label: 'key',
        of: 'key',
        heads: 'one',
        recipe: project('k', keysRead),
      },
      {
        tensor: `${at}.v`,
        symbol: sub(vec('v'), j),
        label: 'value',
        of: 'key',
        heads: 'one',
        recipe: project('v', keysRead),
      },
    ],
  };
  const scores: Step = {
    id: `${at}.scores`,
    part,
    title: 'Attention score: query · key, divided by √d',
    formulas: [
      row(
        s,
        op('='),
        over(row(sub(vec('q'), t), op('·'), sub(vec('k'), j)), root(sub(sym('d'), word('head')))),
      ),
    ],
    words: `How well query and key match: the sum of ${stack.layer.dHead} products. Dividing by √${stack.layer.dHead} keeps it from growing with their number.`,
    keys: { tensor: `${at}.scores`, label: 'attention score', recipe: score, kind: 'scores' },
  };
  const mask: Step = {
    id: `${at}.mask`,
    part,
    title: 'Causal mask',
    formulas: [row(s, op('='), op('−'), sym('∞'), word(' if '), j, op('>'), t)],
    words:
      'The causal (look-ahead) mask hides the tokens after this one, which are not written yet.',
    keys: { tensor: `${at}.scores`, label: 'causal mask', recipe: score, kind: 'mask' },
  };
  const softmax: Step = {
    id: `${at}.weights`,
    part,
    title: 'Softmax',
    formulas: [
      row(
        a,
        op('='),
        over(sup(sym('e'), s), total(sym('i'), sup(sym('e'), sub(sym('s'), row(t, sym('i')))))),
      ),
    ],
    words: `Softmax turns the scores into attention weights, which sum to one.${
      causal && !cross ? '' : ' No mask here: every token is visible.'
    }`,
    keys: {
      tensor: `${at}.weights`,
      label: 'attention weight',
      recipe: { made: 'share', of: `${at}.scores` },
      kind: 'weights',
    },
  };
  const mixture: Recipe = { made: 'mixture', weights: `${at}.weights`, values: `${at}.v` };
  const context: Step = {
    id: `${at}.context`,
    part,
    title: 'Weighted sum of the values',
    formulas: [row(sub(vec('c'), t), op('='), total(j, row(a, sub(vec('v'), j))))],
    words: 'Each value times its attention weight, added up: the output of this head.',
    vectors: [
      {
        tensor: `${at}.context`,
        symbol: sub(vec('c'), t),
        label: 'context',
        of: 'token',
        heads: 'one',
        recipe: mixture,
      },
    ],
  };
  const together: Step = {
    id: `${at}.output`,
    part,
    title: 'Multi-head attention: concatenate the heads, multiply by W_O',
    formulas: [
      row(
        sub(vec('o'), t),
        op('='),
        W('O'),
        op('['),
        sub(vec('c'), num(1)),
        op('…'),
        sub(vec('c'), num(stack.layer.nHeads)),
        op(']'),
        ...(stack.layer.attentionOutBias ? [op('+'), sub(vec('b'), sym('O'))] : []),
      ),
    ],
    words: `All ${stack.layer.nHeads} heads work in parallel. W_O combines their outputs into one vector of ${stack.dModel} numbers.`,
    vectors: [
      {
        tensor: `${at}.context`,
        symbol: sub(vec('c'), row(num(1), op('…'), num(stack.layer.nHeads))),
        label: 'all heads',
        of: 'token',
        heads: 'all',
        recipe: mixture,
      },
      {
        tensor: `${at}.output`,
        symbol: sub(vec('o'), t),
        label: 'attention output',
        of: 'token',
        recipe: {
          made: 'product',
          of: `${at}.context`,
          weight: `${at}.out_proj.weight`,
          bias: stack.layer.attentionOutBias ? `${at}.out_proj.bias` : undefined,
        },
      },
    ],
  };
  const plus: Step = {
    id: `${at}.residual`,
    part,
    title: 'Residual connection: add the input',
    formulas: [row(sub(x, t), op('←'), sub(x, t), op('+'), sub(vec('o'), t))],
    words: 'The attention output is added to the token’s vector and does not replace it.',
    vectors: [
      {
        tensor: `${at}.residual`,
        symbol: sub(x, t),
        label: 'sum',
        of: 'token',
        recipe: { made: 'sum', of: [stream, `${at}.output`] },
      },
    ],
  };
  const ruler = (of: string) =>
    norm(stack, part, normed, [of], pre ? 'every head' : 'the next part');
  return [
    ...(pre ? [ruler(stream)] : []),
    projections,
    scores,
    ...(causal && !cross ? [mask] : []),
    softmax,
    context,
    together,
    plus,
    ...(pre ? [] : [ruler(`${at}.residual`)]),
  ];
}

// --- feed-forward ---------------------------------------------------------------------------------

function feedForward(stack: Stack, layer: number): Step[] {
  const block = `${stack.name}.layers.${layer}`;
  const part = `Layer ${layer + 1}: feed-forward`;
  const pre = stack.layer.norm === 'pre';
  const normed = `${block}.final_layer_norm`;
  const stream = attended(stack, block);
  const act = activationNames[stack.layer.activation];
  const reads = sub(vec(pre ? 'n' : 'x'), t);
  const product = (of: string, name: string): Recipe => ({
    made: 'product',
    of,
    weight: `${block}.${name}.weight`,
    bias: `${block}.${name}.bias`,
  });
  const middle: Step = {
    id: `${block}.fc1`,
    part,
    title: `${stack.layer.dFf} hidden units`,
    formulas: [
      row(
        sub(vec('f'), t),
        op('='),
        apply(act, row(sub(sym('W'), num(1)), reads, op('+'), sub(vec('b'), num(1)))),
      ),
    ],
    words:
      stack.layer.activation === 'relu'
        ? 'The feed-forward network: each hidden unit responds to one pattern in the vector. ReLU sets negative numbers to 0.'
        : 'The feed-forward network: each hidden unit responds to one pattern in the vector. GELU brings numbers well below zero close to 0.',
    gist: 'awake',
    vectors: [
      {
        tensor: `${block}.fc1`,
        symbol: sub(vec('f'), t),
        label: 'hidden units',
        of: 'token',
        recipe: {
          ...product(pre ? normed : stream, 'fc1'),
          activation: stack.layer.activation,
        } as Recipe,
      },
    ],
  };
  const out: Step = {
    id: `${block}.fc2`,
    part,
    title: 'Feed-forward output: multiply by W₂',
    formulas: [
      row(
        sub(word('ffn'), t),
        op('='),
        sub(sym('W'), num(2)),
        sub(vec('f'), t),
        op('+'),
        sub(vec('b'), num(2)),
      ),
    ],
    words: 'Each active hidden unit adds its column of W₂, times its own value.',
    vectors: [
      {
        tensor: `${block}.fc2`,
        symbol: sub(word('ffn'), t),
        label: 'feed-forward output',
        of: 'token',
        recipe: product(`${block}.fc1`, 'fc2'),
      },
    ],
  };
  const sum = { made: 'sum', of: [stream, `${block}.fc2`] } as const;
  const plus: Step = {
    id: `${block}.output`,
    part,
    title: 'Residual connection: add the input',
    formulas: [row(sub(x, t), op('←'), sub(x, t), op('+'), sub(word('ffn'), t))],
    words: `The sum is the output of layer ${layer + 1}.`,
    vectors: [
      {
        tensor: `${block}.output`,
        symbol: sub(x, t),
        label: `after layer ${layer + 1}`,
        of: 'token',
        recipe: sum,
      },
    ],
  };
  if (pre) return [norm(stack, part, normed, [stream], 'every hidden unit'), middle, out, plus];
  // If a norm follows at once, the trace has no name for the sum.
  return [middle, out, norm(stack, part, normed, sum.of, 'the next layer')];
}

// --- out of the stack -----------------------------------------------------------------------------

function exit(stacks: Stacks, stack: Stack): Step[] {
  const { answer } = stacks;
  const output = `${stack.name}.output`;
  const part = 'Out of the model';
  const steps: Step[] = [];
  if (stack.finalNorm) {
    const stream = `${stack.name}.layers.${stack.count - 1}.output`;
    const last = norm(stack, part, `${stack.name}.layer_norm`, [stream], 'the next part');
    steps.push({ ...last, title: 'Final layer normalization' });
  }
  // If there are two stacks, only the second one answers.
  if (stacks.decoder && stack.name === 'encoder') return steps;
  if (answer.kind === 'classes') {
    const mean = answer.pooling === 'mean';
    steps.push(
      {
        id: 'pooled',
        part,
        title: mean ? 'Pooling: the mean of all tokens' : 'Pooling: the first token',
        formulas: [
          mean
            ? row(vec('p'), op('='), over(num(1), sym('n')), total(t, sub(vec('n'), t)))
            : row(vec('p'), op('='), sub(vec('n'), num(1))),
        ],
        words: mean
          ? 'From here on, one vector stands for the whole text.'
          : 'From here on, the first token’s vector stands for the whole text.',
        vectors: [
          {
            tensor: 'pooled',
            symbol: vec('p'),
            label: 'pooled vector',
            of: 'text',
            recipe: { made: mean ? 'mean' : 'first', of: output },
          },
        ],
      },
      {
        id: 'logits',
        part,
        title: 'Classifier: the verdict',
        formulas: [
          row(vec('z'), op('='), W('c'), vec('p'), op('+'), sub(vec('b'), sym('c'))),
          row(
            sub(sym('P'), sym('i')),
            op('='),
            over(sup(sym('e'), sub(sym('z'), sym('i'))), total(j, sup(sym('e'), sub(sym('z'), j)))),
          ),
        ],
        words: 'One logit per label; softmax turns the logits into probabilities.',
        answer: {
          tensor: 'logits',
          of: 'text',
          recipe: {
            made: 'product',
            of: 'pooled',
            weight: 'classifier.weight',
            bias: 'classifier.bias',
          },
        },
      },
    );
    return steps;
  }
  steps.push({
    id: 'logits',
    part,
    title: 'The next token',
    formulas: [
      row(
        sub(sym('z'), sym('i')),
        op('='),
        sub(vec('n'), t),
        op('·'),
        sub(vec('E'), sym('i')),
        ...(answer.bias ? [op('+'), sub(sym('b'), sym('i'))] : []),
      ),
      row(
        sub(sym('P'), sym('i')),
        op('='),
        over(sup(sym('e'), sub(sym('z'), sym('i'))), total(j, sup(sym('e'), sub(sym('z'), j)))),
      ),
    ],
    words: `The vector times the row of each of the ${stack.vocabSize.toLocaleString('en')} tokens gives its logit. The ten highest:`,
    answer: {
      tensor: 'logits',
      of: 'token',
      recipe: { made: 'product', of: output, weight: answer.weight, bias: answer.bias },
    },
  });
  return steps;
}
