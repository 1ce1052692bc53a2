// The steps of `npm test` and `npm run test:full`, and the test files of each. Every test file
// belongs to exactly one step; tests/repository/tiers.test.mjs checks that.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildPackage,
  buildTests,
  buildWeb,
  cmake,
  filesIn,
  root,
  run,
  runTool,
} from '../../tools/build.mjs';
import { companions } from '../../tools/companions.mjs';
import { packageFolder } from '../../tools/packages.mjs';
import { buildModels } from '../../tools/models.mjs';
import { checks as lintChecks } from '../lint.mjs';
import { installAddon, sharedTests } from '../native_addon/installed.mjs';
import { installPythonPackage } from '../python/installed.mjs';
import {
  browserTests,
  catch2Tests,
  checks,
  ctest,
  nodeTests,
  pythonTests,
  skip,
} from './programs.mjs';

// --- files -----------------------------------------------------------------------------------------

const testsIn = (...folders) =>
  folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesIn(folder))
    .filter((file) => /\.test\.m?js$/.test(file));
const pythonTestsIn = (folder) =>
  filesIn(folder).filter((file) => /(^|\/)test_\w+\.py$/.test(file));

/** The visits of `npm test`: each view once, along its main way. */
const isMainWay = (file) => file.endsWith('/main_way.browser.test.mjs');
const isOfBrowser = (file) => file.endsWith('.browser.test.mjs');
/** Measures time, and so gets the whole machine. */
const measuresTime = (file) => file.endsWith('/long_tasks.browser.test.mjs');
const ofPage = () => testsIn('tests/page', 'web/src');
const usesPackage = (file) => /\bdist\/\w+\.js\b/.test(readFileSync(join(root, file), 'utf8'));

/** Tests of tests/repository that take long, or that need the binaries of a release. */
const slowDocumentation = /\/(corpora|docs|snippets)\.test\.mjs$/;
const ofBinaries = /\/order\.test\.mjs$/;
/** Those that need a build. The others check sources only. */
const ofBuilds = /\/(isa_objects|readme|schema)\.test\.mjs$/;
const inRepository = (is) => testsIn('tests/repository').filter(is);

/**
 * Not repeated with a release: they compare many numbers of the engine, which a release has to the bit
 * of a quick build, or test JavaScript that is the same in both.
 */
const sameInRelease = /\/(numbers\/(?!golden|parity)|loading\/|text\/)/;
/** Checks that: needs both builds of the package's binaries. */
const comparesBuilds = (file) => file.endsWith('/same_answers.test.mjs');
/** Tests that train: with sanitizers they take minutes. */
const isOfTraining = (file) => /\/(recipes|train\w*)\.test\.mjs$|test_trainer\.py$/.test(file);
/** Native tests that take long with sanitizers. */
const isLong = (file) => /\/(tasks\/limits|spm_encode)_test\.cpp$/.test(file);
const nativeFiles = () => filesIn('tests/native').filter((file) => file.endsWith('_test.cpp'));
const nativeTests = ['build/test/glassformer_tests'];

// --- work ------------------------------------------------------------------------------------------

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

async function trainingTests({ files, slot }) {
  const python = await trainingPython();
  if (!python) return skip('no Python has the packages of weights/train');
  const argsFor = (file) => ['discover', '-s', 'weights/train', '-p', file.split('/').at(-1)];
  return pythonTests(python, files, slot, { argsFor });
}

async function packageForPython({ files, slot }) {
  const installed = await slot(installPythonPackage);
  if (!installed) return skip('Python, its headers, pip, NumPy or nanobind is missing');
  return pythonTests(installed.python, files, slot, { env: installed.env });
}

const isInstalled = (program) => spawnSync('which', [program]).status === 0;

// tests/full/arm64.cmake says what to install. It names the same emulator.
async function arm64({ slot, all }) {
  if (process.arch !== 'x64') return skip('it is the build of this machine');
  if (!['aarch64-linux-gnu-g++', 'qemu-aarch64'].every(isInstalled))
    return skip('see tests/full/arm64.cmake for what to install');
  await all(() => cmake('arm64', 'glassformer_tests'));
  const emulator = ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu'];
  return catch2Tests([...emulator, 'build/arm64/glassformer_tests'], undefined, slot);
}

const node = ({ files, slot }) => nodeTests(files, slot);
const browser = ({ files, slot }) => browserTests(files, slot);

// --- inputs ---------------------------------------------------------------------------------------

/** What tests read in addition to the code. */
const fixtures = ['tests/fixtures', 'weights'];
const native = ['build/test/glassformer', 'tests/native_build.mjs', ...fixtures];
const settings = ['package.json', 'package-lock.json', '.prettierignore', '.clang-format'];

// --- the table -------------------------------------------------------------------------------------

