// `npm run test:full`: what `npm test` leaves out, as it takes another quarter of an hour:
// - the native tests as people build them: by the system's compiler, optimized, with all its
//   warnings, each file by itself;
// - models of the size that people use, random weights, 500 MB on disk at a time.
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
