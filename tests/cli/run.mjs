// Runs the `glassformer` command like a shell.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { command } from '../native_build.mjs';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export { command };

export function glassformer(args, input = '') {
  const { status, stdout, stderr } = spawnSync(command, args, {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return { status, lines: stdout.split('\n').slice(0, -1), stdout, stderr };
}
