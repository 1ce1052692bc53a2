/**
 * The way of one token through a model as steps: which tensors are seen at each, and how each number
 * of them is made of numbers seen before and of weights. Any model that `Stacks` can describe
 * has such a list; a view draws it without knowing which model it is.
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
} from './formula.ts';

/** How a number of a tensor is made. Names of tensors are the trace's; of weights, the folder's. */
export type Recipe =
  | { made: 'lookup'; weight: string; scale: number }
  | { made: 'sinusoid'; halves: boolean }
  | { made: 'position'; weight: string; first: number }
  | { made: 'sum'; of: readonly string[] }
  | {
      made: 'norm';
      /** Of these tensors' sum. */
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

/** A vector of a token, drawn as a strip. */
export interface Vector {
  tensor: string;
  symbol: Maths;
  label: string;
  /** Whose row it is: the chosen token's, that of the key it looks at, or one for the whole text. */
  of: 'token' | 'key' | 'text';
  /** Of a tensor that has heads: the chosen one's numbers, or all heads' side by side. */
  heads?: 'one' | 'all';
  recipe: Recipe;
}

/** Attention of the chosen token: a number for each key. */
export interface KeyRow {
  tensor: string;
  label: string;
  recipe: Recipe;
  kind: 'scores' | 'mask' | 'weights';
}

export interface Step {
  /** Unlike any other's of the model. */
  id: string;
  /** What groups of steps are called: a layer's attention, its feed-forward block. */
  part: string;
  title: string;
  /** As MathML, a line each. */
  formulas: readonly Maths[];
  words: string;
  vectors?: readonly Vector[];
  keys?: KeyRow;
  /** A step of numbers of which the largest count: logits, and what softmax makes of them. */
  answer?: { tensor: string; of: 'token' | 'text'; recipe: Recipe };
  /** What is said about numbers at a glance. */
  gist?: 'spread' | 'awake';
}

/** A tensor between text and answer, whichever step makes it. */
export type Recipes = ReadonlyMap<string, Recipe>;

const t = sym('t');
const j = sym('j');
const x = vec('x');
const W = (name: string) => sub(sym('W'), sym(name));

const activationNames = { relu: 'relu', gelu: 'gelu', gelu_tanh: 'gelu' };

/** The steps of one layer of a stack, with those that lead into the stack and out of it. */
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

/** How every number of those steps is made, by tensor. */
export function recipesOf(steps: readonly Step[]): Recipes {
  const recipes = new Map<string, Recipe>();
  for (const { vectors = [], keys, answer } of steps) {
    for (const { tensor, recipe } of vectors) recipes.set(tensor, recipe);
    if (keys && keys.kind !== 'mask') recipes.set(keys.tensor, keys.recipe);
    if (answer) recipes.set(answer.tensor, answer.recipe);
  }
  return recipes;
}

/** The tensors that those steps show and unfold: what a trace is asked for. */
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
      title: scaled ? 'A row of the table, times √d' : 'A row of the table',
      formulas: [
        row(
          sub(vec('e'), t),
          op('='),
          sub(sym('E'), word('piece')),
          ...(scaled ? [op('·'), root(sym('d'))] : []),
        ),
      ],
      words: `Each of the ${stack.vocabSize.toLocaleString('en')} pieces has a row of ${stack.dModel} numbers, which training sets${
        scaled ? `; √${stack.dModel} brings them to the size of the positions` : ''
      }.`,
      vectors: [
        {
          tensor: at('embed_tokens'),
          symbol: sub(vec('e'), t),
          label: 'piece',
          of: 'token',
          recipe: { made: 'lookup', weight: table, scale: scaled ? Math.sqrt(stack.dModel) : 1 },
        },
      ],
    },
    {
      id: 'position',
      part: 'Into the model',
      title: 'Plus its position',
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
          ? 'Without it the order of the pieces would be lost. Each place has a row that training sets.'
          : 'Without it the order of the pieces would be lost. Nothing here is learned: each pair of numbers is a hand of a clock, each clock slower than the one before.',
      vectors: [
        {
          tensor: at('embed_positions'),
          symbol: sub(vec('p'), t),
          label: 'position',
          of: 'token',
          recipe: positions,
        },
        {
          tensor: at('embeddings'),
          symbol: sub(x, t),
          label: 'what enters layer 1',
          of: 'token',
          recipe: stack.embeddingNorm ? normOf(stack, at('layernorm_embedding'), sum.of) : sum,
        },
      ],
    },
  ];
}

