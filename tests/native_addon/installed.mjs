// The package and the add-on in one folder, as npm installs them. `npm run test:full` builds the add-on with
// AddressSanitizer and UndefinedBehaviorSanitizer.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn, root } from '../../tools/build.mjs';
import { addonName, writeAddonPackage } from '../../tools/native_addon.mjs';
import { withSanitizers } from '../native_build.mjs';

/** The folder in which both packages are installed. */
export const app = join(root, 'build/addon-app');
const modules = join(app, 'node_modules');

/** Installs both packages. Returns the environment of the tests. */
export async function installAddon() {
  rmSync(app, { recursive: true, force: true });
  const home = join(modules, 'glassformer');
  mkdirSync(home, { recursive: true });
  for (const name of ['dist', 'package.json']) {
    cpSync(join(root, name), join(home, name), { recursive: true });
  }
  const pipelines = '@glassformer/pipelines';
  cpSync(join(root, 'build/packages/pipelines'), join(modules, pipelines), { recursive: true });
  writeAddonPackage('test', join(modules, addonName));
  return { GLASSFORMER_DIST: join(home, 'dist'), ...(await withSanitizers()) };
}

/**
 * The tests of the package that also test the add-on: those of what the engine computes. Native tests
 * compare the same gradients, translations and tokens.
 */
export const sharedTests = filesIn('tests/package').filter((file) =>
  new RegExp(
    '/(api|bad_input|checkpoints|clip|explain|firefox|generator|golden|inspect|int4|parity|patch|' +
      'picture_trainer|pictures|tasks|tokenizer|trace|translator(_input)?|worker)\\.test\\.mjs$',
  ).test(file),
);
