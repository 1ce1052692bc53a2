// What follows from the results of the core (see src/base/result_field.hpp): the classes of the Python
// package, the interfaces of the npm package, and the page of the documentation. Part of schema.mjs.
import { camel, commentOf, formatted, snake, spelling, wrapped } from './schema_text.mjs';

const notice = 'Written by tools/schema.mjs from the results in src/api. Do not edit.';

/** Results that have the fields of another one, too. */
const bases = { OutputToken: 'Token', Generation: 'Hypothesis', SentenceTranslation: 'Hypothesis' };

/** What every result may have in addition, by an option of its name. */
const seen = ['attention', 'trace', 'gradients'];

const nameOf = ({ $ref }) => $ref.split('/').at(-1);

/** The fields that a result has in addition to those of its base, without what every result may have. */
function ownFields({ results }, name) {
  const inherited = bases[name] ? results[bases[name]].properties : {};
  return Object.entries(results[name].properties).filter(
    ([field]) => !Object.hasOwn(inherited, field) && !seen.includes(field),
  );
}

const isSeen = ({ results }, name) => Object.hasOwn(results[name].properties, 'trace');

/** Texts count differently in the two languages; sentences of the core name both ways. */
const inPython = (text) =>
  text.replaceAll('UTF-16 code units; in Python, in characters', 'characters');
const inScript = (text) => text.replaceAll('; in Python, in characters', '');

/** Returns the sentences about a field, with the options in them as a language spells them. */
function sentencesOf({ description = '', with: option }, spell = (name) => name) {
  const code = (name) => `\`${spell(name)}\``;
  const asked = option && `With ${option.split(' or ').map(code).join(' or ')}.`;
  return [asked, spelling(description, spell)].filter(Boolean).join(' ');
}

// --- Python ----------------------------------------------------------------------------------------

function pythonType(property) {
  if (property.$ref) return nameOf(property);
  if (property.type === 'array') return `list[${pythonType(property.items)}]`;
  const types = { boolean: 'bool', integer: 'int', number: 'float', string: 'str' };
  return types[property.type] ?? 'Array';
}

export function pythonResults(schema) {
  const lines = [
    '"""The results of calls."""',
    `# ${notice}`,
    '',
    'from __future__ import annotations',
    '',
    'from dataclasses import dataclass',
    'from typing import Optional',
    '',
    'from ._readable import Array, Readable, Traced',
  ];
  for (const [name, { description }] of Object.entries(schema.results)) {
    const above = [...(isSeen(schema, name) ? ['Traced'] : []), bases[name] ?? []].flat();
    const only = bases[name] === 'Token' ? 'kw_only=True, ' : '';
    lines.push('', '', `@dataclass(${only}repr=False)`);
    lines.push(`class ${name}(${above.join(', ') || 'Readable'}):`, `    """${description}"""`, '');
    const fields = ownFields(schema, name).toSorted(
      ([, a], [, b]) => Number(a.optional ?? false) - Number(b.optional ?? false),
    );
    for (const [field, property] of fields) {
      const sentences = inPython(sentencesOf(property));
      if (sentences) lines.push(...wrapped(sentences, 91).map((line) => `    #: ${line}`));
      const type = pythonType(property);
      lines.push(`    ${snake(field)}: ${property.optional ? `Optional[${type}] = None` : type}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

// --- TypeScript ------------------------------------------------------------------------------------

function scriptType(property) {
  if (property.$ref) return nameOf(property);
  if (property.type === 'array') return `${scriptType(property.items)}[]`;
  if (property.maximum) {
    return Array.from({ length: property.maximum + 1 }, (_, number) => number).join(' | ');
  }
  const types = { integer: 'number', vector: 'Float32Array', table: 'Float32Array[]' };
  return types[property.type] ?? property.type;
}

/** Results whose type depends on the options have only their other fields here. */
export function scriptResults(schema, file) {
  const interfaces = Object.entries(schema.results).map(([name, { description }]) => {
    const depends = isSeen(schema, name) || name === 'Translation';
    const fields = ownFields(schema, name)
      .filter(
        ([field, { with: option }]) => (!option || option === 'keep') && field !== 'sentences',
      )
      .map(([field, property]) => {
        const sentences = inScript(sentencesOf(property, camel));
        const type = scriptType(property);
        return `${sentences ? commentOf(sentences) : ''}\n${field}${property.optional ? '?' : ''}: ${type};`;
      });
    const from = bases[name] ? ` extends ${bases[name]}` : '';
    return `${commentOf(description)}\nexport interface ${name}${depends ? 'Fields' : ''}${from} {\n${fields.join('\n')}\n}`;
  });
  return formatted(file, [`// ${notice}`, ...interfaces]);
}

// --- documentation ---------------------------------------------------------------------------------

const pageTypes = {
  vector: 'numbers',
  table: 'a row of numbers per label',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
};

const linked = (name) => `[${name}](#${name.toLowerCase()})`;

function pageType(property) {
  if (property.$ref) return linked(nameOf(property));
  if (property.type !== 'array') return pageTypes[property.type];
  const { items } = property;
  return items.$ref ? `a list of ${linked(nameOf(items))}` : `a list of ${pageTypes[items.type]}s`;
}

export function resultsPage(schema) {
  const parts = [
    `<!-- ${notice} -->`,
    '# Results',
    'Every field of every result. In JavaScript and JSON the names are in camel case ' +
      '(`promptTokens`), in Python and C++ in snake case (`prompt_tokens`). Places in texts count ' +
      'UTF-16 code units, in Python characters. Results of models that read or write tokens may ' +
      'also have `attention`, `trace` and `gradients`, with the [options](options.md) of these ' +
      'names: [traces and patches](traces.md) says what they hold.',
  ];
  for (const [name, { description, properties }] of Object.entries(schema.results)) {
    const rows = Object.entries(properties)
      .filter(([field]) => !seen.includes(field))
      .map(([field, property]) => {
        const sentences = sentencesOf(property);
        return `| \`${field}\` | ${pageType(property)} | ${sentences.replace(/[|*<]/g, '\\$&')} |`;
      });
    parts.push(`## ${name}`, description);
    parts.push(['| Field | Type | What it is |', '| --- | --- | --- |', ...rows].join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}
