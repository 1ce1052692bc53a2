// `npm run test:full`: tests with models of the size that people use, random weights, 500 MB on disk
// at a time. Takes a few minutes, which is why `npm test` leaves it out.
import { spawnSync } from 'node:child_process';
import { buildPackage, filesIn, root, setUp } from '../../wasm/toolchain/build.mjs';

await setUp('build');
await buildPackage();
const tests = filesIn('tests/full').filter((file) => file.endsWith('.test.mjs'));
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...tests], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
