// Runs test programs: Node's, Python's and Catch2's, and ctest. Each function resolves to an outcome:
//
//   passed, failed, skipped   numbers of tests
//   failures                  [{ file, name, message }]
//   files                     [[file, seconds]]
//   notes                     lines that tests wrote for the reader
//
// Each program takes one core of `slot`, which starts it when a core is free.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, run } from '../../tools/run.mjs';

const reporter = fileURLToPath(new URL('reporter.mjs', import.meta.url));

const nothing = () => ({
  passed: 0,
  failed: 0,
  skipped: 0,
  failures: [],
  files: [],
  notes: [],
});

/** Returns the sum of outcomes. */
export function sum(outcomes) {
  const all = nothing();
  for (const each of outcomes) {
    for (const name of ['passed', 'failed', 'skipped']) all[name] += each[name];
    for (const name of ['failures', 'files', 'notes']) all[name].push(...each[name]);
  }
  return all;
}

/** Does `work` with the path of a file that exists only meanwhile. */
async function withScratchFile(work) {
  const folder = mkdtempSync(join(tmpdir(), 'glassformer-report-'));
  try {
    return await work(join(folder, 'report'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a program. Resolves to its output, its error if it failed, and its seconds. */
async function timed(command, args, options) {
  const start = performance.now();
  const ended = await run(command, args, options).then(
    (output) => ({ output }),
    (error) => ({ output: error.output ?? '', error }),
  );
  return { ...ended, seconds: (performance.now() - start) / 1000 };
}

const textIn = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the program ended before it wrote anything
  }
};

/** Adds a failure for a program that crashed, or that ran no test. */
function withCrash(outcome, file, { error, output }) {
  if (outcome.failed > 0) return outcome;
  if (outcome.passed + outcome.skipped === 0) error ??= new Error('no tests ran');
  if (!error) return outcome;
  const failure = { file, name: 'the whole file', message: `${output}\n${error.message}` };
  return { ...outcome, failed: 1, failures: [failure] };
}

// --- Node ----------------------------------------------------------------------------------------

async function nodeTest(file, env) {
  return withScratchFile(async (report) => {
    const options = [`--test-reporter=${reporter}`, `--test-reporter-destination=${report}`];
    const ended = await timed(process.execPath, [...options, file], { env });
    const lines = textIn(report).split('\n').filter(Boolean).map(JSON.parse);
    const tests = lines.filter(({ name }) => name !== undefined);
    const failed = tests.filter((each) => each.failed !== undefined);
    const skipped = tests.filter((each) => each.skipped !== undefined);
    const outcome = {
      passed: tests.length - failed.length - skipped.length,
      failed: failed.length,
      skipped: skipped.length,
      failures: failed
        .filter(({ isParent }) => !isParent)
        .map(({ name, failed: message }) => ({
          file,
          name: name === join(root, file) ? 'the whole file' : name,
          message,
        })),
      files: [[file, ended.seconds]],
      notes: [
        ...lines.flatMap(({ note }) => (note === undefined ? [] : [note])),
        ...skipped.map(({ name, skipped: reason }) =>
          typeof reason === 'string' ? `skipped: ${name} (${reason})` : `skipped: ${name}`,
        ),
      ],
    };
    // The output may tell why a test failed.
    if (failed.length > 0 && ended.output.trim())
      outcome.failures.at(-1).message += `\n${ended.output}`;
    return withCrash(outcome, file, ended);
  });
}

const sizeOf = (file) => statSync(join(root, file)).size;

/**
 * Runs test files of Node, the largest first, so that none is left alone at the end. `prepare()`
 * resolves to their environment. It is called when a file gets a core.
 */
export async function nodeTests(files, slot, prepare = () => ({})) {
  if (files.length === 0) throw new Error('no tests were found');
  const ordered = files.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const one = async (file) => nodeTest(file, await prepare());
  return sum(await Promise.all(ordered.map((file) => slot(() => one(file)))));
}

/** Runs files that test the page. It is served once, and Chromium is started once. */
export async function browserTests(files, slot) {
  let page, server, started;
  const start = async () => {
    const { chromium } = await import('playwright-core');
    const { executablePath, flags } = await import('../page/chromium.mjs');
    const { serve } = await import('../page/open.mjs');
    page = await serve();
    server = await chromium.launchServer({ executablePath, args: flags });
    return { GLASSFORMER_PAGE: page.url, GLASSFORMER_CHROMIUM: server.wsEndpoint() };
  };
  try {
    return await nodeTests(files, slot, () => (started ??= start()));
  } finally {
    await server?.close();
    await page?.close();
  }
}

// --- Python --------------------------------------------------------------------------------------

/** Returns the outcome of one module of Python's unittest from its output. */
export function pythonOutcome(file, ended) {
  const number = (pattern) => Number(ended.output.match(pattern)?.[1] ?? 0);
  const failed = number(/^FAILED \(.*\bfailures=(\d+)/m) + number(/^FAILED \(.*\berrors=(\d+)/m);
  const skipped = number(/^(?:OK|FAILED) \(.*\bskipped=(\d+)/m);
  const failures = ended.output
    .split(/^={70}\n/m)
    .slice(1)
    .map((text) => {
      const [, name, message] =
        /^(?:FAIL|ERROR): (.*)\n-+\n([^]*?)(?:\n-{70}\nRan |$)/.exec(text) ?? [];
      return { file, name: name ?? 'a test', message: message ?? text };
    });
  const outcome = {
    passed: number(/^Ran (\d+) tests? in/m) - failed - skipped,
    failed,
    skipped,
    failures,
    files: [[file, ended.seconds]],
    notes: [],
  };
  // nanobind writes this at the end.
  if (/nanobind: leaked/.test(ended.output)) ended.error ??= new Error('objects leaked');
  return withCrash(outcome, file, ended);
}

/** Runs modules of Python's unittest, each in its own process. `argsFor(file)` follows `-m unittest`. */
export async function pythonTests(python, files, slot, { env, argsFor = (file) => [file] } = {}) {
  if (files.length === 0) throw new Error('no tests were found');
  const one = async (file) =>
    pythonOutcome(file, await timed(python, ['-B', '-m', 'unittest', ...argsFor(file)], { env }));
  return sum(await Promise.all(files.map((file) => slot(() => one(file)))));
}

// --- Catch2 and ctest -----------------------------------------------------------------------------

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const decoded = (text) => text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => entities[name]);

/** Returns the test cases in a report of Catch2's XML reporter, which may end too early. */
export function casesIn(xml) {
  const one =
    /<TestCase name="([^"]*)"[^>]*? filename="([^"]*)"[^>]*>([^]*?)<OverallResult success="(true|false)"(?: skips="(\d+)")?[^>]*?(?: durationInSeconds="([^"]*)")?\/?>/g;
  return [...xml.matchAll(one)].map(([, name, file, , success, skips = '0', seconds = '0']) => ({
    name: decoded(name),
    file: relative(root, decoded(file)),
    failed: success === 'false',
    skipped: Number(skips) > 0,
    seconds: Number(seconds),
  }));
}

async function catch2Part([command, ...before], args) {
  return withScratchFile(async (report) => {
    const reporters = ['--reporter', 'console', '--reporter', `xml::out=${report}`];
    const options = ['--durations', 'yes', ...reporters, '--colour-mode', 'none'];
    const ended = await timed(command, [...before, ...args, ...options]);
    const cases = casesIn(textIn(report));
    const failed = cases.filter((each) => each.failed);
    const files = new Map();
    for (const { file, seconds } of cases) files.set(file, (files.get(file) ?? 0) + seconds);
    // The lines of the console that are only durations.
    const output = ended.output.replace(/^[\d.]+ s: .*\n/gm, '');
    const outcome = {
      passed: cases.filter((each) => !each.failed && !each.skipped).length,
      failed: failed.length,
      skipped: cases.filter((each) => each.skipped).length,
      failures: failed.map(({ file, name }, i) => ({
        file,
        name,
        message: i === 0 ? output : 'see above',
      })),
      files: [...files],
      notes: [],
    };
    return withCrash(outcome, basename(command), { ...ended, output });
  });
}

// Catch2 tags each case with the name of its file.
const tagOf = (file) => `[#${basename(file).replace(/\.cpp$/, '')}]`;

/**
 * Runs the cases of a Catch2 program: those of some source files, or all others than those of
 * `except`, in parts that run at the same time.
 */
export async function catch2Tests(program, files, slot, except = [], parts = 4) {
  if (files) {
    const tags = files.map(tagOf).join(',');
    return slot(() => catch2Part(program, ['--filenames-as-tags', tags]));
  }
  const all = Array.from({ length: parts }, (_, i) => i);
  const others = except.map((file) => `~${tagOf(file)}`).join('');
  const part = (i) => {
    const shard = ['--shard-count', String(parts), '--shard-index', String(i)];
    return catch2Part(program, ['--filenames-as-tags', ...shard, ...(others ? [others] : [])]);
  };
  const merged = sum(await Promise.all(all.map((i) => slot(() => part(i)))));
  const seconds = new Map();
  for (const [file, time] of merged.files) seconds.set(file, (seconds.get(file) ?? 0) + time);
  return { ...merged, files: [...seconds] };
}

/** Runs the entries of ctest whose names match, as many at the same time as there are cores. */
export async function ctest(preset, matching, cores) {
  const args = ['--preset', preset, '-R', matching, '--output-on-failure', `-j${cores}`];
  const ended = await timed('ctest', args);
  const one = /^ *\d+\/\d+ Test +#\d+: (\S+) \.*(?: +|\*+)(Passed|\S.*?) +([\d.]+) sec/gm;
  const entries = [...ended.output.matchAll(one)];
  const failed = entries.filter(([, , result]) => result !== 'Passed');
  const outcome = {
    passed: entries.length - failed.length,
    failed: failed.length,
    skipped: 0,
    failures: failed.map(([, name], i) => ({
      file: name,
      name,
      message: i === 0 ? ended.output : 'see above',
    })),
    files: entries.map(([, name, , seconds]) => [name, Number(seconds)]),
    notes: [],
  };
  return withCrash(outcome, preset, ended);
}

// --- checks ---------------------------------------------------------------------------------------

/** Does checks that count as one test each: [[name, function]]. */
export async function checks(each, slot) {
  const check = async ([name, work]) => {
    const start = performance.now();
    const outcome = nothing();
    try {
      await work();
      outcome.passed = 1;
    } catch (error) {
      outcome.failed = 1;
      const message = `${error.output ?? ''}\n${error.message}`;
      outcome.failures.push({ file: name, name, message });
    }
    outcome.files.push([name, (performance.now() - start) / 1000]);
    return outcome;
  };
  return sum(await Promise.all(each.map((one) => slot(() => check(one)))));
}

/** The outcome of a step that cannot run on this machine. */
export const skip = (reason) => ({ ...nothing(), notes: [`skipped: ${reason}`], isSkipped: true });
