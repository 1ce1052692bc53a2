import type { Part } from '../../panels/transplant/transplant.ts';
import { fromZero, literal } from '../../ui/controls/code.ts';

/** Returns the JavaScript that computes what the transplant view shows. */
export function transplantCode(base: string, donor: string, { site, head }: Part): string {
  const part = `site: '${site}'${site === 'head' ? `, head: ${head}` : ''}`;
  return [
    `import { Classifier } from 'glassformer';`,
    ``,
    `const classifier = await Classifier.load('models/sentiment', { compute: 'f32', explain: true });`,
    ...fromZero(site === 'head'),
    `const { tokens, donorOf, base, donor, delta, share } = await classifier.explain(`,
    `  { text: ${literal(base)}, pair: ${literal(donor)} },`,
    `  { method: 'activation_patching', ${part}, label: 'positive' },`,
    `);`,
  ].join('\n');
}
