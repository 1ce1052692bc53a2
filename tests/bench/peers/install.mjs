// Gets the other engines, into build/bench/peers, which git ignores. None is a dependency.
import { existsSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, setUp } from '../../../tools/build.mjs';
import { output } from '../prepare.mjs';

export const folder = join(output, 'peers');
const modules = join(folder, 'npm/node_modules');

const versions = { 'onnxruntime-node': '1.30.0', 'node-llama-cpp': '3.22.1' };
// node-llama-cpp's own choice of binaries includes those for graphics cards, of almost a gigabyte.
const binaries = `@node-llama-cpp/${process.platform === 'darwin' ? 'mac' : process.platform}-${process.arch}`;

const versionOf = (path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).version;

/** Installs the packages of npm. Returns their entries and versions. */
export async function installPackages() {
  const missing = Object.entries({ ...versions, [binaries]: versions['node-llama-cpp'] }).filter(
    ([name, version]) =>
      !existsSync(join(modules, name)) || versionOf(join(modules, name)) !== version,
  );
  if (missing.length > 0) {
    console.error('installing the other engines from npm (once, about a minute)');
    mkdirSync(join(folder, 'npm'), { recursive: true });
    writeFileSync(join(folder, 'npm/package.json'), '{ "private": true }\n');
    const options = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
    const names = missing.map(([name, version]) => `${name}@${version}`);
    await run('npm', ['install', ...options, '--prefix', join(folder, 'npm'), ...names]);
  }
  return {
    entries: {
      'onnxruntime-node': join(modules, 'onnxruntime-node/dist/index.js'),
      'onnxruntime-web': join(root, 'node_modules/onnxruntime-web/dist/ort.node.min.mjs'),
      'node-llama-cpp': join(modules, 'node-llama-cpp/dist/index.js'),
    },
    versions: {
      ...versions,
      'onnxruntime-web': versionOf(join(root, 'node_modules/onnxruntime-web')),
    },
  };
}

/** LLVM's OpenMP, if it is installed: CTranslate2 is faster with it than with GCC's. */
const openmp = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/llvm-14/lib', '/usr/lib/llvm-19/lib']
  .map((each) => join(each, 'libomp.so.5'))
  .find((file) => existsSync(file));

/**
 * Builds CTranslate2 from a clone of its repository, which stays as it is. Returns the program that
 * times it, the copy of its source, its environment and its version.
 */
export async function buildCTranslate2(clone, { ready }) {
  if (!ready) await setUp('peers');
  const source = join(folder, 'ctranslate2/source');
  const build = join(folder, 'ctranslate2/build');
  const version = versionIn(clone);
  if (!existsSync(source) || versionIn(source) !== version) {
    rmSync(source, { recursive: true, force: true });
    for (const part of ['CMakeLists.txt', 'cmake', 'include', 'src', 'third_party', 'python'])
      cpSync(join(clone, part), join(source, part), { recursive: true });
  }
  console.error('building CTranslate2 (a quarter of an hour the first time)');
  const configure = ['-S', join(root, 'tests/bench/peers/ctranslate2'), '-B', build, '-G', 'Ninja'];
  const settings = ['-D', 'CMAKE_BUILD_TYPE=Release', '-D', `SOURCE=${source}`];
  await run('cmake', [...configure, ...settings]);
  await run('cmake', ['--build', build, '--target', 'ctranslate2_bench']);
  const env = openmp ? { LD_PRELOAD: openmp } : {};
  return { program: join(build, 'ctranslate2_bench'), source, env, version };
}

function versionIn(source) {
  const text = readFileSync(join(source, 'python/ctranslate2/version.py'), 'utf8');
  return /__version__ = "(.+)"/.exec(text)[1];
}
