export function cardFiles(names: readonly string[]): Map<string, string | Buffer>;
