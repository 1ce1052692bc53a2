import type { Head } from 'glassformer';
import type { ModelName } from './models.ts';
import type { Sampling } from './sampling.ts';
import type { Part } from './transplant.ts';

/** The JavaScript that gives what the sentiment view shows. */
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
    `const classifier = await Classifier.load('models/sentiment');`,
    ...fromZero(options.length > 2),
    `const { label, score, tokens, attention } = await classifier.classify(`,
    `  ${literal(text)},`,
    `  { ${options.join(', ')} },`,
    `);`,
  ].join('\n');
}

/** The same of the transplant view. */
export function transplantCode(base: string, donor: string, { site, head }: Part): string {
  const part = `site: '${site}'${site === 'head' ? `, head: ${head}` : ''}`;
  return [
    `import { Classifier } from 'glassformer';`,
    ``,
    `const classifier = await Classifier.load('models/sentiment', { compute: 'f32', explain: true });`,
    ...fromZero(site === 'head'),
    `const { tokens, donorOf, base, donor, delta, share } = await classifier.explain(`,
    `  { text: ${literal(base)}, pair: ${literal(donor)} },`,
    `  { method: 'transplant', ${part}, label: 'positive' },`,
    `);`,
  ].join('\n');
}

/** The same of the translation view. */
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
    `const translator = await Translator.load('models/${name}');`,
    `const text = ${literal(text)};`,
    ...fromZero(ablate.length + maskTokens.length > 0),
    `for await (const step of translator.stream(text)) console.log(step.text);`,
    `const { sentences } = await translator.translate(text, { ${options.join(', ')} });`,
    `const [{ text: translation, attention, alignment, hypotheses, tree }] = sentences;`,
  ].join('\n');
}

/** The same of the writing view. */
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
    `const generator = await Generator.load('models/writer');`,
    `const text = ${literal(text)};`,
    ...fromZero(ablate.length > 0),
    `const options = { ${options.join(', ')} };`,
    `const { next, attention } = await generator.next(text, options);`,
    `for await (const step of generator.stream(text, options)) console.log(step.text);`,
  ].join('\n');
}

/** How a model that somebody chose is opened and asked. */
export function ownModelCode(call: string): string {
  return [
    `import { load } from 'glassformer';`,
    ``,
    `// Of an <input type="file" webkitdirectory>; a folder’s URL or a name on a hub will do as well.`,
    `const input = document.querySelector('input[type=file]');`,
    `const named = (file) => [file.webkitRelativePath.replace(/^[^/]*\\//, ''), file];`,
    `const model = await load(Object.fromEntries([...input.files].map(named)));`,
    `const options = { attention: true };`,
    `const result = await model.${call};`,
  ].join('\n');
}

/** Stands in code that names heads or tokens: the page counts them from 1. */
const fromZero = (is: boolean) => (is ? ['// Layers, heads and tokens count from 0.'] : []);

function ablateOption(heads: readonly Head<'encoder' | 'decoder' | 'cross'>[]): string {
  const list = heads.map(
    ({ attention, layer, head }) => `{ attention: '${attention}', layer: ${layer}, head: ${head} }`,
  );
  return `ablate: [${list.join(', ')}]`;
}

/** The whole text: what is shown must give what is shown. */
const literal = (text: string) => JSON.stringify(text);
