// Runs the `glassformer` command as a shell does.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

// `npm run coverage` names a build that counts the lines that run.
export const command = process.env.GLASSFORMER ?? join(root, 'build/native/glassformer');

export function glassformer(args, input = '') {
  const { status, stdout, stderr } = spawnSync(command, args, {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return { status, lines: stdout.split('\n').slice(0, -1), stdout, stderr };
}
