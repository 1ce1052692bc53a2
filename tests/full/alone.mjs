// Checks that each source file includes what it uses, and that the system's compiler has no warning for
// it. Builds that compile the files of a folder as one would not notice.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cmake, root, run } from '../../tools/build.mjs';
import { checks } from '../runner/programs.mjs';

const folder = 'build/alone';

/** Compiles each file of src without writing an object. Resolves to an outcome, a test per file. */
export async function filesAlone({ slot }) {
  await slot(() => cmake('alone', 'help')); // configures, and builds nothing
  const commands = JSON.parse(readFileSync(join(root, folder, 'compile_commands.json'), 'utf8'));
  const alone = new Map();
  for (const { file, command } of commands) {
    const name = relative(root, file);
    // Files that are compiled for several instruction sets are checked for the first.
    if (!name.startsWith('src/') || alone.has(name)) continue;
    const kept = command.slice(0, command.indexOf(' -o '));
    alone.set(name, `${kept} -O0 -fsyntax-only ${file}`);
  }
  const check = (command) => run('sh', ['-c', `cd ${folder} && ${command}`]);
  return checks(
    [...alone].map(([name, command]) => [name, () => check(command)]),
    slot,
  );
}
