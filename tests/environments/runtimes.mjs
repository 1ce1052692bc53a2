// Environments outside browsers: runtimes on servers and at the edge, and test runners.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { judge, main, outcomeIn, outcomeOf, packaged } from './judge.mjs';

const program = (name, project, command, { files, env, options, tests, ...rest } = {}) => ({
  name,
  project,
  async run(app) {
    const models = ["'weights/sentiment'", 'files'];
    const judged = judge({ ...packaged, models, options });
    app.write({ 'main.js': main, 'judge.js': judged, ...files });
    app.addModel('weights/sentiment');
    const [file, ...args] = typeof command === 'function' ? command(app) : command;
    const output = await app.run(file, args, env);
    // A program prints nothing else, not even a warning.
    const lines = tests ? [] : output.split('\n').filter((line) => line && !outcomeIn(line));
    return { outcome: outcomeOf(output), complaints: lines };
  },
  ...rest,
});

// In the thread that loads the model, and in a thread of its own.
const threaded = (name, project, command, rest) => [
  program(name, project, command, rest),
  program(`${name}, thread`, project, command, {
    ...rest,
    options: '{ worker: true }',
    how: 'worker: true',
  }),
];

// Bun is in a package per platform. Its install script, which does not run here, only locates it.
function bun(app) {
  const scope = join(app.folder, 'node_modules/@oven');
  return [join(scope, readdirSync(scope)[0], 'bin/bun'), 'main.js'];
}

const test = (from = '') => `${from}import { judge, report } from './judge.js';
test('judges', async () => report(await judge()));
`;
// jsdom lacks features that the package needs. Importing the package works there; test files that
// use a model choose Node's environment.
const jest = program('Jest', 'jest', ['jest'], {
  tests: true,
  files: {
    'judge.test.js': test('/** @jest-environment node */\n'),
    'import.test.js': `import { Classifier } from 'glassformer';
test('cannot load in jsdom', () =>
  expect(Classifier.load('weights/sentiment')).rejects.toThrow("testEnvironment: 'node'"));
`,
    'jest.config.js': "export default { testEnvironment: 'jsdom', transform: {} };\n",
  },
  env: { NODE_OPTIONS: '--experimental-vm-modules' },
  how: "testEnvironment: 'node', or a file's own @jest-environment node",
});

const workerd = {
  name: 'Cloudflare workerd',
  project: 'wrangler',
  how: "import module from 'glassformer/glassformer.wasm'; load(…, { module })",
  node: 24,
  async run(app) {
    app.addModel('weights/sentiment');
    const host = await app.serve();
    app.write({
      'judge.js': judge({
        imports: "import module from 'glassformer/glassformer.wasm';",
        models: [`'${host}weights/sentiment'`],
        options: '{ module }',
      }),
      'worker.js': `import { judge } from './judge.js';
export default { fetch: async () => Response.json(await judge()) };
`,
      'wrangler.json': { name: 'test', main: 'worker.js', compatibility_date: '2026-07-01' },
    });
    const url = await app.start('wrangler', ['dev', '--ip', '127.0.0.1', '--port', 'PORT']);
    return { outcome: await (await fetch(url)).json() };
  },
};

export default [
  ...[20, 24].flatMap((node) => threaded(`Node ${node}`, 'plain', ['node', 'main.js'], { node })),
  ...threaded('Bun', 'bun', bun),
  ...threaded('Deno', 'deno', ['deno', 'run', '--allow-read', 'main.js']),
  workerd,
  program('Vitest', 'vitest', ['vitest', 'run'], {
    tests: true,
    files: { 'judge.test.js': test("import { test } from 'vitest';\n") },
    node: 24,
  }),
  jest,
];
