// The costs of a run: the seconds of each step and test file.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tools/run.mjs';

const file = join(root, 'build/test_costs.json');
const shown = 10;

const byCost = (a, b) => b[1] - a[1];
const line = (name, seconds, width) =>
  console.log(`  ${name.padEnd(width)} ${seconds.toFixed(0).padStart(5)} s`);

/** Prints the seconds of each step and those of the slowest test files. */
export function printCosts({ steps, files, all }) {
  console.log('\nDuration of each step, from its first program to its last:');
  for (const [name, seconds] of steps.toSorted(byCost)) line(name, seconds, 30);
  line('all', all, 30);
  if (files.length === 0) return;
  console.log('\nThe slowest test files (all of them: build/test_costs.json):');
  const longest = new Map(files.toSorted(byCost).toReversed()); // with --repeat a file has several
  const slowest = [...longest].toSorted(byCost).slice(0, shown);
  const width = Math.max(...slowest.map(([name]) => name.length));
  for (const [name, seconds] of slowest) line(name, seconds, width);
}

/** Writes the costs of a whole tier to build/test_costs.json, and keeps those of the other one. */
export function writeCosts(tier, { steps, files, all }, cores) {
  const rounded = (entries) =>
    Object.fromEntries(entries.toSorted(byCost).map(([name, s]) => [name, Number(s.toFixed(2))]));
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const own = { cores, seconds: Math.round(all), steps: rounded(steps), files: rounded(files) };
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...before, [tier]: own }, null, 2)}\n`);
}
