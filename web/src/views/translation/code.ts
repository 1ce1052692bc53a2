import type { Head } from 'glassformer';
import type { ModelName } from '../../models/models.ts';
import { ablateOption, fromZero, literal } from '../../ui/controls/code.ts';

/** Returns the JavaScript that computes what the translation view shows. */
export function translateCode(
  name: ModelName,
  text: string,
  beams: number,
  touches: {
    ablate: readonly Head<'encoder' | 'decoder' | 'cross'>[];
    maskTokens: readonly (readonly number[])[];
    prefixes: readonly (readonly number[])[];
  },
): string {
  const { ablate, maskTokens, prefixes } = touches;
  const options = [`beams: ${beams}`, 'attention: true', 'hypotheses: true'];
  if (ablate.length > 0) options.push(ablateOption(ablate));
  if (maskTokens.length > 0) options.push(`maskTokens: ${JSON.stringify(maskTokens)}`);
  if (prefixes.length > 0) options.push(`prefixes: ${JSON.stringify(prefixes)}`);
  return [
    `import { Translator } from 'glassformer';`,
    ``,
    `const translator = await Translator.load('models/${name}', { compute: 'f32' });`,
    `const text = ${literal(text)};`,
    ...fromZero(ablate.length + maskTokens.length > 0),
    `for await (const step of translator.stream(text)) console.log(step.text);`,
    `const { sentences } = await translator.translate(text, { ${options.join(', ')} });`,
    `const [{ text: translation, attention, alignment, hypotheses, tree }] = sentences;`,
  ].join('\n');
}
