// Programs and files of the repository, for the build and the tests.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Runs a program in the repository. Resolves to its output, or throws an error with it. */
export function run(command, args, { env, inherit = false, patient = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', inherit ? 'inherit' : 'pipe', inherit ? 'inherit' : 'pipe'],
    });
    // It runs with low priority, so that programs with time limits, such as page tests, go first.
    if (patient && child.pid) setPriority(child.pid, 10);
    let output = '';
    child.stdout?.on('data', (data) => (output += data));
    child.stderr?.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (status) => {
      if (status === 0) resolve(output);
      else reject(Object.assign(new Error(`${command} ${args.join(' ')} failed`), { output }));
    });
  });
}

/** Runs a program of an installed npm package. */
export function runTool(name, args, options) {
  return run(join(root, 'node_modules/.bin', name), args, options);
}

/** Returns the files in a folder of the repository and its subfolders, without outputs. */
export function filesIn(folder) {
  const found = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile()) found.push(path);
    else if (entry.isDirectory() && !/^(node_modules|dist|build|__pycache__)$/.test(entry.name)) {
      found.push(...filesIn(path));
    }
  }
  return found.sort();
}