/** The vector as the layer before left it. */
function arrival(stack: Stack, layer: number): Step {
  const before = `${stack.name}.layers.${layer - 1}`;
  return {
    id: `${stack.name}.${layer}.input`,
    part: `Layer ${layer + 1}`,
    title: `From layer ${layer}`,
    formulas: [row(sub(x, t), op('←'), sub(x, t), op('+'), sub(word('ffn'), t))],
    words: `What layer ${layer} has left of this token: one vector that every layer reads and adds to.`,
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

/** What a layer's feed-forward block, or the norm before it, reads. */
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

/** A norm's step; what it reads is shown in the step before. */
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
    title: 'Norm',
    formulas: [normFormula('n', sub(x, t))],
    words: `Less its mean, divided by its deviation, so that ${where} sees vectors of one size. γ and β are learned.`,
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
      ? 'The query is this token’s question; a key is what a token of the source answers to, and a value is what it hands over. Keys and values are made of the encoder’s output.'
      : 'The query is this token’s question; a key is what a token answers to, and a value is what it hands over. Each head has weights of its own.',
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
    title: 'Query times key, divided by √d',
    formulas: [
      row(
        s,
        op('='),
        over(row(sub(vec('q'), t), op('·'), sub(vec('k'), j)), root(sub(sym('d'), word('head')))),
      ),
    ],
    words: `How well the question fits: ${stack.layer.dHead} products, added up. √${stack.layer.dHead} keeps the sums from growing with their length.`,
    keys: { tensor: `${at}.scores`, label: 'score', recipe: score, kind: 'scores' },
  };
  const mask: Step = {
    id: `${at}.mask`,
    part,
    title: 'Mask',
    formulas: [row(s, op('='), op('−'), sym('∞'), word(' where '), j, op('>'), t)],
    words:
      'The look-ahead mask: what comes after this token is hidden, since it is still to be written.',
    keys: { tensor: `${at}.scores`, label: 'score', recipe: score, kind: 'mask' },
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
    words: `Scores become shares that sum to one.${
      causal && !cross ? '' : ' No mask here: every token may be looked at.'
    }`,
    keys: {
      tensor: `${at}.weights`,
      label: 'weight',
      recipe: { made: 'share', of: `${at}.scores` },
      kind: 'weights',
    },
  };
  const mixture: Recipe = { made: 'mixture', weights: `${at}.weights`, values: `${at}.v` };
  const context: Step = {
    id: `${at}.context`,
    part,
    title: 'Times value',
    formulas: [row(sub(vec('c'), t), op('='), total(j, row(a, sub(vec('v'), j))))],
    words: 'The values, each in its share: what this head has read.',
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
    title: 'Heads side by side, then mixed',
    formulas: [
      row(
        sub(vec('o'), t),
        op('='),
        W('o'),
        op('['),
        sub(vec('c'), num(1)),
        op('…'),
        sub(vec('c'), num(stack.layer.nHeads)),
        op(']'),
        ...(stack.layer.attentionOutBias ? [op('+'), sub(vec('b'), sym('o'))] : []),
      ),
    ],
    words: `All ${stack.layer.nHeads} heads have read at once. One matrix mixes what they found into a vector of the token’s own width.`,
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
        label: 'attention adds',
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
    title: 'Plus what was there',
    formulas: [row(sub(x, t), op('←'), sub(x, t), op('+'), sub(vec('o'), t))],
    words: 'Nothing is replaced: what attention found is added to the token’s vector.',
    vectors: [
      {
        tensor: `${at}.residual`,
        symbol: sub(x, t),
        label: 'the sum',
        of: 'token',
        recipe: { made: 'sum', of: [stream, `${at}.output`] },
      },
    ],
  };
  const ruler = (of: string) =>
    norm(stack, part, normed, [of], pre ? 'each head' : 'the next part');
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
    title: `${stack.layer.dFf} detectors`,
    formulas: [
      row(
        sub(vec('f'), t),
        op('='),
        apply(act, row(sub(sym('W'), num(1)), reads, op('+'), sub(vec('b'), num(1)))),
      ),
    ],
    words:
      stack.layer.activation === 'relu'
        ? 'Each looks for one pattern in the vector; below zero it stays asleep, and is 0.'
        : 'Each looks for one pattern in the vector; well below zero it stays asleep, close to 0.',
    gist: 'awake',
    vectors: [
      {
        tensor: `${block}.fc1`,
        symbol: sub(vec('f'), t),
        label: 'detectors',
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
    title: 'What they add',
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
    words: 'Each detector that is awake adds its own column of the matrix.',
    vectors: [
      {
        tensor: `${block}.fc2`,
        symbol: sub(word('ffn'), t),
        label: 'feed-forward adds',
        of: 'token',
        recipe: product(`${block}.fc1`, 'fc2'),
      },
    ],
  };
  const sum = { made: 'sum', of: [stream, `${block}.fc2`] } as const;
  const plus: Step = {
    id: `${block}.output`,
    part,
    title: 'Plus what was there',
    formulas: [row(sub(x, t), op('←'), sub(x, t), op('+'), sub(word('ffn'), t))],
    words: `The token’s vector as layer ${layer + 1} leaves it.`,
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
  if (pre) return [norm(stack, part, normed, [stream], 'each detector'), middle, out, plus];
  // The sum has no name of its own where a norm follows it at once.
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
    const last = norm(stack, part, `${stack.name}.layer_norm`, [stream], 'what comes next');
    steps.push({ ...last, title: 'Last norm' });
  }
  // Of two stacks only the second one answers.
  if (stacks.decoder && stack.name === 'encoder') return steps;
  if (answer.kind === 'classes') {
    const mean = answer.pooling === 'mean';
    steps.push(
      {
        id: 'pooled',
        part,
        title: mean ? 'The mean of all tokens' : 'The first token',
        formulas: [
          mean
            ? row(vec('p'), op('='), over(num(1), sym('n')), total(t, sub(vec('n'), t)))
            : row(vec('p'), op('='), sub(vec('n'), num(1))),
        ],
        words: mean
          ? 'From here on there is one vector for the whole text.'
          : 'From here on the first token’s vector stands for the whole text.',
        vectors: [
          {
            tensor: 'pooled',
            symbol: vec('p'),
            label: 'the text',
            of: 'text',
            recipe: { made: mean ? 'mean' : 'first', of: output },
          },
        ],
      },
      {
        id: 'logits',
        part,
        title: 'The verdict',
        formulas: [
          row(vec('z'), op('='), W('c'), vec('p'), op('+'), sub(vec('b'), sym('c'))),
          row(
            sub(sym('P'), sym('i')),
            op('='),
            over(sup(sym('e'), sub(sym('z'), sym('i'))), total(j, sup(sym('e'), sub(sym('z'), j)))),
          ),
        ],
        words: 'A logit for each label; softmax makes probabilities of them.',
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
    title: 'The next piece',
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
    words: `The vector is held against the rows of all ${stack.vocabSize.toLocaleString('en')} pieces. The ten that fit best:`,
    answer: {
      tensor: 'logits',
      of: 'token',
      recipe: { made: 'product', of: output, weight: answer.weight, bias: answer.bias },
    },
  });
  return steps;
}
