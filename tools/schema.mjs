// Writes what follows from the options, results and tasks of the core (see src/base/option.hpp,
// src/base/result_field.hpp and src/tasks/task_facts.hpp): the types, lists and tables of the package
// and of the Python package, and two pages of the documentation. Run it after one of them changed:
// `node tools/schema.mjs`. A test says when a file is stale.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './run.mjs';
import { pythonResults, resultsPage, scriptExplained, scriptResults } from './schema_results.mjs';
import { pythonTasks, taskClasses, taskTable } from './schema_tasks.mjs';
import { camel, commentOf, formatted, spelling, wrapped } from './schema_text.mjs';

const notice = 'Written by tools/schema.mjs from the options of the core. Do not edit.';
const explainNotice = 'Written by tools/schema.mjs from src/tasks/explain. Do not edit.';

const reading = ['EncoderOptions'];
const writing = ['TaskPromptOptions', 'SampleOptions'];

/** The structs of the core: their names in TypeScript, what they extend, and what has them. */
const structs = {
  EncoderOptions: { type: 'ReadOptions', of: 'every model that reads a text' },
  ClassifyOptions: { bases: reading, of: 'Classifier', command: 'classify' },
  TokenClassifyOptions: { bases: reading, of: 'TokenClassifier', command: 'ner' },
  AnswerOptions: { of: 'QuestionAnswerer', command: 'answer' },
  FillOptions: { bases: reading, of: 'MaskFiller', command: 'fill' },
  EmbedOptions: { bases: reading, of: 'Embedder', command: 'embed' },
  ImageOptions: {
    type: 'ClassifyImageOptions',
    bases: reading,
    of: 'ImageClassifier',
    command: 'image',
  },
  MatchOptions: { bases: reading, of: 'ZeroShotImageClassifier', command: 'image' },
  TaskPromptOptions: {},
  SampleOptions: {},
  GenerateOptions: { bases: writing, of: '`Generator.generate`', command: 'generate' },
  NextOptions: { bases: writing, of: '`Generator.next`', command: 'generate' },
  TranslateOptions: { of: 'Translator', command: 'translate' },
  AlignmentOptions: { of: 'the option `alignment`', plain: true },
  TrainingOptions: {
    of: 'Trainer',
    command: 'train',
    note:
      'JavaScript and Python give `epochs` to `train`, and Python `threads` to the class. `lessons`, ' +
      '`from` and `to` are for the command line only.',
  },
  ExplainOptions: {
    bases: [],
    of: '`explain`, each of some methods',
    command: 'explain',
    apart: true,
  },
};

// --- names and sentences ---------------------------------------------------------------------------

const python = (name) => (name === 'from' ? 'from_' : name);

/** Returns the sentences about a property: what it does, its range, and its default. */
function about(property, spell) {
  const { description = '', minimum, maximum, absent } = property;
  const sentences = [spelling(description, spell)];
  const isRange = maximum !== undefined && maximum < 1e9;
  if (isRange) sentences.push(`Between ${minimum} and ${maximum}.`);
  else if (minimum > 0) sentences.push(`At least ${minimum}.`);
  const usual = absent ? spelling(absent, spell) : shown(property.default);
  if (usual !== undefined) sentences.push(`Default: ${usual}.`);
  return sentences.join(' ');
}

function shown(value) {
  if (value === undefined || value === false) return undefined;
  return typeof value === 'string' ? `"${value}"` : JSON.stringify(value);
}

const entries = (schema, name) => Object.entries(schema.$defs[name].properties);

/** The options that a struct has in addition to those of its bases, without those that are apart. */
function ownEntries(schema, name) {
  const { bases = [] } = structs[name];
  const inherited = new Set(bases.flatMap((base) => Object.keys(schema.$defs[base].properties)));
  return entries(schema, name).filter(([each, { apart }]) => !apart && !inherited.has(each));
}

// --- TypeScript ------------------------------------------------------------------------------------

const references = {
  Head: "Head<'encoder' | 'decoder' | 'cross'>",
  Patch: 'Patch',
  AlignmentOptions: 'AlignmentOptions',
};

function scriptType({ type, enum: values, anyOf, items, $ref, maxItems }) {
  if ($ref) return references[$ref.split('/').at(-1)];
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf) return anyOf.map(scriptType).join(' | ');
  if (type === 'array' && maxItems === 2) return 'readonly [height: number, width: number]';
  if (type === 'array') {
    const item = scriptType(items);
    return `readonly ${item.includes(' | ') || item.startsWith('readonly') ? `(${item})` : item}[]`;
  }
  return type === 'integer' ? 'number' : type;
}

