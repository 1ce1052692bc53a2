// `npm run coverage`: counts the lines of src/ that the native and the command line tests run, with
// GCC. Fails if they are fewer than 96 in a hundred. -- --missing lists the other lines.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { cmake, filesIn, root, run, setUp } from '../tools/build.mjs';

const least = 96;

await setUp('native', 'test');
console.log('building and running with counters (about ten minutes the first time)');
await cmake('coverage');
// Includes the objects of the tests: the linker may have kept their copies of a header's functions.
const objects = (
  await run('find', ['build/coverage', '-name', '*.gcno', '-not', '-path', '*catch*'])
)
  .trim()
  .split('\n');
for (const file of objects) rmSync(join(root, file.replace(/gcno$/, 'gcda')), { force: true });
await run('build/coverage/glassformer_tests', []);
await run(
  process.execPath,
  ['--test', ...filesIn('tests/cli').filter((file) => file.endsWith('.test.mjs'))],
  { env: { GLASSFORMER: join(root, 'build/coverage/glassformer') } },
);

// Counts how often each line ran, over all objects that contain it: templates and kernels are in
// several.
const counts = new Map();
for (let i = 0; i < objects.length; i += 8) {
  const chunk = objects.slice(i, i + 8);
  // Its warnings about sources without code would appear in the middle of its output.
  const output = execFileSync('gcov', ['--json-format', '--stdout', ...chunk], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for (const text of output.split('\n').filter((line) => line.startsWith('{'))) {
    for (const { file, lines } of JSON.parse(text).files) {
      const name = file.startsWith(root) ? file.slice(join(root, '/').length) : file;
      if (!name.startsWith('src/')) continue;
      if (!counts.has(name)) counts.set(name, new Map());
      const own = counts.get(name);
      for (const { line_number: at, count } of lines) own.set(at, (own.get(at) ?? 0) + count);
    }
  }
}

const files = [...counts].map(([name, lines]) => {
  const missed = [...lines].filter(([, count]) => count === 0).map(([at]) => at);
  return { name, all: lines.size, missed: missed.sort((a, b) => a - b) };
});
files.sort((a, b) => b.missed.length - a.missed.length);
for (const { name, all, missed } of files.filter((file) => file.missed.length > 0)) {
  const places = process.argv.includes('--missing') ? `  lines ${missed.join(', ')}` : '';
  console.log(`${name.padEnd(38)} ${all - missed.length} of ${all}${places}`);
}
const all = files.reduce((sum, file) => sum + file.all, 0);
const missed = files.reduce((sum, file) => sum + file.missed.length, 0);
const share = (100 * (all - missed)) / all;
console.log(`src/: ${all - missed} of ${all} lines, ${share.toFixed(1)} % (at least ${least} %)`);
process.exitCode = share < least ? 1 : 0;
