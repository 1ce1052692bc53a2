// All environments, and how to test one.
import { browse } from './browsers.mjs';
import bundlers from './bundlers.mjs';
import frameworks from './frameworks.mjs';
import { assertOutcome } from './judge.mjs';
import pages from './pages.mjs';
import recipes from './recipes.mjs';
import { Project } from './project.mjs';
import runtimes from './runtimes.mjs';

/**
 * Each environment has its `name`; the `project` of versions.json that it needs; the version of
 * `node` and the `browser` that it runs in; `how`, the change that it needs, if any; `workers`, the
 * least number of workers that must start; and `run(app)`, which resolves to the outcome.
 */
export const environments = [...bundlers, ...frameworks, ...recipes, ...pages, ...runtimes];

/** Installs the project of an environment, with the packed packages. */
async function prepare({ project, node, browser }, tarballs) {
  const app = new Project(project);
  await app.install(tarballs);
  if (node) app.use(await installed(`node${node}`));
  const driver = browser === 'firefox' ? await installed('firefox') : undefined;
  app.browse = (url) => browse(url, browser, driver);
  return app;
}

async function installed(name) {
  const project = new Project(name);
  await project.install();
  return project;
}

/** Runs an environment from end to end. Throws if its outcome differs from the native command's. */
export async function tryOut(environment, tarballs, options = {}) {
  const app = await prepare(environment, tarballs);
  try {
    assertOutcome(await environment.run(app), environment.workers ?? 1);
  } finally {
    app.close(options);
  }
}
