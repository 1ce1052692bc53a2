/**
 * The model as figure 1 of "Attention Is All You Need" (Vaswani et al., 2017) draws it: boxes in the
 * order in which a text passes through them.
 */
import type { Architecture, StackArchitecture } from 'glassformer';
import type { Figured, Kind, Part, StackName } from '../../ui/figured.ts';

export interface Box {
  part: Part;
  title: string;
  /** The shape of its output, such as "15 × 128". */
  shape?: string | undefined;
  /** The name of its output in a trace; "#" stands for the number of the layer, from 0. */
  tensor?: string;
  /** The step of the view Inside. */
  step?: string;
}

export interface Stack {
  name: StackName;
  before: readonly Box[];
  /** A layer's parts, grouped by the residual connection around them. */
  layer: readonly (readonly Box[])[];
  /** The number of layers; undefined if it is not known yet. */
  count: number | undefined;
  after: readonly Box[];
}

const sizes = (...all: readonly (number | undefined)[]) =>
  all.includes(undefined) ? undefined : all.join(' × ');

const mixers = {
  full: 'Multi-head attention',
  local: 'Local multi-head attention',
  linear: 'Linear attention',
  causal: 'Masked multi-head attention',
  recurrent: 'Recurrent unit',
};

/** Returns the stacks of a model, the encoder first. */
export function stacksOf(kind: Kind, { architecture, rows, answer }: Partial<Figured>): Stack[] {
  const names: StackName[] = architecture
    ? (['encoder', 'decoder'] as const).filter((name) => architecture[name])
    : kind === 'encoder-decoder'
      ? ['encoder', 'decoder']
      : [kind === 'decoder' ? 'decoder' : 'encoder'];
  return names.map((name): Stack => {
    const stack = architecture?.[name];
    const layer = stack?.layers[0];
    const n = rows?.[name];
    const d = stack?.dModel;
    const source = rows?.encoder;
    const both = names.length > 1;
    const decodes = name === 'decoder';
    const pictures = kind === 'pictures';
    const at = `${name}.layers.#`;
    const states = sizes(n, d);
    const norm = (tensor: string): Box => ({
      part: 'norm',
      title: 'Norm',
      shape: states,
      tensor,
      step: tensor,
    });
    /** A sublayer: the norm stands before it or, as in the paper, after the sum. */
    const around = (box: Box, before: string, sum: string): Box[] => {
      const add: Box = { part: 'add', title: 'Add', shape: states, tensor: sum, step: sum };
      if (layer?.norm !== 'post') return [norm(before), box, add];
      return [box, { ...add, tensor: before, step: before }, norm(before)];
    };
    const attention = (own: string, part: Part, title: string, keys: number | undefined) =>
      around(
        {
          part,
          title,
          shape: sizes(layer?.nHeads, n, keys),
          tensor: `${at}.${own}.weights`,
          step: `${at}.${own}.qkv`,
        },
        `${at}.${own}_layer_norm`,
        `${at}.${own}.residual`,
      );
    const feed: Box = {
      part: 'feed',
      title: 'Feed-forward',
      shape: sizes(n, layer?.dFf),
      tensor: `${at}.fc1`,
      step: `${at}.fc1`,
    };
    const positions = stack?.positions;
    return {
      name,
      count: stack?.layers.length,
      before: [
        {
          part: 'tokens',
          title: pictures ? 'Patches' : decodes && both ? 'Output so far' : 'Tokens',
          shape: n === undefined ? undefined : `${n}`,
        },
        {
          part: 'embedding',
          title: `${pictures ? 'Patch embedding' : 'Embedding'}${stack?.scaleEmbedding ? ' ×\u00a0√d' : ''}`,
          shape: states,
          tensor: `${name}.embed_${pictures ? 'patches' : 'tokens'}`,
          step: 'piece',
        },
        ...(positions === 'none' || positions === 'relative'
          ? []
          : [
              {
                part: 'positions' as const,
                title: 'Positional encoding',
                shape: states,
                tensor: `${name}.embed_positions`,
                step: 'position',
              },
            ]),
        ...(stack?.embeddingNorm ? [norm(`${name}.layernorm_embedding`)] : []),
      ],
      layer: [
        attention(
          'self_attn',
          'attention',
          mixers[layer?.attention ?? (decodes ? 'causal' : 'full')],
          n,
        ),
        ...(decodes && both ? [attention('encoder_attn', 'cross', 'Cross-attention', source)] : []),
        around(feed, `${at}.final_layer_norm`, `${at}.output`),
      ],
      after: [
        ...(stack?.finalNorm === false ? [] : [norm(`${name}.layer_norm`)]),
        ...(both && !decodes
          ? []
          : [
              {
                part: 'answer' as const,
                title: answerTitle(kind, architecture),
                shape: answer ?? sizes(architecture?.head.outputs),
                tensor: 'logits',
                step: 'logits',
              },
            ]),
      ],
    };
  });
}

function answerTitle(kind: Kind, architecture: Architecture | undefined): string {
  const head = architecture?.head;
  if (head?.kind === 'vectors') return 'Vector';
  if (kind.endsWith('decoder') || (head && !head.pooling)) return 'Linear, softmax';
  return `${head?.pooling === 'first' || kind === 'pictures' ? 'First token' : 'Mean'}, linear, softmax`;
}

/** A place in the figure: a stack, a box of it, and the layer that the box belongs to. */
export interface Station {
  stack: StackName;
  box: Box;
  layer: number | undefined;
}

/** Puts the number of a layer into a name. */
export const named = (name: string, layer: number | undefined): string =>
  name.replace('#', `${layer ?? 0}`);

/** Whether norms stand before the parts they belong to, unlike in the paper. */
export const isPreNorm = (stack: StackArchitecture | undefined): boolean =>
  stack?.layers[0]?.norm === 'pre';
