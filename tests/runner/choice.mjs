// The steps and files that the command line selects.
import { existsSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { root } from '../../tools/run.mjs';
import { steps } from './steps.mjs';

export const groups = [...new Set(Object.values(steps).map(({ group }) => group))];

/** Returns the options of the command line, or nothing if they are wrong. */
export function optionsIn(args) {
  const options = { tier: 'test', repeat: 1, again: false, names: [] };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--full') options.tier = 'full';
    else if (args[i] === '--again') options.again = true;
    else if (args[i] === '--repeat') options.repeat = Number(args[++i]);
    else if (args[i] === '--only') options.names.push(args[++i] ?? '');
    else if (args[i].startsWith('-')) return undefined;
    else options.names.push(args[i]);
  }
  const isRepeatable = options.repeat === 1 || options.names.length > 0;
  return options.repeat >= 1 && Number.isInteger(options.repeat) && isRepeatable
    ? options
    : undefined;
}

const pathOf = (name) => relative(root, resolve(name));
const isFile = (name) => existsSync(join(root, pathOf(name)));

// Returns the step of a test file and the file, or nothing. A native file may be named without its
// folder.
function ownerOf(name) {
  const isNamed = isFile(name)
    ? (file) => file === pathOf(name)
    : (file) => file.endsWith('.cpp') && basename(file, '.cpp') === basename(name, '.cpp');
  for (const [step, { files }] of Object.entries(steps)) {
    const file = files?.().find(isNamed);
    if (file) return { step, file };
  }
  return undefined;
}

/**
 * Returns the steps to run, in the order of the table: all steps of the tier, or the selection of
 * `names` (groups of the tier, steps, or test files of either tier). Adds the steps that these need.
 * Throws an error if a name selects nothing.
 */
export function chosenSteps({ tier, names }) {
  const wanted = new Map();
  const add = (name, only) => {
    for (const other of steps[name].needs ?? []) add(other);
    const before = wanted.get(name);
    const isWhole = !only || (before && !before.only);
    wanted.set(name, isWhole ? {} : { only: [...(before?.only ?? []), ...only] });
  };
  const ofTier = Object.keys(steps).filter((name) => steps[name].tier === tier);
  const builds = Object.keys(steps).filter((name) => steps[name].tier === 'build');
  if (names.length === 0) ofTier.forEach((name) => add(name));
  for (const name of names) {
    const ofGroup = ofTier.filter((each) => steps[each].group === name);
    const owner = ownerOf(name);
    if (ofGroup.length > 0) ofGroup.forEach((each) => add(each));
    else if (name === 'build') builds.forEach((each) => add(each));
    else if (steps[name]) add(name);
    else if (owner) add(owner.step, [owner.file]);
    else throw new Error(`expected ${groups.join(', ')}, a step or a test file, got ${name}`);
  }
  const inOrder = Object.keys(steps).filter((name) => wanted.has(name));
  return inOrder.map((name) => ({ name, ...steps[name], ...wanted.get(name) }));
}
