// What follows from the tasks of the core (see src/tasks/task_facts.hpp): the tables of the npm package
// and of the Python package. Part of schema.mjs.
import { formatted, snake } from './schema_text.mjs';

const notice = 'Written by tools/schema.mjs from src/tasks/task_facts.cpp. Do not edit.';

const unique = (values) => [...new Set(values)];

/** The facts that the engine's callers look up by the name of a task. */
export function taskTable({ tasks }, file) {
  const rows = tasks.map(({ name, class: of, load, opens, reads, stepwise }) => {
    const facts = { class: of, ...(opens && { opens }), ...(reads && { reads }), load };
    return `'${name}': ${JSON.stringify({ ...facts, ...(stepwise && { stepwise }) })},`;
  });
  return formatted(file, [
    `// ${notice}`,
    `export const taskTable = {\n${rows.join('\n')}\n} as const;`,
  ]);
}

/** The classes, which the package exports, and the class of each task. */
export function taskClasses({ tasks }, file) {
  const classes = unique(tasks.map((task) => task.class)).toSorted();
  const types = tasks.map((task) => `'${task.name}': ${task.class};`);
  return formatted(file, [
    `// ${notice}`,
    classes.map((name) => `import type { ${name} } from './${snake(name)}.js';`).join('\n'),
    classes.map((name) => `export { ${name} } from './${snake(name)}.js';`).join('\n'),
    `/** The class of each task's models. */\nexport interface ModelOfTask {\n${types.join('\n')}\n}`,
  ]);
}

export function pythonTasks({ tasks }) {
  const lines = unique(tasks.map((task) => task.class)).map((name) => {
    const of = tasks.filter((task) => task.class === name);
    const opened = of.map((task) => `"${task.opens ?? task.name}"`);
    return `    "${name}": [${opened.join(', ')}],`;
  });
  return [
    '"""The tasks of the folders that each class opens."""',
    `# ${notice}`,
    '',
    `TASKS = {\n${lines.join('\n')}\n}`,
    '',
  ].join('\n');
}
