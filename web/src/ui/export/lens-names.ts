/** The names of TransformerLens's hooks (Nanda and Bloom 2022) for our tensors. */

const ofLayer: Readonly<Record<string, string>> = {
  input: 'hook_resid_pre',
  'self_attn.q': 'attn.hook_q',
  'self_attn.k': 'attn.hook_k',
  'self_attn.v': 'attn.hook_v',
  'self_attn.scores': 'attn.hook_attn_scores',
  'self_attn.weights': 'attn.hook_pattern',
  'self_attn.context': 'attn.hook_z',
  'self_attn.output': 'hook_attn_out',
  'self_attn.residual': 'hook_resid_mid',
  fc1: 'mlp.hook_post',
  fc2: 'hook_mlp_out',
  output: 'hook_resid_post',
};

const ofModel: Readonly<Record<string, string>> = {
  embed_tokens: 'hook_embed',
  embed_positions: 'hook_pos_embed',
};

/**
 * Returns the hook with the same numbers, or undefined. Norms have none: theirs are read before the
 * learned scale, ours after it. Nor have models with two stacks, or post-norm layers, the same ones.
 */
export function lensName(name: string): string | undefined {
  const [, stack, layer, part] = /^(encoder|decoder)\.(?:layers\.(\d+)\.)?(.+)$/.exec(name) ?? [];
  if (stack === undefined || part === undefined) return undefined;
  if (layer === undefined) return ofModel[part];
  const hook = ofLayer[part];
  return hook && `blocks.${layer}.${hook}`;
}
