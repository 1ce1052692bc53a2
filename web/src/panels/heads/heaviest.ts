/** Smaller effects are negligible. */
export const slight = 0.05;

/** Returns the head with the largest effect, and the number of heads with a negligible one. */
export function heaviestOf(effects: Float32Array, heads: number) {
  const values = [...effects];
  const known = values.filter((value) => !Number.isNaN(value));
  const most = Math.max(...known.map(Math.abs));
  const at = values.findIndex((value) => Math.abs(value) === most);
  if (at < 0) return undefined;
  return {
    name: `Layer ${Math.floor(at / heads) + 1}, head ${(at % heads) + 1}`,
    value: values[at]!,
    slight: known.filter((value) => Math.abs(value) < slight).length,
    known: known.length,
  };
}
