/** Finds the definition of a function in C++ code, by its name and its balanced braces. */

/** The definition of a function, with the comment above it. Lines count from 1. */
export interface SourceLines {
  path: string;
  name: string;
  first: number;
  last: number;
  text: string;
}

/** Replaces comments and literals with spaces, so that braces in them do not count. */
const blanked = (code: string): string =>
  code.replace(/\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/g, (part, at: number) =>
    // An apostrophe between digits separates thousands.
    part.startsWith("'") && /\d/.test(code[at - 1] ?? '') ? part : part.replace(/[^\n]/g, ' '),
  );

/** Returns the index after the bracket that closes the one at `open`, or undefined. */
function closed(code: string, open: number): number | undefined {
  const [left, right] = code[open] === '(' ? ['(', ')'] : ['{', '}'];
  let depth = 0;
  for (let i = open; i < code.length; i++) {
    if (code[i] === left) depth += 1;
    else if (code[i] === right && --depth === 0) return i + 1;
  }
  return undefined;
}

/** Returns where the declaration that contains `at` begins: after a statement or a directive. */
function beginning(code: string, at: number): number {
  const before = code.slice(0, at);
  const statement = Math.max(...[';', '{', '}'].map((end) => before.lastIndexOf(end))) + 1;
  const directives = [...before.matchAll(/^#.*\n|^ *(?:public|private|protected):/gm)].at(-1);
  const start = Math.max(statement, directives ? directives.index + directives[0].length : 0);
  return start + /^\s*/.exec(code.slice(start))![0].length;
}

/** Returns the definition of the function `name`, which may have the name of its class before it. */
export function definitionOf(code: string, path: string, name: string): SourceLines {
  const bare = blanked(code);
  const found: [start: number, end: number][] = [];
  const escaped = name.replace(/[()]/g, '\\$&');
  for (const { index } of bare.matchAll(new RegExp(`(?<![\\w:])${escaped}\\s*\\(`, 'g'))) {
    const after = closed(bare, bare.indexOf('(', index + name.length));
    if (after === undefined) continue;
    const [head] = /^\s*(?:const|noexcept|override|\s)*(?=\{)/.exec(bare.slice(after)) ?? [];
    if (head === undefined) continue;
    const end = closed(bare, after + head.length);
    if (end !== undefined) found.push([beginning(bare, index), end]);
  }
  if (found.length !== 1) {
    throw new Error(`${path}: expected one definition of ${name}, found ${found.length}`);
  }
  const [start, end] = found[0]!;
  const lines = code.split('\n');
  let first = code.slice(0, start).split('\n').length;
  const last = code.slice(0, end).split('\n').length;
  while (/^\s*\/\//.test(lines[first - 2] ?? '')) first -= 1;
  const own = lines.slice(first - 1, last);
  const indent = Math.min(
    ...own.filter((line) => line.trim()).map((line) => /^ */.exec(line)![0].length),
  );
  const text = own.map((line) => line.slice(indent)).join('\n');
  return { path, name, first, last, text };
}
