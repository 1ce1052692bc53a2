// Compares two builds: every task, method and traced tensor of every model folder, natively and in
// WebAssembly. It shows whether a change of the code changes an answer.
//
//     node tests/compare/run.mjs record OUT [--native FILE] [--package DIST] [--only NAME,…]
//     node tests/compare/run.mjs diff OUT OTHER [--tolerance 1e-6]
//
// `record` writes one file per question to the folder OUT. `diff` lists the files that differ, with
// the largest difference between numbers, and fails if one is above the tolerance (0 if not given).

import { parseArgs } from 'node:util';
import { diff } from './diff.mjs';
import { models } from './models.mjs';
import { recordNative } from './native.mjs';
import { recordPackage } from './package.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    native: { type: 'string' },
    package: { type: 'string' },
    only: { type: 'string' },
    tolerance: { type: 'string', default: '0' },
  },
});
const [verb, ...folders] = positionals;

if (verb === 'record' && folders.length === 1) {
  const only = values.only?.split(',');
  const chosen = models().filter(({ name }) => !only || only.includes(name));
  for (const model of chosen) {
    if (values.native) recordNative(model, values.native, folders[0]);
    if (values.package) await recordPackage(model, values.package, folders[0]);
    console.log(model.name);
  }
} else if (verb === 'diff' && folders.length === 2) {
  process.exitCode = diff(folders[0], folders[1], Number(values.tolerance)) ? 0 : 1;
} else {
  console.error('usage: run.mjs record OUT [--native FILE] [--package DIST] | diff OUT OTHER');
  process.exitCode = 2;
}
