import type { Part } from '../../ui/figured.ts';

/** Returns the part that a step of the view Inside belongs to. */
export function partOf(step: string | undefined): Part | undefined {
  const [, part] =
    /(piece|position|_norm|encoder_attn|self_attn|fc|pooled|logits)[^_]*$/.exec(step ?? '') ?? [];
  if (/(residual|\.output)$/.test(step ?? '')) return 'add';
  return part === undefined ? undefined : parts[part];
}

const parts: Readonly<Record<string, Part>> = {
  piece: 'embedding',
  position: 'positions',
  _norm: 'norm',
  encoder_attn: 'cross',
  self_attn: 'attention',
  fc: 'feed',
  pooled: 'answer',
  logits: 'answer',
};
