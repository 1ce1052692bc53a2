// `npm run test:full`: tests that `npm test` leaves out, because they take another quarter of an
// hour:
// - the native tests in a user's build: optimized by the system's compiler, with all its warnings,
//   each file by itself;
// - the native tests in a build for 64-bit ARM, in an emulator, if arm64.cmake finds what it needs;
// - models of common sizes with random weights, 500 MB on disk at a time.
import { spawnSync } from 'node:child_process';
import { buildPackage, cmake, filesIn, root, run, setUp } from '../../tools/build.mjs';

await setUp('build', 'native', 'test');
await cmake('native');
await run('ctest', ['--preset', 'native'], { inherit: true });
if (process.arch === 'x64') {
  const installed = spawnSync('sh', ['-c', 'command -v aarch64-linux-gnu-g++ qemu-aarch64']);
  if (installed.status === 0) {
    await cmake('arm64', 'glassformer_tests');
    await run('ctest', ['--preset', 'arm64'], { inherit: true });
  } else {
    console.log('64-bit ARM is not tested: see tests/full/arm64.cmake for what to install');
  }
}
await buildPackage();
const tests = filesIn('tests/full').filter((file) => file.endsWith('.test.mjs'));
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...tests], {
  cwd: root,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
