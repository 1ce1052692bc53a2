// What follows from the results of the core (see src/base/result_field.hpp): the classes of the Python
// package, the interfaces of the npm package, and the page of the documentation. Part of schema.mjs.
import { camel, commentOf, formatted, snake, spelling, wrapped } from './schema_text.mjs';

const notice = 'Written by tools/schema.mjs from the results in src/api. Do not edit.';

/** Results that have the fields of another one, too. */
const bases = {
  OutputToken: 'Token',
  Generation: 'Hypothesis',
  SentenceTranslation: 'Hypothesis',
  NextLogitAttribution: 'LogitAttribution',
  NextActivationPatching: 'ActivationPatching',
};

/** What every result may have in addition, by an option of its name. */
const seen = ['attention', 'trace', 'gradients'];

const nameOf = ({ $ref }) => $ref.split('/').at(-1);

/** The fields that a result has in addition to those of its base, without what every result may have. */
function ownFields({ results, explained }, name) {
  const all = { ...results, ...explained };
  const inherited = bases[name] ? all[bases[name]].properties : {};
  return Object.entries(all[name].properties).filter(
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
  if (property.type === 'array') {
    const { items } = property;
    return items.nullable ? `(${scriptType(items)} | null)[]` : `${scriptType(items)}[]`;
  }
  if (property.maximum) {
    return Array.from({ length: property.maximum + 1 }, (_, number) => number).join(' | ');
  }
  const types = {
    integer: 'number',
    vector: 'Float32Array',
    table: 'Float32Array[]',
    tensor: 'TracedTensor',
  };
  return types[property.type] ?? property.type;
}

function scriptFields(fields) {
  const lines = fields.map(([field, property]) => {
    const sentences = inScript(sentencesOf(property, camel));
    const type = scriptType(property);
    const line = `${field}${property.optional ? '?' : ''}: ${type};`;
    return sentences ? `${commentOf(sentences)}\n${line}` : line;
  });
  return `{\n${lines.join('\n')}\n}`;
}

const extended = (name) => (bases[name] ? ` extends ${bases[name]}` : '');

/** Results whose type depends on the options have only their other fields here. */
export function scriptResults(schema, file) {
  const interfaces = Object.entries(schema.results).map(([name, { description }]) => {
    const depends = isSeen(schema, name) || name === 'Translation';
    const fields = ownFields(schema, name).filter(
      ([field, { with: option }]) => (!option || option === 'keep') && field !== 'sentences',
    );
    return `${commentOf(description)}\nexport interface ${name}${depends ? 'Fields' : ''}${extended(name)} ${scriptFields(fields)}`;
  });
  return formatted(file, [`// ${notice}`, ...interfaces]);
}

/** The parts of explanations. */
export function scriptExplained(schema, file) {
  const interfaces = Object.entries(schema.explained).map(
    ([name, { description }]) =>
      `${commentOf(description)}\nexport interface ${name}${extended(name)} ${scriptFields(ownFields(schema, name))}`,
  );
  return formatted(file, [
    `// ${notice.replace('src/api', 'src/tasks/explain')}`,
    "import type { LabelScore, Token, TracedTensor } from '../model/results.js';",
    ...interfaces,
  ]);
}

// --- documentation ---------------------------------------------------------------------------------

const pageTypes = {
  vector: 'numbers',
  table: 'a row of numbers per label',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  tensor: 'a tensor',
};

const linked = (name) => `[${name}](#${name.toLowerCase()})`;

function pageType(property) {
  if (property.$ref) return linked(nameOf(property));
  if (property.type !== 'array') return pageTypes[property.type];
  let { items } = property;
  let lists = 'a list of';
  for (; items.type === 'array'; items = items.items) lists += ' lists of';
  const several = items.$ref ? linked(nameOf(items)) : `${pageTypes[items.type].slice(2)}s`;
  return `${lists} ${several}${items.nullable ? ', or null' : ''}`;
}

function sectionsOf(results) {
  return Object.entries(results).flatMap(([name, { description, properties }]) => {
    const rows = Object.entries(properties)
      .filter(([field]) => !seen.includes(field))
      .map(([field, property]) => {
        const sentences = sentencesOf(property);
        return `| \`${field}\` | ${pageType(property)} | ${sentences.replace(/[|*<]/g, '\\$&')} |`;
      });
    const table = ['| Field | Type | What it is |', '| --- | --- | --- |', ...rows].join('\n');
    return [`## ${name}`, description, table];
  });
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
  parts.push(...sectionsOf(schema.results));
  parts.push(
    '## Explanations',
    'What `explain` returns: `method`, the `label` of a classifier, `tokens` and `clipped` of a text ' +
      'or `grid` and `region` of a picture, and the fields of one of the following, by the method ' +
      'and by what the model does: T tokens, L layers, H heads, C labels. Of a translation there are ' +
      '`sentences`, each an [ExplainedSentence](#explainedsentence), or one sentence with the ' +
      '`position` of the explained token in it. The explained number of a classifier is computed ' +
      "from logits: with two labels the log-odds, with more the label's logit minus the mean of " +
      'all, with one its logit. In Python an explanation is a dictionary.',
    ...sectionsOf(schema.explained),
  );
  return `${parts.join('\n\n')}\n`;
}
