import type { Head } from 'glassformer';
import type { Sampling } from '../../panels/words/sampling.ts';
import { ablateOption, fromZero, literal } from '../../ui/controls/code.ts';

/** Returns the JavaScript that computes what the writing view shows. */
export function writeCode(
  text: string,
  { temperature, topK, topP }: Sampling,
  ablate: readonly Head<'decoder'>[],
): string {
  const drawing = [`temperature: ${temperature}`, `topK: ${topK}`, `topP: ${topP}`].join(', ');
  const options = [temperature > 0 ? drawing : 'sample: false', 'attention: true'];
  if (ablate.length > 0) options.push(ablateOption(ablate));
  return [
    `import { Generator } from 'glassformer';`,
    ``,
    `const generator = await Generator.load('models/writer', { compute: 'f32' });`,
    `const text = ${literal(text)};`,
    ...fromZero(ablate.length > 0),
    `const options = { ${options.join(', ')} };`,
    `const { next, attention } = await generator.next(text, options);`,
    `for await (const step of generator.stream(text, options)) console.log(step.text);`,
  ].join('\n');
}
