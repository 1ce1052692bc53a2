// Builds the add-on for Node and writes its package, @glassformer/native, to build/native-addon:
//
//   node tools/native_addon.mjs
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cmake, root, setUp } from './build.mjs';
import { announced } from './durations.mjs';

/** The name of the package. */
export const addonName = '@glassformer/native';

const source = join(root, 'wasm/native');

// Returns the systems on which a build of this machine runs.
function platform() {
  const { header } = process.report.getReport();
  const libc = header.glibcVersionRuntime ? 'glibc' : 'musl';
  return {
    os: [process.platform],
    cpu: [process.arch],
    ...(process.platform === 'linux' && { libc: [libc] }),
  };
}

/** Writes the package of the add-on that a CMake preset has built to a folder. */
export function writeAddonPackage(preset, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of ['index.cjs', 'README.md'])
    copyFileSync(join(source, file), join(folder, file));
  for (const file of ['LICENSE', 'THIRD_PARTY_NOTICES']) {
    copyFileSync(join(root, file), join(folder, file));
  }
  const addon = 'glassformer.node';
  copyFileSync(join(root, 'build', preset, addon), join(folder, addon));
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const written = { ...manifest, ...platform() };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await setUp('build', 'native');
    console.log(`building the add-on for Node: ${announced('build:native-addon')}`);
    await cmake('native', 'glassformer_addon');
    writeAddonPackage('native', join(root, 'build/native-addon'));
  } catch (error) {
    console.error(`${error.output ?? ''}\n${error.message}`);
    process.exitCode = 1;
  }
}