/**
 * The steps by name, in the order in which they get cores:
 *
 * - `tier`: `test` for `npm test`, `full` for `npm run test:full`. A step with the tier `build` runs
 *   if another one needs it.
 * - `group`: the name that selects it on the command line.
 * - `needs`: the steps that must succeed before.
 * - `files()`: its test files, if it has any.
 * - `inputs`: files and folders; if they have the contents with which the step passed, it is not
 *   repeated.
 * - `again()`: files of other steps that it runs, too.
 * - `share`: the part of a core that a program takes, if it often waits; usually 1.
 * - `work({ files, only, slot, all, cores, release })`: resolves to an outcome (see programs.mjs), or
 *   to nothing if the step is one test. `only` are the files that were chosen on the command line,
 *   if any. `slot` runs a function when a core is free, `all` when all are; `cores` is their number.
 *   `release`: the package is built for a release.
 */
export const steps = {
  // --- what others need ---
  'build package': {
    tier: 'build',
    group: 'build',
    work: ({ all, release }) =>
      all(async () => {
        await buildPackage({ release });
        await buildModels();
      }),
  },
  'build for tests': { tier: 'build', group: 'build', work: ({ all }) => all(buildTests) },
  'build all for tests': {
    tier: 'build',
    group: 'build',
    needs: ['build for tests'],
    work: ({ all }) => all(() => buildTests({ all: true })),
  },
  'build page': {
    tier: 'build',
    group: 'build',
    needs: ['build package'],
    work: ({ slot }) => slot(buildWeb),
  },

  // A user's build, optimized by the system's compiler.
  'build natively': {
    tier: 'build',
    group: 'build',
    work: ({ all }) => all(() => cmake('native-check', 'glassformer', 'glassformer_tests')),
  },

  // --- `npm test` ---
  'main ways': {
    tier: 'test',
    group: 'page',
    needs: ['build page'],
    files: () => ofPage().filter(isMainWay),
    inputs: ['web/dist', 'web/src', 'dist', 'tests/page', ...fixtures, 'node_modules/.stamp'],
    work: browser,
  },
  'package tests': {
    tier: 'test',
    group: 'package',
    needs: ['build package', 'build for tests'],
    files: () => testsIn('tests/package'),
    inputs: [
      'dist',
      'build/packages',
      'tools',
      'tests/package',
      'web/docs',
      'README.md',
      'package.json',
      ...native,
    ],
    work: node,
  },
  'native tests': {
    tier: 'test',
    group: 'native',
    needs: ['build for tests'],
    files: () => nativeFiles().filter((file) => !isLong(file)),
    inputs: ['build/test/glassformer_tests', ...fixtures],
    work: ({ only, slot }) => catch2Tests(nativeTests, only, slot, nativeFiles().filter(isLong)),
  },
  'command line tests': {
    tier: 'test',
    group: 'native',
    needs: ['build for tests'],
    files: () => testsIn('tests/cli').filter((file) => !isOfTraining(file)),
    inputs: ['tests/cli', ...native],
    work: node,
  },
  'Python package': {
    tier: 'test',
    group: 'package',
    needs: ['build for tests'],
    files: () => pythonTestsIn('tests/python').filter((file) => !isOfTraining(file)),
    inputs: ['build/test/_core.so', 'python', 'tests/python', 'web/docs', ...native],
    work: packageForPython,
  },
  'models of the page': {
    tier: 'test',
    group: 'page',
    needs: ['build package'],
    files: () => ofPage().filter((file) => !isOfBrowser(file) && usesPackage(file)),
    inputs: ['dist', 'web', 'wasm/src', 'tests/page', ...fixtures],
    work: node,
  },
  'sources of the page': {
    tier: 'test',
    group: 'page',
    files: () => ofPage().filter((file) => !isOfBrowser(file) && !usesPackage(file)),
    inputs: ['web', 'wasm/src', 'tests/page', ...fixtures],
    work: node,
  },
  'format and types': {
    tier: 'test',
    group: 'repository',
    needs: ['build package'],
    inputs: ['src', 'wasm', 'python', 'tests', 'web', 'tools', 'weights/train', ...settings],
    work: ({ slot }) => checks(lintChecks, slot),
  },
  'rules of builds': {
    tier: 'test',
    group: 'repository',
    needs: ['build package', 'build for tests'],
    files: () => inRepository((file) => ofBuilds.test(file)),
    work: node,
  },
  'rules of sources': {
    tier: 'test',
    group: 'repository',
    files: () =>
      inRepository(
        (file) => ![slowDocumentation, ofBinaries, ofBuilds].some((is) => is.test(file)),
      ),
    work: node,
  },
  scores: {
    tier: 'test',
    group: 'repository',
    files: () => testsIn('tests/evaluate'),
    work: node,
  },

  // --- `npm run test:full` ---
  'long tasks of the page': {
    tier: 'full',
    group: 'page',
    needs: ['build page'],
    files: () => ofPage().filter(measuresTime),
    work: ({ files, all }) => browserTests(files, all),
  },
  'browser tests': {
    tier: 'full',
    group: 'page',
    needs: ['build page'],
    files: () =>
      ofPage().filter((file) => isOfBrowser(file) && !isMainWay(file) && !measuresTime(file)),
    share: 2 / 3,
    work: browser,
  },
  'package tests of a release': {
    tier: 'full',
    group: 'package',
    needs: ['build package', 'build for tests'],
    again: () => testsIn('tests/package').filter((file) => !sameInRelease.test(file)),
    work: node,
  },
  'rules of a release': {
    tier: 'full',
    group: 'package',
    needs: ['build package', 'build for tests'],
    files: () => inRepository((file) => ofBinaries.test(file)),
    again: () => inRepository((file) => file.endsWith('/isa_objects.test.mjs')),
    work: node,
  },
  sizes: {
    tier: 'full',
    group: 'package',
    needs: ['build page'],
    work: ({ slot }) =>
      checks(
        [
          ['sizes of the package', () => runTool('size-limit', [])],
          ['sizes of the page', () => runTool('size-limit', ['--config', 'tests/page/sizes.mjs'])],
        ],
        slot,
      ),
  },
  'package layout': {
    tier: 'full',
    group: 'package',
    needs: ['build package'],
    work: ({ slot }) =>
      checks(
        [
          ['publint', () => runTool('publint', ['--strict'])],
          ...Object.keys(companions).map((name) => [
            `publint @glassformer/${name}`,
            () => runTool('publint', ['--strict', packageFolder(name)]),
          ]),
          ['attw', () => runTool('attw', ['--pack', '.', '--profile', 'esm-only'])],
        ],
        slot,
      ),
  },
  environments: {
    tier: 'full',
    group: 'package',
    needs: ['build package', 'build for tests'],
    files: () => testsIn('tests/environments'),
    work: node,
  },
  'slow documentation': {
    tier: 'full',
    group: 'repository',
    needs: ['build package', 'build for tests'],
    files: () => inRepository((file) => slowDocumentation.test(file)),
    work: node,
  },
  'add-on for Node': {
    tier: 'full',
    group: 'package',
    needs: ['build package', 'build all for tests'],
    files: () => testsIn('tests/native_addon'),
    again: () => sharedTests,
    work({ files, slot }) {
      let installed;
      return nodeTests(files, slot, () => (installed ??= installAddon()));
    },
  },
  'long native tests': {
    tier: 'full',
    group: 'native',
    needs: ['build for tests'],
    files: () => nativeFiles().filter(isLong),
    work: ({ files, slot }) => catch2Tests(nativeTests, files, slot),
  },
  'Python trainer': {
    tier: 'full',
    group: 'package',
    needs: ['build for tests'],
    files: () => pythonTestsIn('tests/python').filter(isOfTraining),
    work: packageForPython,
  },
  fuzzers: {
    tier: 'full',
    group: 'native',
    needs: ['build all for tests'],
    work: ({ all, cores }) => all(() => ctest('test', '^fuzz_', cores)),
  },
  'installed library': {
    tier: 'full',
    group: 'native',
    needs: ['build all for tests'],
    files: () => testsIn('tests/install'),
    work: node,
  },
  'training tests': {
    tier: 'full',
    group: 'repository',
    files: () => pythonTestsIn('weights/train'),
    work: trainingTests,
  },
  'optimized native build': {
    tier: 'full',
    group: 'native',
    needs: ['build natively'],
    work: ({ slot }) => catch2Tests(['build/native-check/glassformer_tests'], undefined, slot),
  },
  'training on the command line': {
    tier: 'full',
    group: 'native',
    needs: ['build natively'],
    files: () => testsIn('tests/cli').filter(isOfTraining),
    work: ({ files, slot }) =>
      nodeTests(files, slot, () => ({ GLASSFORMER: join(root, 'build/native-check/glassformer') })),
  },
  'models of common sizes': {
    tier: 'full',
    group: 'package',
    needs: ['build package'],
    files: () => testsIn('tests/full').filter((file) => !comparesBuilds(file)),
    work: node,
  },
  'quick and release builds': {
    tier: 'full',
    group: 'package',
    needs: ['build package'],
    files: () => testsIn('tests/full').filter(comparesBuilds),
    work: async ({ files, slot, all }) => {
      await all(() => cmake('quick'));
      return nodeTests(files, slot);
    },
  },
  '64-bit ARM': { tier: 'full', group: 'native', work: arm64 },
};
