// `npm run test:full`: tests that `npm test` leaves out, because they take another quarter of an
// hour:
// - the native tests in a user's build: optimized by the system's compiler, with all its warnings,
//   each file by itself;
// - models of common sizes with random weights, 500 MB on disk at a time.
import { spawnSync } from 'node:child_process';
import { buildPackage, cmake, filesIn, root, run, setUp } from '../../wasm/toolchain/build.mjs';

await setUp('build', 'native', 'test');
await cmake('native');
await run('ctest', ['--preset', 'native'], { inherit: true });
await buildPackage();
const tests = filesIn('tests/full').filter((file) => file.endsWith('.test.mjs'));
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...tests], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
