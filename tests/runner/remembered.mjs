// Remembers which steps passed, so that `npm test` repeats only those whose inputs have changed.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../tools/run.mjs';
import { hashOf } from '../../tools/stamps.mjs';

/**
 * Resolves to the outcome of `work`, or to the earlier one, with `isKnown`, if the step passed with the
 * same contents of `inputs` (files and folders).
 */
export async function unlessPassed(name, inputs, work) {
  const record = join(root, 'build/stamps', `passed-${name.replaceAll(' ', '-')}.json`);
  const hash = hashOf(['tests/run.mjs', 'tests/runner', ...inputs]);
  const before = existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : {};
  if (before.hash === hash) return { ...before.outcome, isKnown: true };
  rmSync(record, { force: true });
  const outcome = await work();
  if (outcome.failed === 0) {
    mkdirSync(dirname(record), { recursive: true });
    writeFileSync(record, JSON.stringify({ hash, outcome: { ...outcome, files: [], notes: [] } }));
  }
  return outcome;
}
