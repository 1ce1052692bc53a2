import type { Head } from 'glassformer';
import { ablateOption, fromZero, literal } from '../../ui/controls/code.ts';

/** Returns the JavaScript that computes what the sentiment view shows. */
export function classifyCode(
  text: string,
  ablate: readonly Head[],
  maskTokens: readonly number[],
): string {
  const options = ['attention: true', 'contributions: true'];
  if (ablate.length > 0) options.push(ablateOption(ablate));
  if (maskTokens.length > 0) options.push(`maskTokens: [${maskTokens.join(', ')}]`);
  return [
    `import { Classifier } from 'glassformer';`,
    ``,
    `const classifier = await Classifier.load('models/sentiment', { compute: 'f32' });`,
    ...fromZero(options.length > 2),
    `const { label, score, tokens, attention } = await classifier.classify(`,
    `  ${literal(text)},`,
    `  { ${options.join(', ')} },`,
    `);`,
  ].join('\n');
}
