// The environments that need only the package and Chromium. run.mjs also tests the others.
import { after, test } from 'node:test';
import { closeBrowsers } from './browsers.mjs';
import { environments, tryOut } from './environment.mjs';
import { pack } from './project.mjs';

const tarballs = pack();
after(closeBrowsers);

for (const environment of environments) {
  const { name, project, browser } = environment;
  if (project === 'plain' && browser === 'chromium')
    test(name, () => tryOut(environment, tarballs));
}
