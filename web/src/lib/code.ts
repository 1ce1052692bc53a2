import type { Head } from 'glassformer';

/** The JavaScript that gives what the page shows. */
export function codeFor(
  text: string,
  ablate: readonly Head[],
  maskTokens: readonly number[],
): string {
  const options = ['attention: true', 'contributions: true'];
  if (ablate.length > 0) {
    const heads = ablate.map(
      ({ layer, head }) => `{ attention: 'encoder', layer: ${layer}, head: ${head} }`,
    );
    options.push(`ablate: [${heads.join(', ')}]`);
  }
  if (maskTokens.length > 0) options.push(`maskTokens: [${maskTokens.join(', ')}]`);
  const shown = text.length > 200 ? `${text.slice(0, 200).trimEnd()}…` : text;
  return [
    `import { Classifier } from 'glassformer';`,
    ``,
    `const classifier = await Classifier.load('models/sentiment');`,
    `const { label, score, tokens, attention } = await classifier.classify(`,
    `  ${JSON.stringify(shown)},`,
    `  { ${options.join(', ')} },`,
    `);`,
  ].join('\n');
}
