// `npm run lint` checks format and types; `npm run format` formats the files.
import { filesIn, run, runTool, setUp } from '../tools/build.mjs';

const fix = process.argv.includes('--fix');
const cpp = ['src', 'wasm', 'python', 'tests']
  .flatMap((folder) => filesIn(folder))
  .filter((file) => /\.[ch]pp$/.test(file));

const checks = [
  [
    'clang-format',
    () => run('clang-format', [...(fix ? ['-i'] : ['--dry-run', '-Werror']), ...cpp]),
  ],
  [
    'prettier',
    () => runTool('prettier', [fix ? '--write' : '--check', '.', '--log-level', 'warn']),
  ],
];
if (!fix) {
  checks.push(
    ['types of the package', () => runTool('tsc', ['-p', 'wasm', '--noEmit'])],
    ['types of the service worker', () => runTool('tsc', ['-p', 'web/service-worker'])],
    [
      'types of the page',
      () =>
        runTool('svelte-check', [
          '--tsconfig',
          'web/tsconfig.json',
          '--fail-on-warnings',
          '--output',
          'human',
        ]),
    ],
  );
}

let failed = false;
try {
  await setUp('build', 'test');
} catch {
  process.exit(1);
}
for (const [name, check] of checks) {
  try {
    await check();
    console.log(`${name}: ok`);
  } catch (error) {
    failed = true;
    console.log(`${error.output ?? error.message}\n${name}: failed`);
  }
}
process.exitCode = failed ? 1 : 0;
