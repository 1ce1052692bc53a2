/** Smaller effects are negligible. */
export const slight = 0.05;

const knownOf = (effects: Float32Array) => [...effects].filter((value) => !Number.isNaN(value));

/** Returns the place of the largest effect, of either sign; −1 if none is known. */
export function heaviestAt(effects: Float32Array): number {
  const most = Math.max(...knownOf(effects).map(Math.abs));
  return effects.findIndex((value) => Math.abs(value) === most);
}

/** Returns the head with the largest effect, and the number of heads with a negligible one. */
export function heaviestOf(effects: Float32Array, heads: number) {
  const known = knownOf(effects);
  const at = heaviestAt(effects);
  if (at < 0) return undefined;
  return {
    name: `Layer ${Math.floor(at / heads) + 1}, head ${(at % heads) + 1}`,
    value: effects[at]!,
    slight: known.filter((value) => Math.abs(value) < slight).length,
    known: known.length,
  };
}
