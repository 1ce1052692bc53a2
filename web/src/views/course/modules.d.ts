/** The types of a lesson's files, as the build resolves them. */
declare module 'source:*' {
  import type { SourceLines } from '../../../build/cpp-definition.ts';
  const lines: SourceLines;
  export default lines;
}

declare module '*/javascript.js' {
  export const run: (model: never, text: string) => Promise<readonly string[]>;
}
