/** Returns light from 0 to 1 for weights: the root makes small ones visible, as in other maps. */
export function lightOf(weights: Float32Array | undefined): number[] | undefined {
  if (!weights) return undefined;
  const most = weights.reduce((a, b) => Math.max(a, b), 0);
  return Array.from(weights, (each) => (most > 0 ? Math.sqrt(Math.max(0, each) / most) : 0));
}
