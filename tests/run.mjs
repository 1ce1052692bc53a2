// `npm test`: installs what is missing, builds everything and runs every test. The output of a step
// is shown only if it fails. The last line is `N passed, N failed`.
//
//   npm test                          everything
//   npm test -- --only GROUP          one of native, package, browser, repository
//   npm test -- --only FILE           one test file, and the steps that it needs
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import {
  buildPackage,
  buildTests,
  buildWeb,
  filesIn,
  root,
  run,
  runTool,
  setUp,
} from '../tools/build.mjs';
import { buildModels } from '../tools/models.mjs';
import { installAddon, sharedTests } from './native_addon/installed.mjs';
import { installPythonPackage } from './python/installed.mjs';

// --- the output of Node's and Python's test runners, and of ctest with Catch2 -----------------------

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
  // If an entry of ctest is a Catch2 program, its cases count instead.
  let passed = ctest ? Number(ctest[2]) - Number(ctest[1]) : 0;
  let failed = ctest ? Number(ctest[1]) : 0;
  let cases = 0;
  const catch2 =
    /All tests passed \(.* in (\d+) test cases?\)|test cases: +\d+ \|(?: +(\d+) passed)?(?:[ |]+(\d+) failed)?/g;
  for (const [, all, some = 0, wrong = 0] of output.matchAll(catch2)) {
    cases += 1;
    if (all) passed += Number(all) - (ctest ? 1 : 0);
    else passed += Number(some);
    failed += Number(wrong) - (ctest && wrong ? 1 : 0);
  }
  return ctest || cases > 0 ? { passed, failed } : { passed: 1, failed: 0 };
}

