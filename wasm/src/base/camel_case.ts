/** Returns a name in camel case: "d_model" becomes "dModel". */
export function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns a copy of plain data with the keys of all its objects in camel case. */
export function withCamelCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelCaseKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [camelCase(key), withCamelCaseKeys(each)]),
  );
}
