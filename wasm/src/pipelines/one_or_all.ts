/** Does `work` on one input or on several. Returns one result or several. */
export async function oneOrAll<Input, Result>(
  given: Input | Input[],
  work: (all: Input[]) => Promise<Result[]>,
): Promise<Result | Result[]> {
  if (Array.isArray(given)) return work(given);
  return (await work([given]))[0]!;
}
