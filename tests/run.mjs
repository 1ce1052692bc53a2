// `npm test`: sets up what is missing, builds everything and runs every test. A step's output is
// shown only when it fails. The last line is `N passed, N failed`.
import { existsSync } from 'node:fs';
import {
  buildNative,
  buildPackage,
  buildWeb,
  cmake,
  filesIn,
  run,
  runTool,
  setUp,
} from '../wasm/toolchain/build.mjs';
import { buildModels } from '../wasm/toolchain/models.mjs';

let passed = 0;
let failed = 0;
const failedSteps = new Set();

// Runs one step unless a step that it needs has failed. `work` resolves to the output of a test
// program, from which the tests are counted, or to nothing: then the step itself is the test.
async function step(name, needs, work) {
  const missing = needs.find((other) => failedSteps.has(other));
  const start = performance.now();
  const report = (text) => console.log(`${name.padEnd(34)} ${text}`);
  const time = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  try {
    if (missing) throw new Error(`not run, because "${missing}" failed`);
    const counts = count((await work()) ?? '');
    if (counts.failed > 0) throw new Error('tests failed');
    passed += counts.passed;
    report(`${String(counts.passed).padStart(4)} passed  ${time()}`);
  } catch (error) {
    const counts = count(error.output ?? '');
    passed += counts.failed > 0 ? counts.passed : 0;
    failed += counts.failed > 0 ? counts.failed : 1;
    failedSteps.add(name);
    report(`FAILED  ${time()}`);
    console.log(`${withoutPasses(error.output ?? '')}\n${error.message}\n`);
  }
}

// Reads the totals that Node's test runner, Python's, or ctest and within it Catch2, print.
function count(output) {
  const number = (pattern) => Number(output.match(pattern)?.[1] ?? 0);
  const python = number(/^Ran (\d+) tests? in/m);
  if (python > 0) {
    const failed = number(/^FAILED \(.*\bfailures=(\d+)/m) + number(/^FAILED \(.*\berrors=(\d+)/m);
    return { passed: python - failed, failed };
  }
  if (/^# tests \d+/m.test(output)) {
    return { passed: number(/^# pass (\d+)/m), failed: number(/^# fail (\d+)/m) };
  }
  const ctest = output.match(/(\d+) tests failed out of (\d+)/);
  if (!ctest) return { passed: 1, failed: 0 };
  const entriesFailed = Number(ctest[1]);
  const entriesPassed = Number(ctest[2]) - entriesFailed;
  const cases = output.match(/test cases: +(\d+) \|(?: +(\d+) passed)?(?:[ |]+(\d+) failed)?/);
  if (cases) {
    // Some of Catch2's cases failed, which is one of ctest's entries.
    return {
      passed: entriesPassed + Number(cases[2] ?? 0),
      failed: entriesFailed - 1 + Number(cases[3]),
    };
  }
  const all = number(/All tests passed \(.* in (\d+) test cases?\)/);
  return { passed: entriesPassed + (all > 0 ? all - 1 : 0), failed: entriesFailed };
}

// What Node's test runner says of tests that passed helps nobody who looks for the one that failed.
function withoutPasses(output) {
  return output
    .replace(/^ok .*\n( {2}---\n[^]*?^ {2}\.\.\.\n)?/gm, '')
    .replace(/^# Subtest.*\n/gm, '');
}

function nodeTests(folder) {
  const files = existsSync(folder)
    ? filesIn(folder).filter((file) => /\.test\.m?js$/.test(file))
    : [];
  if (files.length === 0) throw new Error(`${folder} holds no tests`);
  return run(process.execPath, ['--test', '--test-reporter=tap', ...files]);
}

// A Python that has what training needs: Debian's own, or the first on PATH.
async function trainingPython() {
  for (const python of ['/usr/bin/python3', 'python3']) {
    try {
      await run(python, ['-c', 'import numpy, regex, sentencepiece, sklearn, torch']);
      return python;
    } catch {
      // This one is not there, or lacks something.
    }
  }
  return undefined;
}

console.log('Running every test. The first run downloads, builds and takes ten minutes or more;');
console.log('later ones take a minute or two.');
const start = performance.now();
try {
  await setUp('build', 'native', 'test');
} catch {
  console.log('\n0 passed, 1 failed');
  process.exit(1);
}

await step('build native', [], buildNative);
await step('build with sanitizers', [], () => cmake('sanitize'));
await step('build package', [], async () => {
  await buildPackage();
  await buildModels();
});
await step('build page', ['build package'], buildWeb);
// The longest, and mostly waiting for Chromium: it runs beside all the others.
const browser = step('browser tests', ['build page'], () => nodeTests('tests/browser'));
await step('native tests', ['build native'], () =>
  run('ctest', ['--preset', 'native', '-V', '-j2']),
);
await step('native tests, sanitized', ['build with sanitizers'], () =>
  run('ctest', ['--preset', 'sanitize', '-V', '-j2']),
);
await step('command line tests', ['build native'], () => nodeTests('tests/cli'));
await step('installed library', ['build native'], () => nodeTests('tests/install'));
await step('package tests', ['build package'], () => nodeTests('tests/package'));
await step('environments', ['build native', 'build package'], () =>
  nodeTests('tests/environments'),
);
await step('sources of the page', [], () => nodeTests('tests/page'));
await step('scores', [], () => nodeTests('tests/evaluate'));
await step('repository tests', ['build native', 'build package'], () =>
  nodeTests('tests/repository'),
);
const python = await trainingPython();
if (python) {
  await step('training tests', [], () =>
    run(python, ['-B', '-m', 'unittest', 'discover', '-s', 'weights/train', '-p', 'test_*.py']),
  );
} else {
  console.log(
    'training tests                     skipped: no Python with what weights/train imports',
  );
}
await step('format and types', ['build package'], () => run(process.execPath, ['tests/lint.mjs']));
await step('package layout', ['build package'], async () => {
  await runTool('publint', ['--strict']);
  await runTool('attw', ['--pack', '.', '--profile', 'esm-only']);
});
await step('sizes', ['build package', 'build page'], () => runTool('size-limit', []));
await browser;

console.log(`${((performance.now() - start) / 1000).toFixed(0)} s in all`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