function scriptInterface(schema, name) {
  const { type = name, bases = [], plain } = structs[name];
  const all = entries(schema, name).filter(([, { apart }]) => !apart);
  const extended = bases.map((base) => structs[base].type ?? base);
  const fields = ownEntries(schema, name).map(
    ([option, property]) =>
      `${commentOf(about(property, camel))}\n${camel(option)}?: ${scriptType(property)} | undefined;`,
  );
  const takesSignal = all.some(([option]) => option === 'attention');
  if (takesSignal && !bases.includes('EncoderOptions')) {
    fields.push(
      '/** Aborts the call: within one token, or between two steps. */\nsignal?: AbortSignal | undefined;',
    );
  }
  const list = camel(type[0].toLowerCase() + type.slice(1));
  const names = [...all.map(([option]) => camel(option)), ...(takesSignal ? ['signal'] : [])];
  const values = plain ? '' : `export const ${list} = ${JSON.stringify(names)} as const;`;
  const from = extended.length > 0 ? ` extends ${extended.join(', ')}` : '';
  return `export interface ${type}${from} {\n${fields.join('\n')}\n}\n${values}`;
}

export function script(schema) {
  return formatted(scriptFile, [
    `// ${notice}`,
    "import type { Head, Patch } from '../model/call_options.js';",
    ...Object.keys(structs)
      .filter((name) => !structs[name].apart)
      .map((name) => scriptInterface(schema, name)),
  ]);
}

/**
 * The kinds of answers that are explained: their list of options, the interfaces of options and
 * results, and the classes.
 */
const explained = {
  text: {
    list: 'explainOptions',
    type: 'ExplainOptions',
    results: 'Explanations',
    of: 'Classifier',
  },
  picture: { list: 'explainPictureOptions', of: 'ImageClassifier, ZeroShotImageClassifier' },
  translation: {
    list: 'explainTranslationOptions',
    type: 'ExplainTranslationOptions',
    results: 'TranslationExplanations',
    of: 'Translator',
  },
  next_token: {
    list: 'explainGenerationOptions',
    type: 'ExplainGenerationOptions',
    results: 'GenerationExplanations',
    of: 'Generator',
  },
  states: {
    list: 'explainStatesOptions',
    type: 'ExplainStatesOptions',
    results: 'StatesExplanations',
    of: 'Embedder, MaskFiller, TokenClassifier, QuestionAnswerer',
  },
};

const namesOf = (methods, is) => methods.filter(is).map(({ name }) => name);
const union = (names) => names.map((name) => `'${name}'`).join(' | ');

/** Types that the schema does not tell, and options that must be there. */
const explainTypes = ({ explanations }) => ({
  of: union(namesOf(explanations, ({ scores }) => scores)),
  scores: 'Float32Array',
  edges: 'readonly AttentionEdge[]',
  more_pairs: 'readonly CircuitPair[]',
});
const required = ['edges', 'names', 'attention', 'query', 'key'];
/** The option whose type depends on the result. */
const progress = 'on_progress';

