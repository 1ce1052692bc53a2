/** Splits code into lines, each with its comment apart. */
export type Language = 'python' | 'c';

const comments: Record<Language, RegExp> = {
  python: /(?:^|\s)#.*$/,
  c: /(?:^|\s)\/\/.*$/,
};

export function lines(code: string, language: Language): { own: string; comment: string }[] {
  return code
    .replace(/\s+$/, '')
    .split('\n')
    .map((line) => {
      const [comment = ''] = comments[language].exec(line) ?? [];
      return { own: line.slice(0, line.length - comment.length), comment };
    });
}