// Removes passed tests from the output of Node's test runner, so that the failed ones are easy to
// find.
function withoutPasses(output) {
  return output
    .replace(/^ok .*\n( {2}---\n[^]*?^ {2}\.\.\.\n)?/gm, '')
    .replace(/^# Subtest.*\n/gm, '');
}

// Returns the failed tests in the output of Node's test runner: their names and their files.
function failuresIn(output) {
  const failure = /^not ok \d+ - (.*)\n {2}---\n(?: {2}.*\n)*? {2}location: '(.*):\d+:\d+'/gm;
  return [...output.matchAll(failure)].map(([, name, file]) => ({ name, file }));
}

/** If tests fail in more files than this, nothing runs a second time. */
const maxFilesAgain = 3;

// --- the steps -----------------------------------------------------------------------------------

const cores = availableParallelism();
const testFiles = (folder) => filesIn(folder).filter((file) => /\.test\.m?js$/.test(file));
const isOfBrowser = (file) => file.endsWith('.browser.test.mjs');
/** Returns the tests of the page: those of the whole page, and those next to the tested code. */
const pageTests = () => [...testFiles('tests/page'), ...testFiles('web/src')];

// A file with a failed test runs once more, alone: what then passes is told apart by name, so that a
// test that depends on the time stays visible without ending a long run.
async function nodeTests(files, { concurrency = 1, env } = {}) {
  if (files.length === 0) throw new Error('no tests were found');
  const start = (some, among) => {
    const options = ['--test', '--test-reporter=tap', `--test-concurrency=${among}`];
    return run(process.execPath, [...options, ...some], { env });
  };
  try {
    return await start(files, concurrency);
  } catch (error) {
    const failures = failuresIn(error.output ?? '');
    const again = [...new Set(failures.map(({ file }) => file))];
    if (again.length === 0 || again.length > maxFilesAgain) throw error;
    await start(again, 1).catch((second) => {
      second.output = `${error.output}\n# The second time:\n${second.output ?? ''}`;
      throw second;
    });
    const { passed: first, failed: mended } = count(error.output);
    const names = failures.map(({ name }) => `# passed only the second time: ${name}\n`).join('');
    return `${names}# tests ${first + mended}\n# pass ${first + mended}\n# fail 0\n`;
  }
}

// The page is served once and Chromium is started once; each test opens its own window.
async function browserTests(files) {
  const { chromium } = await import('playwright-core');
  const { executablePath, flags } = await import('./page/chromium.mjs');
  const { serve } = await import('./page/open.mjs');
  const page = await serve();
  const server = await chromium.launchServer({ executablePath, args: flags });
  try {
    const env = { GLASSFORMER_PAGE: page.url, GLASSFORMER_CHROMIUM: server.wsEndpoint() };
    return await nodeTests(files, { concurrency: cores, env });
  } finally {
    await server.close();
    await page.close();
  }
}

// Finds a Python with the packages of weights/train: Debian's, or the first on PATH.
async function trainingPython() {
  for (const python of ['/usr/bin/python3', 'python3']) {
    try {
      await run(python, ['-c', 'import numpy, regex, sentencepiece, sklearn, torch']);
      return python;
    } catch {
      // This Python does not exist or lacks a package.
    }
  }
  return undefined;
}

async function trainingTests() {
  const python = await trainingPython();
  if (!python) return { skipped: 'no Python has the packages of weights/train' };
  return run(python, [
    '-B',
    '-m',
    'unittest',
    'discover',
    '-s',
    'weights/train',
    '-p',
    'test_*.py',
  ]);
}

async function pythonTests(files) {
  const installed = await installPythonPackage();
  if (!installed) return { skipped: 'Python, its headers, pip, NumPy or nanobind is missing' };
  const { python, env } = installed;
  const output = await run(python, ['-B', '-m', 'unittest', ...files], { env });
  // What nanobind writes at the end.
  if (/nanobind: leaked/.test(output)) throw Object.assign(new Error('objects leaked'), { output });
  return output;
}

// The steps by name: their group, the steps that must succeed before, the work, and their test
// files. `work` resolves to the output of a test program, from which tests are counted, or
// to nothing: then the step counts as one test. Steps start in this order, as soon as they can.
const steps = {
  'build package': {
    group: 'build',
    work: async () => {
      await buildPackage();
      await buildModels();
    },
  },
  'build for tests': { group: 'build', work: buildTests },
  'build page': { group: 'build', needs: ['build package'], work: buildWeb },
  'browser tests': {
    group: 'browser',
    needs: ['build page'],
    files: () => pageTests().filter(isOfBrowser),
    work: browserTests,
  },
  'native tests': {
    group: 'native',
    needs: ['build for tests'],
    work: () => run('ctest', ['--preset', 'test', '-V', `-j${cores}`]),
  },
  'package tests': {
    group: 'package',
    needs: ['build package', 'build for tests'],
    files: () => testFiles('tests/package'),
    work: nodeTests,
  },
  'add-on for Node': {
    group: 'package',
    needs: ['build package', 'build for tests'],
    files: () => [...testFiles('tests/native_addon'), ...sharedTests],
    work: async (files) => nodeTests(files, { env: await installAddon() }),
  },
  'Python package': {
    group: 'package',
    needs: ['build for tests'],
    files: () => filesIn('tests/python').filter((file) => /\/test_\w+\.py$/.test(file)),
    work: pythonTests,
  },
  'command line tests': {
    group: 'native',
    needs: ['build for tests'],
    files: () => testFiles('tests/cli'),
    work: nodeTests,
  },
  'installed library': {
    group: 'native',
    needs: ['build for tests'],
    files: () => testFiles('tests/install'),
    work: nodeTests,
  },
  environments: {
    group: 'package',
    needs: ['build package', 'build for tests'],
    files: () => testFiles('tests/environments'),
    work: nodeTests,
  },
  'repository tests': {
    group: 'repository',
    needs: ['build package', 'build for tests'],
    files: () => testFiles('tests/repository'),
    work: nodeTests,
  },
  'sources of the page': {
    group: 'browser',
    needs: ['build page'],
    files: () => pageTests().filter((file) => !isOfBrowser(file)),
    work: nodeTests,
  },
  scores: { group: 'repository', files: () => testFiles('tests/evaluate'), work: nodeTests },
  'training tests': { group: 'repository', work: trainingTests },
  'format and types': {
    group: 'repository',
    needs: ['build package'],
    work: () => run(process.execPath, ['tests/lint.mjs']),
  },
  'package layout': {
    group: 'package',
    needs: ['build package'],
    work: async () => {
      await runTool('publint', ['--strict']);
      await runTool('attw', ['--pack', '.', '--profile', 'esm-only']);
    },
  },
  sizes: {
    group: 'package',
    needs: ['build package', 'build page'],
    work: async () => {
      await runTool('size-limit', []);
      await runTool('size-limit', ['--config', 'tests/page/sizes.mjs']);
    },
  },
};

/** Returns the steps that `--only` selects, and the steps that they need. */
function chosenSteps(only) {
  if (!only) return steps;
  const groups = [...new Set(Object.values(steps).map(({ group }) => group))];
  const chosen = {};
  const add = (name, step = steps[name]) => {
    for (const other of step.needs ?? []) add(other);
    chosen[name] ??= step;
  };
  for (const [name, step] of Object.entries(steps)) if (step.group === only) add(name);
  if (Object.keys(chosen).length > 0) return chosen;

  const file = relative(root, resolve(only));
  const owner = Object.entries(steps).find(([, { files }]) => files?.().includes(file));
  if (!existsSync(join(root, file)) || (!file.startsWith('tests/native/') && !owner)) {
    console.error(`--only: expected ${groups.join(', ')} or a test file, got ${only}`);
    process.exit(2);
  }
  if (owner) {
    const [name, step] = owner;
    add(name, { ...step, work: () => step.work([file]) });
  } else {
    // Catch2 tags each case with the name of its file.
    const tag = `[#${basename(file).replace(/\.cpp$/, '')}]`;
    add('native tests', {
      ...steps['native tests'],
      work: () => run('build/test/glassformer_tests', ['--filenames-as-tags', tag]),
    });
  }
  return chosen;
}

// --- the run -------------------------------------------------------------------------------------

let passed = 0;
let failed = 0;
const times = [];

async function runStep(name, { needs = [], files, work }, failedSteps) {
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const report = (text) => console.log(`${name.padEnd(22)} ${text}  ${seconds().toFixed(1)} s`);
  try {
    const missing = needs.find((other) => failedSteps.has(other));
    if (missing) throw new Error(`not run, because "${missing}" failed`);
    const output = (await work(files?.())) ?? '';
    if (output.skipped) {
      report(`skipped: ${output.skipped}`);
      return;
    }
    const counts = count(output);
    if (counts.failed > 0) throw Object.assign(new Error('tests failed'), { output });
    passed += counts.passed;
    report(`${String(counts.passed).padStart(4)} passed`);
    for (const [, line] of output.matchAll(/^# (passed only the second time: .*)$/gm))
      console.log(`  ${line}`);
  } catch (error) {
    const counts = count(error.output ?? '');
    passed += counts.failed > 0 ? counts.passed : 0;
    failed += counts.failed > 0 ? counts.failed : 1;
    failedSteps.add(name);
    report('FAILED');
    console.log(`${withoutPasses(error.output ?? '')}\n${error.message}\n`);
  } finally {
    times.push([name, seconds()]);
  }
}

// Two at a time: most steps use a little more than one core.
async function runAll(chosen) {
  const waiting = new Map(Object.entries(chosen));
  const done = new Set();
  const failedSteps = new Set();
  const running = new Set();
  while (waiting.size > 0 || running.size > 0) {
    for (const [name, step] of waiting) {
      if (running.size >= Math.max(2, cores / 2)) break;
      if (!(step.needs ?? []).every((other) => done.has(other))) continue;
      waiting.delete(name);
      const work = runStep(name, step, failedSteps).finally(() => {
        done.add(name);
        running.delete(work);
      });
      running.add(work);
    }
    await Promise.race(running);
  }
}

const [option, only, ...rest] = process.argv.slice(2);
if ((option && (option !== '--only' || !only)) || rest.length > 0) {
  console.error('usage: npm test [-- --only native|package|browser|repository|FILE]');
  process.exit(2);
}
const chosen = chosenSteps(only);
const start = performance.now();
console.log('Installs, builds and runs the tests: about 45 minutes the first time, on two cores.');
try {
  await setUp('build', 'native', 'test');
} catch {
  console.log('\n0 passed, 1 failed');
  process.exit(1);
}
times.push(['set-up', (performance.now() - start) / 1000]);
await runAll(chosen);

console.log('\nDuration of each step (two steps run at a time):');
for (const [name, seconds] of times.sort((a, b) => b[1] - a[1]))
  console.log(`  ${name.padEnd(22)} ${seconds.toFixed(0).padStart(5)} s`);
console.log(
  `  ${'all'.padEnd(22)} ${((performance.now() - start) / 1000).toFixed(0).padStart(5)} s`,
);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
