// Those environments that need nothing but the package and Chromium; run.mjs tries the others, too.
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
