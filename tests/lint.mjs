// `npm run lint` checks format and types; `npm run format` formats the files.
import { fileURLToPath } from 'node:url';
import { filesIn, run, runTool, setUp } from '../tools/build.mjs';

const fix = process.argv.includes('--fix');
const cpp = ['src', 'wasm', 'python', 'tests']
  .flatMap((folder) => filesIn(folder))
  .filter((file) => /\.[ch]pp$/.test(file));

// Files that have not changed since they were found to be formatted are not read again.
const cache = [
  ...['--cache', '--cache-strategy', 'content'],
  ...['--cache-location', 'build/stamps/prettier'],
];
const formatting = [
  [
    'clang-format',
    () => run('clang-format', [...(fix ? ['-i'] : ['--dry-run', '-Werror']), ...cpp]),
  ],
  [
    'prettier',
    () => runTool('prettier', [fix ? '--write' : '--check', '.', '--log-level', 'warn', ...cache]),
  ],
];

/** The checks of `npm run lint`: [name, function that fails]. `npm test` runs them, too. */
export const checks = [
  ...formatting,
  ['types of the package', () => runTool('tsc', ['-p', 'wasm', '--noEmit'])],
  ['types of the service worker', () => runTool('tsc', ['-p', 'web/service-worker'])],
  [
    'types of the page',
    () =>
      runTool('svelte-check', [
        ...['--tsconfig', 'web/tsconfig.json'],
        ...['--fail-on-warnings', '--output', 'human'],
      ]),
  ],
];

async function main() {
  try {
    await setUp('build', 'test');
  } catch {
    process.exit(1);
  }
  for (const [name, check] of fix ? formatting : checks) {
    try {
      await check();
      console.log(`${name}: ok`);
    } catch (error) {
      process.exitCode = 1;
      console.log(`${error.output ?? error.message}\n${name}: failed`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