export function explainScript(schema) {
  const types = explainTypes(schema);
  const ofTexts = Object.keys(explained).filter((kind) => explained[kind].type);
  const used = new Set(
    schema.explanations.flatMap(({ of }) => ofTexts.flatMap((kind) => of[kind] ?? [])),
  );
  const fields = entries(schema, 'ExplainOptions')
    .filter(([option]) => used.has(option) && option !== progress)
    .map(([option, property]) => {
      const type = types[option] ?? scriptType(property);
      const field = required.includes(option)
        ? `${camel(option)}: ${type}`
        : `${camel(option)}?: ${type} | undefined`;
      return `${commentOf(about(property, camel))}\n${field};`;
    });
  const shown = ofTexts.filter((kind) =>
    schema.explanations.some(({ of }) => of[kind]?.includes(progress)),
  );
  const interfaces = ofTexts.map((kind) => {
    const methods = schema.explanations.filter(({ of }) => of[kind]);
    const lines = methods.map(({ name, description, gradients, of }) => {
      const needs = gradients
        ? " Needs a model that was loaded with `gradients: true` and `compute: 'f32'`."
        : '';
      const plain = of[kind].filter((option) => option !== progress);
      const options = plain.length > 0 ? `, ${union(plain.map(camel))}` : '';
      const shows = plain.length < of[kind].length;
      const table = shows ? ` & Progress<${explained[kind].results}['${name}']>` : '';
      return `${commentOf(description + needs)}\n${name}: Method<'${name}'${options}>${table};`;
    });
    return `/** The options of each method of \`explain\` of ${explained[kind].of}. */\nexport interface ${explained[kind].type} {\n${lines.join('\n')}\n}\n\nexport type ${explained[kind].type.replace('Options', 'Method')} = keyof ${explained[kind].type};`;
  });
  const lists = Object.entries(explained).map(([kind, { list, of }]) => {
    const options = new Set(schema.explanations.flatMap((method) => method.of[kind] ?? []));
    const names = JSON.stringify(['method', ...[...options].map(camel), 'signal']);
    return `/** The options of all methods of ${of}. */\nexport const ${list} = ${names} as const;`;
  });
  return formatted(explainScriptFile, [
    `// ${explainNotice}`,
    `import type { Patch } from '../model/call_options.js';\nimport type { AttentionEdge, CircuitPair, ${shown.map((kind) => explained[kind].results).join(', ')} } from './explain.js';`,
    `/** Every option of every method. */\nexport interface ExplainOption {\n${fields.join('\n')}\n}`,
    `type Method<Name, Option extends keyof ExplainOption = never> = Pick<ExplainOption, Option> & {
      method: Name;
      /** Aborts the call between two steps. */
      signal?: AbortSignal | undefined;
    };`,
    `interface Progress<Table> {
      ${commentOf(about(schema.$defs.ExplainOptions.properties[progress], camel))}
      onProgress?: ((table: Table & { done: number }) => void) | undefined;
    }`,
    ...interfaces,
    ...lists,
  ]);
}

// --- Python ----------------------------------------------------------------------------------------

function pythonType({ type, enum: values, anyOf, items, $ref, maxItems }) {
  if ($ref === '#/$defs/AttentionEdge') return 'Mapping[str, int]';
  if ($ref === '#/$defs/CircuitPair') return 'Mapping[str, str | int]';
  if ($ref) return $ref.split('/').at(-1);
  if (values) {
    const texts = values.filter((value) => typeof value === 'string');
    const literal = `Literal[${texts.map((value) => JSON.stringify(value)).join(', ')}]`;
    return texts.length < values.length ? `bool | ${literal}` : literal;
  }
  if (anyOf) return anyOf.map(pythonType).join(' | ');
  if (type === 'array' && maxItems === 2) return 'tuple[int, int]';
  if (type === 'array') return `Sequence[${pythonType(items)}]`;
  return { boolean: 'bool', integer: 'int', number: 'float', string: 'str' }[type];
}

function pythonClass(schema, name) {
  const { of, bases = [] } = structs[name];
  const above = bases.length > 0 ? bases.join(', ') : 'TypedDict';
  const lines = [`class ${name}(${above}, total=False):`];
  lines.push(`    """${of ? `Options of ${of}.` : 'Some of the options of Generator.'}`, '');
  for (const [option, property] of ownEntries(schema, name)) {
    lines.push(`    ${python(option)} : ${pythonType(property)}, optional`);
    lines.push(...wrapped(about(property, python), 90).map((line) => `        ${line}`));
  }
  lines.push('    """', '');
  for (const [option, property] of ownEntries(schema, name))
    lines.push(`    ${python(option)}: ${pythonType(property)} | None`);
  return lines;
}

export function pythonModule(schema) {
  const lines = [
    '"""The options of calls, for type checkers and for `help`."""',
    `# ${notice}`,
    '',
    'from __future__ import annotations',
    '',
    'from collections.abc import Mapping, Sequence',
    'from typing import Literal, TypedDict',
    '',
    'from ._options import Head, Patch',
    '',
    '#: The methods of `explain`.',
    `ExplainMethod = Literal[\n${schema.explanations.map(({ name }) => `    "${name}",\n`).join('')}]`,
  ];
  for (const name of Object.keys(structs)) lines.push('', '', ...pythonClass(schema, name));
  return `${lines.join('\n')}\n`;
}

// --- documentation ---------------------------------------------------------------------------------

