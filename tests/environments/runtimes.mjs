// Outside browsers: runtimes on servers and at the edge, and what runs tests.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { judge, main, outcomeIn, outcomeOf } from './judge.mjs';

const program = (name, project, command, { files, env, tests, ...rest } = {}) => ({
  name,
  project,
  async run(app) {
    app.write({ 'main.js': main, 'judge.js': judge({ model: "'weights/sentiment'" }), ...files });
    app.addModel('weights/sentiment');
    const [file, ...args] = typeof command === 'function' ? command(app) : command;
    const output = await app.run(file, args, env);
    // A program prints nothing else, such as a warning.
    const lines = tests ? [] : output.split('\n').filter((line) => line && !outcomeIn(line));
    return { outcome: outcomeOf(output), complaints: lines };
  },
  ...rest,
});

// Without its install script, which only finds it, Bun lies in a package for each platform.
function bun(app) {
  const scope = join(app.folder, 'node_modules/@oven');
  return [join(scope, readdirSync(scope)[0], 'bin/bun'), 'main.js'];
}

const test = (from = '') => `${from}import { judge, report } from './judge.js';
test('judges', async () => report(await judge()));
`;
const jest = (environment) =>
  program(`Jest, ${environment}`, 'jest', ['jest'], {
    tests: true,
    files: {
      'judge.test.js': test(),
      'jest.config.js': `export default { testEnvironment: '${environment}', transform: {} };\n`,
    },
    env: { NODE_OPTIONS: '--experimental-vm-modules' },
  });

const workerd = {
  name: 'Cloudflare workerd',
  project: 'wrangler',
  node: 24,
  async run(app) {
    app.addModel('weights/sentiment');
    const host = await app.serve();
    app.write({
      'judge.js': judge({ model: `'${host}weights/sentiment'` }),
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
  ...[20, 24].map((node) => program(`Node ${node}`, 'plain', ['node', 'main.js'], { node })),
  program('Bun', 'bun', bun),
  program('Deno', 'deno', ['deno', 'run', '--allow-read', 'main.js']),
  workerd,
  program('Vitest', 'vitest', ['vitest', 'run'], {
    tests: true,
    files: { 'judge.test.js': test("import { test } from 'vitest';\n") },
    node: 24,
  }),
  jest('node'),
  jest('jsdom'),
];
