import type { InsideModel } from './reading/models.ts';
import type { Reading } from './reading/reading.ts';

/** Returns the JavaScript that computes the numbers shown in the inside view. */
export function insideCode({
  model,
  text,
  reading,
}: {
  model: InsideModel;
  text: string;
  reading: Reading | undefined;
}): string {
  const stack = reading?.spot.stack ?? 'encoder';
  const layer = `${stack}.layers.${reading?.layer ?? 0}`;
  const trace = [`${stack}.*`, `${layer}.*`, `${layer}.self_attn.*`]
    .map((name) => `'${name}'`)
    .join(', ');
  const [name, call, result] =
    model === 'sentiment'
      ? ['Classifier', 'classify', '{ tokens, trace }']
      : model === 'writer'
        ? ['Generator', 'next', '{ promptTokens, trace }']
        : ['Translator', 'translate', '{ sentences: [{ tokens, trace }] }'];
  return [
    `import { ${name} } from 'glassformer';`,
    ``,
    `const model = await ${name}.load('models/${model}', { compute: 'f32' });`,
    `// Layers count from 0.`,
    `const ${result} = await model.${call}(`,
    `  ${JSON.stringify(text)},`,
    `  { trace: [${trace}] },`,
    `);`,
    `for (const [name, { shape }] of Object.entries(trace)) console.log(name, shape);`,
  ].join('\n');
}