function cell(text) {
  return text.replace(/[|*]/g, '\\$&');
}

export function page(schema) {
  const parts = [
    `<!-- ${notice} -->`,
    '# Options',
    'Every option of every call. In JavaScript the names are in camel case (`topP`), in Python and C++ ' +
      'in snake case (`top_p`), on the command line they are flags (`--top-p`). There, `true` and ' +
      '`false` are `--sample` and `--no-sample`; lists of texts are given one at a time, other lists ' +
      'with commas. `glassformer schema` prints the same as JSON Schema. Options that change ' +
      'how a model is loaded are [another matter](web.md#load-a-model).',
  ];
  for (const [name, { of, command, note }] of Object.entries(structs)) {
    if (!of) continue;
    parts.push(`## Options of ${of}`);
    if (command) parts.push(`\`${name}\`; \`glassformer ${command}\`.`);
    if (note) parts.push(note);
    const rows = entries(schema, name).map(
      ([option, property]) => `| \`${option}\` | ${cell(about(property, (each) => each))} |`,
    );
    parts.push(['| Option | What it does |', '| --- | --- |', ...rows].join('\n'));
  }
  const classes = Object.entries(explained).map(([kind, { of }]) => [kind, of]);
  /** The options that every method has for these answers. */
  const shared = Object.fromEntries(
    classes.map(([kind]) => {
      const lists = schema.explanations.flatMap(({ of }) => (of[kind] ? [of[kind]] : []));
      const all = lists[0].filter((option) => lists.every((list) => list.includes(option)));
      return [kind, lists.length > 1 ? all : []];
    }),
  );
  const listed = (options) => `\`${options.join('`, `')}\``;
  const methods = schema.explanations.map(({ name, description, of }) => {
    const used = classes
      .filter(([kind]) => of[kind])
      .map(([kind, each]) => {
        const own = of[kind].filter((option) => !shared[kind].includes(option));
        return own.length > 0 ? `${each}: ${listed(own)}` : each;
      });
    return `| \`${name}\` | ${cell(description)} | ${used.join('<br>')} |`;
  });
  parts.push(
    '## Methods of `explain`',
    'What each method computes, and which options it has, by class. All of ' +
      `ImageClassifier and ZeroShotImageClassifier have ${listed(shared.picture)}, too (the last two ` +
      'only ZeroShotImageClassifier), and all of Translator ' +
      `${listed(shared.translation)}. [Interpretability](interpretability.md) says more.`,
    ['| Method | What it computes | Options |', '| --- | --- | --- |', ...methods].join('\n'),
  );
  return `${parts.join('\n\n')}\n`;
}

// --- files -----------------------------------------------------------------------------------------

export const scriptFile = 'wasm/src/tasks/options.ts';
export const explainScriptFile = 'wasm/src/tasks/explain_options.ts';
export const pythonFile = 'python/glassformer/_call_options.py';
export const pageFile = 'web/docs/options.md';
const taskTableFile = 'wasm/src/engine/task_table.ts';
const taskClassesFile = 'wasm/src/tasks/classes.ts';
const taskPythonFile = 'python/glassformer/_task_table.py';
const resultScriptFile = 'wasm/src/model/result_types.ts';
const explainedScriptFile = 'wasm/src/tasks/explained_types.ts';
const resultPythonFile = 'python/glassformer/_result_types.py';
const resultPageFile = 'web/docs/results.md';

/** Returns the contents of the files, by name. `command` is the built command line. */
export async function written(command) {
  const schema = JSON.parse(execFileSync(command, ['schema'], { encoding: 'utf8' }));
  return {
    [scriptFile]: await script(schema),
    [explainScriptFile]: await explainScript(schema),
    [pythonFile]: pythonModule(schema),
    [pageFile]: page(schema),
    [taskTableFile]: await taskTable(schema, taskTableFile),
    [taskClassesFile]: await taskClasses(schema, taskClassesFile),
    [taskPythonFile]: pythonTasks(schema),
    [resultScriptFile]: await scriptResults(schema, resultScriptFile),
    [explainedScriptFile]: await scriptExplained(schema, explainedScriptFile),
    [resultPythonFile]: pythonResults(schema),
    [resultPageFile]: resultsPage(schema),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const command = process.argv[2] ?? join(root, 'build/test/glassformer');
  for (const [file, text] of Object.entries(await written(command)))
    writeFileSync(join(root, file), text);
}
