// `npm test` and `npm run test:full`: install what is missing, build, and run the tests of one tier.
// tests/runner/steps.mjs says what belongs to which. The last line is `N passed, N failed`.
//
//   npm test                          the quick tier
//   npm run test:full                 everything that `npm test` leaves out
//   npm test -- GROUP                 one group of the tier: package, native, page, repository, build
//   npm test -- FILE                  one test file of either tier, and the steps that it needs
//   npm test -- --repeat 20 FILE      finds tests that fail only sometimes
//   npm test -- --again               also what passed before with the same files
//
// `--only` may stand before GROUP or FILE.
import { availableParallelism } from 'node:os';
import { setUp } from '../tools/build.mjs';
import { announced } from '../tools/durations.mjs';
import { chosenSteps, groups, optionsIn } from './runner/choice.mjs';
import { printCosts, writeCosts } from './runner/costs.mjs';
import { Repeats } from './runner/flaky.mjs';
import { unlessPassed } from './runner/remembered.mjs';
import { sum } from './runner/programs.mjs';
import { Slots } from './runner/slots.mjs';

const options = optionsIn(process.argv.slice(2));
if (!options) {
  console.error(`usage: npm test [-- [--again] [--repeat N] ${groups.join('|')}|FILE...]`);
  process.exit(2);
}

let chosen;
try {
  chosen = chosenSteps(options);
} catch (error) {
  console.error(error.message);
  process.exit(2);
}

const start = performance.now();
const secondsSince = (moment) => (performance.now() - moment) / 1000;
const cores = availableParallelism();
const slots = new Slots(cores);
const release = options.tier === 'full';
const repeats = new Repeats();
const total = { passed: 0, failed: 0 };
const costs = { steps: [], files: [] };
/** A line for each failure. They are printed last, where a person, or a shortened log, sees them. */
const failedTests = [];
const firstLineOf = (text) => text.split('\n').find((line) => line.trim()) ?? '';

/** Runs the work of a step, as often as `--repeat` says. Resolves to its outcome. */
async function outcomeOf(step, context) {
  const owned = step.only ?? [...(step.files?.() ?? []), ...(step.again?.() ?? [])];
  const work = () => step.work({ ...context, files: owned, only: step.only, cores, release });
  if (step.inputs && !step.only && !options.again && options.repeat === 1)
    return unlessPassed(step.name, step.inputs, work);
  if (step.tier === 'build' || options.repeat === 1) return work();
  const outcomes = [];
  for (let i = 0; i < options.repeat; i++) {
    const outcome = await work();
    if (outcome) outcomes.push(outcome);
    if (outcome) repeats.add(outcome);
  }
  return sum(outcomes);
}

/** Runs a step after those that it needs. Resolves to whether it succeeded. */
async function runStep(step, order, ended) {
  const { name, needs = [] } = step;
  // The clock starts when the step gets its first core.
  let began;
  const using = (count) => (work) =>
    slots.use(count, order, () => {
      began ??= performance.now();
      return work();
    });
  const report = (text) => {
    const seconds = began === undefined ? 0 : secondsSince(began);
    console.log(`${name.padEnd(30)} ${text}  ${seconds.toFixed(1)} s`);
    costs.steps.push([name, seconds]);
  };
  try {
    for (const other of needs) {
      const isReady = await ended[other];
      if (!isReady) throw Object.assign(new Error(`not run: "${other}" failed`), { output: '' });
    }
    const outcome = await outcomeOf(step, {
      slot: using(step.share ?? 1),
      all: using(cores),
    });
    const { passed, failed, skipped, failures, files, notes, isSkipped, isKnown } =
      outcome ?? sum([]);
    total.passed += outcome ? passed : 1;
    total.failed += failed;
    const belongs = new Set(step.files?.());
    const label = (file) => (step.again && !belongs.has(file) ? `${file} (${name})` : file);
    costs.files.push(...files.map(([file, seconds]) => [label(file), seconds]));
    const counts = [`${String(outcome ? passed : 1).padStart(4)} passed`];
    if (failed > 0) counts.push(`${failed} FAILED`);
    if (skipped > 0) counts.push(`${skipped} skipped`);
    if (isKnown) counts.push('before, with the same files');
    report(isSkipped ? 'not run' : counts.join(', '));
    for (const note of notes) console.log(`  ${note}`);
    for (const { file, name: test, message } of options.repeat === 1 ? failures : []) {
      console.log(`\n--- ${file}: ${test}\n${message}\n`);
      failedTests.push(`${file}: ${test}: ${firstLineOf(message)}`);
    }
    return failed === 0;
  } catch (error) {
    total.failed += 1;
    failedTests.push(`${name}: ${firstLineOf(error.message)}`);
    report('FAILED');
    console.log(
      error.output === undefined ? `${error.stack}\n` : `${error.output}\n${error.message}\n`,
    );
    return false;
  }
}

const isWhole = options.names.length === 0;
if (isWhole)
  console.log(`Installs, builds and tests: ${announced(release ? 'test:full' : 'test')}.`);
try {
  const mpi = chosen.some(({ tier }) => tier === 'full') ? ['mpi'] : [];
  await setUp('build', 'native', 'test', ...mpi);
} catch {
  console.log('\n0 passed, 1 failed');
  process.exit(1);
}
costs.steps.push(['set-up', secondsSince(start)]);

const ended = {};
for (const [order, step] of chosen.entries()) ended[step.name] = runStep(step, order, ended);
await Promise.all(Object.values(ended));

costs.all = secondsSince(start);
printCosts(costs);
if (isWhole) writeCosts(options.tier, costs, cores);
if (options.repeat > 1) repeats.print(options.repeat);
if (failedTests.length > 0) console.log(`\nFailed:\n  ${failedTests.join('\n  ')}`);
console.log(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
