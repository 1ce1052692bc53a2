// The Python package, as pip installs it. `npm test` builds its module with AddressSanitizer and
// UndefinedBehaviorSanitizer.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { findPython, root, run, unlessDone } from '../../tools/build.mjs';
import { command, withSanitizers } from '../native_build.mjs';

const app = 'build/python-app';

/**
 * Installs the package in a folder. Returns the Python that has it and the environment of the tests,
 * or undefined if something is missing.
 */
export async function installPythonPackage() {
  const { python } = (await findPython()) ?? {};
  if (!python) return undefined;
  const sources = ['python', 'package.json', 'LICENSE', 'THIRD_PARTY_NOTICES'];
  const inputs = [...sources, 'build/test/_core.so'];
  await unlessDone('python', inputs, [`${app}/glassformer/__init__.py`], async () => {
    rmSync(join(root, app), { recursive: true, force: true });
    const offline = ['--no-build-isolation', '--no-deps', '--no-index'];
    const options = ['--quiet', '--disable-pip-version-check', ...offline, '--target', app];
    const env = { GLASSFORMER_BUILD: 'build/test' };
    await run(python, ['-m', 'pip', 'install', ...options, './python'], { env });
  });
  const sanitizers = await withSanitizers('libstdc++.so.6');
  // Freed memory is soon given back, so that a test can see what stays.
  sanitizers.ASAN_OPTIONS += ',quarantine_size_mb=8';
  const env = { ...sanitizers, PYTHONPATH: join(root, app), GLASSFORMER: command };
  return { python, env };
}
