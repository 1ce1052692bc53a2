// `npm run bench -- --peers [--only NAME,…] [--ctranslate2 DIR] [--threads N] [--rounds N] [--write]
// [--no-build] [--json]`: compares with what people use instead, natively and with threads, on the
// same weights of common sizes: onnxruntime-node, onnxruntime-web, llama.cpp (as node-llama-cpp
// brings it) and CTranslate2, if --ctranslate2 names a clone of its repository. Each engine is a
// process. All engines of a model and a precision are warmed up, then measured in turn, round after
// round; times are medians. Peaks of memory are those of the processes (VmHWM).
//
// --only names models (models.mjs), or `lines`, `starts`. --write puts the tables into
// web/docs/performance.md. --no-build takes what is built. build/bench/peers/results.json holds
// everything; a later run with --only replaces its own part.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildNative, buildPackage, run, setUp } from '../../../tools/build.mjs';
import { findNode } from '../prepare.mjs';
import { compare } from './compare.mjs';
import { buildCTranslate2, folder, installPackages } from './install.mjs';
import { measureLines } from './lines.mjs';
import { models } from './models.mjs';
import { report, writeDocument } from './report.mjs';
import { measureStarts } from './starts.mjs';

const file = join(folder, 'results.json');

const howToGetCTranslate2 = `CTranslate2 is left out. To compare with it:
  git clone https://github.com/OpenNMT/CTranslate2 && npm run bench -- --peers --ctranslate2 CTranslate2`;

export async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      peers: { type: 'boolean' },
      only: { type: 'string' },
      ctranslate2: { type: 'string' },
      threads: { type: 'string', default: String(availableParallelism()) },
      rounds: { type: 'string', default: '5' },
      write: { type: 'boolean', default: false },
      'no-build': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const ready = values['no-build'];
  if (!ready) {
    await setUp('build', 'native', 'bench');
    await buildNative();
    await buildPackage({ release: true });
  }
  const parts = values.only?.split(',') ?? [...Object.keys(models), 'lines', 'starts'];
  const { entries, versions } = await installPackages();
  const tools = { node: await findNode(), entries };
  versions.Node = (await run(tools.node, ['--version'])).trim().slice(1);
  if (values.ctranslate2) {
    tools.ctranslate2 = await buildCTranslate2(resolve(values.ctranslate2), { ready });
    versions.CTranslate2 = tools.ctranslate2.version;
  } else if (parts.includes('OPUS-MT-base')) {
    console.error(howToGetCTranslate2);
  }
  const plan = { threads: Number(values.threads), rounds: Number(values.rounds), slice: 700 };

  const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  for (const part of parts) {
    console.error(`measuring ${part} (do not use the machine meanwhile)`);
    if (part === 'lines') results.lines = await measureLines(tools, plan);
    else if (part === 'starts') results.starts = await measureStarts(tools);
    else results[part] = await compare(part, tools, plan);
    results.machine = {
      cpu: cpus()[0].model.trim(),
      cores: availableParallelism(),
      date: new Date().toISOString().slice(0, 10),
      versions: { ...results.machine?.versions, ...versions },
    };
    writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  }
  console.log(values.json ? JSON.stringify(results, null, 2) : report(results));
  if (values.write) writeDocument(results);
}
