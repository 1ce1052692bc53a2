/** The parts of an architecture that the steps of this view show. */
import type { Architecture, LayerArchitecture, StackArchitecture } from 'glassformer';

export type StackName = 'encoder' | 'decoder';
export type Activation = 'relu' | 'gelu' | 'gelu_tanh';

/** A stack in which all layers have the same architecture. */
export interface Stack extends Omit<StackArchitecture, 'layers'> {
  name: StackName;
  /** The number of layers. */
  count: number;
  layer: LayerArchitecture & { activation: Activation };
  positions: 'sinusoidal' | 'sinusoidal_halves' | 'learned';
  /** Whether it attends to the other stack's output. */
  cross: boolean;
  /** The name of its token embedding table. */
  embedding: string;
}

export interface Stacks {
  encoder?: Stack;
  decoder?: Stack;
  answer:
    | { kind: 'classes'; pooling: 'mean' | 'first' }
    /** One logit per token of the vocabulary: a matrix and, in some models, a bias. */
    | { kind: 'next'; weight: string; bias: string | undefined };
}

/** Thrown for an architecture with a part that no step shows. */
export class UnknownArchitecture extends Error {
  override name = 'UnknownArchitecture';
}

function expect(what: string, got: unknown, ...expected: unknown[]): void {
  if (expected.includes(got)) return;
  const values = expected.map((each) => JSON.stringify(each)).join(', ');
  throw new UnknownArchitecture(`${what}: expected ${values}, got ${JSON.stringify(got)}`);
}

/** Returns the stacks of an architecture. Throws UnknownArchitecture, which names the part. */
export function stacksOf({ encoder, decoder, head, embeddings }: Architecture): Stacks {
  const shared = embeddings === 'shared' || embeddings === 'stacks';
  const tableOf = (name: StackName) => (shared ? 'embed_tokens' : `${name}.embed_tokens`);
  const stackOf = (name: StackName, stack: StackArchitecture): Stack => {
    const { layers, ...fields } = stack;
    const [layer] = layers;
    for (const each of layers) checkLayer(name, each, layer!);
    const known = ['sinusoidal', 'sinusoidal_halves', 'learned'];
    expect(`${name}: positions`, stack.positions, ...known);
    expect(`${name}: tokenTypes`, stack.tokenTypes, 0);
    expect(`${name}: layerNormBias`, stack.layerNormBias, true);
    expect(`${name}: layerGroups`, stack.layerGroups, 0);
    expect(`${name}: dEmbedding`, stack.dEmbedding, 0);
    expect(`${name}: relativeBuckets`, stack.relativeBuckets, undefined);
    expect(`${name}: disentangledSpan`, stack.disentangledSpan, undefined);
    return {
      ...fields,
      name,
      count: layers.length,
      layer: layer as Stack['layer'],
      positions: stack.positions as Stack['positions'],
      cross: name === 'decoder' && encoder !== undefined,
      embedding: tableOf(name),
    };
  };
  const stacks = {
    ...(encoder && { encoder: stackOf('encoder', encoder) }),
    ...(decoder && { decoder: stackOf('decoder', decoder) }),
  };
  expect('head: kind', head.kind, 'sequence_classes', 'next_token');
  if (head.kind === 'sequence_classes') {
    expect('head: denseActivation', head.denseActivation, undefined);
    expect('head: bias', head.bias, true);
    return { ...stacks, answer: { kind: 'classes', pooling: head.pooling! } };
  }
  expect('head: scaleStates', head.scaleStates, false);
  expect('head: logitCap', head.logitCap, undefined);
  const tied = embeddings === 'shared' || embeddings === 'tied';
  const weight = `${tied ? tableOf('decoder') : 'lm_head'}.weight`;
  const bias = head.bias ? 'lm_head.bias' : undefined;
  return { ...stacks, answer: { kind: 'next', weight, bias } };
}

function checkLayer(name: StackName, layer: LayerArchitecture, first: LayerArchitecture): void {
  const part = (field: string) => `${name}: ${field}`;
  for (const [field, value] of Object.entries(layer)) {
    expect(part(field), value, first[field as keyof LayerArchitecture]);
  }
  expect(part('attention'), layer.attention, 'full', 'causal');
  expect(part('attentionWindow'), layer.attentionWindow, undefined);
  expect(part('rotaryBase'), layer.rotaryBase, undefined);
  expect(part('scoreDivisor'), layer.scoreDivisor, undefined);
  expect(part('divideByLayer'), layer.divideByLayer, false);
  expect(part('qkNorm'), layer.qkNorm, false);
  expect(part('scoreCap'), layer.scoreCap, undefined);
  expect(part('outputNorms'), layer.outputNorms, false);
  expect(part('parallel'), layer.parallel, false);
  expect(part('nKvHeads'), layer.nKvHeads, layer.nHeads);
  expect(part('attentionNorm'), layer.attentionNorm, true);
  expect(part('activation'), layer.activation, 'relu', 'gelu', 'gelu_tanh');
  expect(part('gated'), layer.gated, false);
  expect(part('feedForwardBias'), layer.feedForwardBias, true);
}
