/**
 * Returns a function that returns numbers from 0 to 1, the same for a seed on any machine: a linear
 * congruential generator with the constants of Numerical Recipes.
 */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
