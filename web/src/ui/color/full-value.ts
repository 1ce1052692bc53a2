/** Returns the value that gets the full color: the largest, or `least`, so that noise looks faint. */
export function fullValue(values: ArrayLike<number> | undefined, least: number): number {
  let most = least;
  for (const value of Array.from(values ?? [])) if (Math.abs(value) > most) most = Math.abs(value);
  return most;
}
